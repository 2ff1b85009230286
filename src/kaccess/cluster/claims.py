"""Clusters of k centroids, without one of them, and what each pose would take over.

If a centroid goes, only its own members change their cluster. So most of the work is
done once for all k removals.
"""

from typing import NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray
from kaccess.cluster.alternate import assign
from kaccess.cluster.prepared import Ranked

__all__ = [
    "MOST_LOST",
    "Claims",
    "Clusters",
    "Remaining",
    "claim_all",
    "describe",
    "remove",
]

MOST_LOST = 16
"""Largest number of lost members for which `Clusters.least` is known."""


class Clusters(NamedTuple):
    """Clusters of k centroids."""

    centroids: IntArray  # (k,) ascending
    labels: IntArray  # (n,) cluster of each pose
    best: Array  # (n,) access from its centroid; inf for the centroids
    order: IntArray  # (n,) poses by cluster, within it by access from the centroid
    starts: IntArray  # (k,) start of each cluster in `order`
    sizes: IntArray  # (k,) number of members
    worst: Array  # (k,) worst access from each centroid to its members
    reach: Array  # (n, k) access from each pose to each centroid
    sums: Array  # (k, k) summed access from members of a cluster to each centroid
    toward: Array  # (n, k) summed access to each pose from members of a cluster
    least: Array  # (k, 1 + MOST_LOST, k) least `sums` if so many members are lost


class Claims(NamedTuple):
    """What each pose would take over if it were a centroid too, and what is left then.

    A pose takes itself over. Centroids take nothing.
    """

    starts: IntArray  # (n + 1,) start of the list of each pose
    poses: IntArray  # the lists: poses taken over
    own: Array  # (n,) worst access from each pose to what it takes over
    losses: IntArray  # (n, k) number of members that each cluster loses to it
    column: Array  # (n, k) summed access to it from the members that stay
    worst: Array  # (n, k) worst access from each centroid to the members that stay


class Remaining(NamedTuple):
    """Clusters when one centroid is gone; its place in the arrays stays empty."""

    gone: int  # place of that centroid among the k
    moved: IntArray  # (g,) members of its cluster, now in others
    labels: IntArray  # (g,) their clusters
    best: Array  # (g,) access from their centroids
    sizes: IntArray  # (k,) number of members
    sums: Array  # (k, k) summed access from members of a cluster to each centroid


@compiled
def describe(matrix: Ranked, centroids: IntArray) -> Clusters:
    """Return the clusters of `centroids`, (k,) ascending."""
    labels, found = assign(matrix.access, centroids)
    best = found.astype(np.float64)
    best[centroids] = np.inf
    order = np.argsort(best, kind="mergesort")
    order = order[np.argsort(labels[order], kind="mergesort")]
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    worst = np.minimum(best[order[starts]], 1.0)
    reach, sums, toward = _sum_by_cluster(matrix, centroids, labels)
    least = _find_least_sums(centroids, labels, reach, sums)
    return Clusters(
        centroids, labels, best, order, starts, sizes, worst, reach, sums, toward, least
    )


@compiled
def _sum_by_cluster(
    matrix: Ranked, centroids: IntArray, labels: IntArray
) -> tuple[Array, Array, Array]:
    """Return `reach`, `sums` and `toward` of `Clusters`."""
    n, k = len(labels), len(centroids)
    columns, sums, toward = np.empty((k, n)), np.zeros((k, k)), np.zeros((k, n))
    for j in range(k):
        columns[j] = matrix.into[centroids[j]]
    reach = np.ascontiguousarray(columns.T)
    for pose in range(n):
        label = labels[pose]
        sums[label] += reach[pose]
        row, total = matrix.access[pose], toward[label]
        for other in range(n):
            total[other] += row[other]
    return reach, sums, np.ascontiguousarray(toward.T)


@compiled
def _find_least_sums(
    centroids: IntArray, labels: IntArray, reach: Array, sums: Array
) -> Array:
    """Return `least` of `Clusters`: in each column, the largest entries are lost.

    The centroid itself is never lost.
    """
    k = len(centroids)
    largest = np.zeros((k, 1 + MOST_LOST, k))  # the last place is for rejects
    for pose in range(len(labels)):
        label = labels[pose]
        if pose != centroids[label]:
            for j in range(k):
                _insert(largest[label, :, j], reach[pose, j])
    least = np.empty((k, 1 + MOST_LOST, k))
    for cluster in range(k):
        least[cluster, 0] = sums[cluster]
        for lost in range(MOST_LOST):
            least[cluster, lost + 1] = least[cluster, lost] - largest[cluster, lost]
    return least


@compiled
def _insert(values: Array, value: float) -> None:
    """Insert a value into a descending list; the last one drops out."""
    place = len(values) - 2
    if value <= values[place]:
        return
    while place > 0 and values[place - 1] < value:
        values[place] = values[place - 1]
        place -= 1
    values[place] = value


@compiled
def remove(matrix: Ranked, clusters: Clusters, gone: int) -> Remaining:
    """Return the clusters without the centroid at place `gone`."""
    start = clusters.starts[gone]
    moved = clusters.order[start : start + clusters.sizes[gone]]
    labels, best = np.empty_like(moved), np.empty(len(moved))
    sizes, sums = clusters.sizes.copy(), clusters.sums.copy()
    for i in range(len(moved)):
        row = matrix.into[moved[i]]
        labels[i], best[i] = _find_best(row, clusters.centroids, gone)
        sizes[labels[i]] += 1
        sums[labels[i]] += clusters.reach[moved[i]]
    return Remaining(gone, moved, labels, best, sizes, sums)


@compiled
def _find_best(row: Array, centroids: IntArray, gone: int) -> tuple[int, float]:
    """Return the centroid that reaches a pose best, and its access; not `gone`."""
    label, value = -1, -1.0
    for cluster in range(len(centroids)):
        if cluster != gone and row[centroids[cluster]] > value:
            label, value = cluster, float(row[centroids[cluster]])
    return label, value


@compiled
def claim_all(matrix: Ranked, clusters: Clusters) -> Claims:
    """Return what each pose would take over if it were a centroid too.

    It takes a pose if it reaches it better than the pose's centroid does, or as well
    with a lower index. So these are the first poses in the order of that pose.
    """
    n, k = clusters.toward.shape
    stops, starts = _count_claims(matrix, clusters)
    claims = Claims(
        starts,
        np.empty(starts[-1], dtype=np.int32),
        np.ones(n),
        np.zeros((n, k), dtype=np.int32),
        clusters.toward.copy(),
        np.empty((n, k)),
    )
    ends = starts[:-1].copy()
    for pose in range(n):
        if clusters.best[pose] < np.inf:
            _add_claims(matrix, clusters, claims, pose, stops[pose], ends)
    owner = np.full(n, -1)
    for pose in range(n):
        _find_worst_of_rest(clusters, claims, pose, owner)
    return claims


@compiled
def _count_claims(matrix: Ranked, clusters: Clusters) -> tuple[IntArray, IntArray]:
    """Return how many poses claim each pose, and `starts` of `Claims`."""
    n = len(clusters.labels)
    stops, counts = np.zeros(n, dtype=np.intp), np.zeros(n + 1, dtype=np.intp)
    for pose in range(n):
        bar = clusters.best[pose]
        if bar == np.inf:
            continue
        centroid, place = clusters.centroids[clusters.labels[pose]], 0
        values, order = matrix.into[pose], matrix.order[pose]
        counts[pose + 1] += 1
        rival = np.intp(order[0])
        while values[rival] > bar or (values[rival] == bar and rival < centroid):
            counts[rival + 1] += rival != pose
            place += 1  # stops at the centroid at the latest
            rival = np.intp(order[place])
        stops[pose] = place
    return stops, np.cumsum(counts)


@compiled
def _add_claims(
    matrix: Ranked,
    clusters: Clusters,
    claims: Claims,
    pose: int,
    n_rivals: int,
    ends: IntArray,
) -> None:
    """Add a pose to the lists of itself and of its first rivals."""
    label = clusters.labels[pose]
    claims.poses[ends[pose]] = pose
    ends[pose] += 1
    claims.losses[pose, label] += 1
    claims.column[pose, label] -= 1.0
    into, back = matrix.into[pose], matrix.access[pose]
    for place in range(n_rivals):
        rival = np.intp(matrix.order[pose, place])
        if rival != pose:
            claims.poses[ends[rival]] = pose
            ends[rival] += 1
            claims.losses[rival, label] += 1
            claims.column[rival, label] -= back[rival]
            claims.own[rival] = min(claims.own[rival], into[rival])


@compiled
def _find_worst_of_rest(
    clusters: Clusters, claims: Claims, pose: int, owner: IntArray
) -> None:
    """Store the worst access from each centroid to what `pose` leaves it."""
    for other in claims.poses[claims.starts[pose] : claims.starts[pose + 1]]:
        owner[other] = pose
    for cluster in range(len(clusters.sizes)):
        worst = clusters.worst[cluster]
        if claims.losses[pose, cluster] > 0:
            place = clusters.starts[cluster]
            while owner[clusters.order[place]] == pose:
                place += 1  # stops at the centroid at the latest: it is last and stays
            worst = min(clusters.best[clusters.order[place]], 1.0)
        claims.worst[pose, cluster] = worst
