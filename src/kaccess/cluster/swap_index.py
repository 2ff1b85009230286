"""Swaps that raise the paper's index I.

One centroid is removed, and every other pose is scored as its replacement. The clusters
of the remaining k - 1 centroids are computed once, in O(n^2). Each candidate then takes
one pass over the poses and one over the clusters. Only clusters that lose members to it
change their row of A_inter. These rows are computed only if the candidate would still
win with all of them at the floor, which is the best case.
"""

from typing import NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray
from kaccess.cluster.alternate import assign
from kaccess.cluster.matrix import FLOOR

__all__ = ["find_replacement"]

_LOG_FLOOR = float(np.log(FLOOR))
_CHUNK = 32  # FLOOR**32 = 1e-256 is still a normal float64


class _Clusters(NamedTuple):
    """Clusters of the m = k - 1 centroids that stay."""

    labels: IntArray  # (n,) cluster of each pose
    best: Array  # (n,) access from its centroid; inf for the centroids
    order: IntArray  # (n,) poses by cluster, within it by access from the centroid
    starts: IntArray  # (m,) start of each cluster in `order`
    sizes: IntArray  # (m,) number of members
    worst: Array  # (m,) worst access from each centroid to its members
    reach: Array  # (n, m) access from each pose to each centroid
    sums: Array  # (m, m) summed access from members of a cluster to each centroid
    toward: Array  # (n, m) summed access to each pose from members of a cluster
    logs: Array  # (m,) sum of log A_inter over each row


class _Scratch(NamedTuple):
    """Buffers for the changes by one candidate; the next one overwrites them."""

    moved: IntArray  # (n,) poses that it takes over, in the first entries
    losses: IntArray  # (m,) number of members that each cluster loses to it
    column: Array  # (m,) A_inter[:, new]: access to it from the members that stay
    worst: Array  # (m,) A_intra of the members that stay
    taken: Array  # (m, m) summed access from the lost members to each centroid
    row: Array  # (m,) A_inter[new, :]


@compiled
def find_replacement(
    access: Array, kept: IntArray, alpha: float, bar: float
) -> tuple[int, float]:
    """Return the best pose to add to `kept`, and the index I with it.

    Args:
        access: (n, n) accessibility matrix.
        kept: (k - 1,) centroids that stay, ascending, at least one.
        alpha: Penalty for each cluster with only one pose.
        bar: Index to exceed.

    Returns:
        The pose and the index, or -1 and `bar` if no pose exceeds it.
    """
    clusters = _describe(access, kept)
    scratch = _allocate(len(access), len(kept))
    # A candidate takes over a pose if its access exceeds the pose's bar. Candidates
    # come in ascending order and win ties against centroids with higher indices: those
    # that the loop has not passed yet.
    bars = np.nextafter(clusters.best, -np.ones_like(clusters.best))
    winner = -1
    for pose in range(len(access)):
        label = clusters.labels[pose]
        if kept[label] == pose:
            _keep_ties(bars, clusters, label)
            continue
        own_bar, bars[pose] = bars[pose], -1.0  # it is always its own member
        index = _score_with(access, pose, bars, clusters, scratch, alpha, bar)
        bars[pose] = own_bar
        if index > bar:
            winner, bar = pose, index
    return winner, bar


@compiled
def _describe(access: Array, kept: IntArray) -> _Clusters:
    """Return the clusters of `kept`; the scores of all candidates use them."""
    labels, best = assign(access, kept)
    best[kept] = np.inf
    order = np.argsort(best, kind="mergesort")
    order = order[np.argsort(labels[order], kind="mergesort")]
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    worst = np.minimum(best[order[starts]], 1.0)
    reach, sums, toward = _sum_by_cluster(access, kept, labels)
    logs, nothing = np.empty(len(kept)), np.zeros(len(kept))
    for cluster in range(len(kept)):
        logs[cluster] = _sum_row_log(sums[cluster], nothing, sizes[cluster], cluster)
    return _Clusters(
        labels, best, order, starts, sizes, worst, reach, sums, toward, logs
    )


@compiled
def _sum_by_cluster(
    access: Array, kept: IntArray, labels: IntArray
) -> tuple[Array, Array, Array]:
    """Return `reach`, `sums` and `toward` of `_Clusters`."""
    n, m = len(access), len(kept)
    reach, sums, toward = np.empty((n, m)), np.zeros((m, m)), np.zeros((m, n))
    for pose in range(n):
        row, label = access[pose], labels[pose]
        for j in range(m):
            reach[pose, j] = row[kept[j]]
            sums[label, j] += row[kept[j]]
        total = toward[label]
        for other in range(n):
            total[other] += row[other]
    return reach, sums, np.ascontiguousarray(toward.T)


@compiled
def _allocate(n: int, m: int) -> _Scratch:
    """Return buffers for n poses and m clusters."""
    return _Scratch(
        np.empty(n, dtype=np.intp),
        np.empty(m, dtype=np.intp),
        np.empty(m),
        np.empty(m),
        np.empty((m, m)),
        np.empty(m),
    )


@compiled
def _keep_ties(bars: Array, clusters: _Clusters, label: int) -> None:
    """Raise the bars of a cluster so that its centroid wins ties from now on."""
    start = clusters.starts[label]
    for member in clusters.order[start : start + clusters.sizes[label]]:
        bars[member] = clusters.best[member]


@compiled
def _score_with(
    access: Array,
    pose: int,
    bars: Array,
    clusters: _Clusters,
    scratch: _Scratch,
    alpha: float,
    bar: float,
) -> float:
    """Return the index I with `pose` as a centroid, or an upper bound <= `bar`."""
    m = len(clusters.sizes)
    k = m + 1
    moved = scratch.moved[: _claim(access[pose], bars, scratch.moved)]
    own_worst = _take(access, pose, moved, clusters, scratch)
    n_singletons, n_open, settled = _settle(access[pose], bars, clusters, scratch)
    n_singletons += len(moved) == 1
    intra = _sum_log(scratch.worst) + np.log(own_worst)
    known = intra / k - alpha * n_singletons
    # I = known - (settled + open) / k^2 exceeds the bar only if `open` is below:
    limit = (known - bar) * k**2 - settled
    least = (n_open * (m - 1) + m) * _LOG_FLOOR
    if least < limit:
        least += _sum_new_row(moved, clusters, scratch) - m * _LOG_FLOOR
    if least < limit:
        least = _add_changed_rows(moved, clusters, scratch, least, limit)
    return float(known - (settled + least) / k**2)


@compiled
def _claim(row: Array, bars: Array, moved: IntArray) -> int:
    """Write the poses at which `row` exceeds `bars` to `moved`; return their number."""
    n_moved = 0
    for pose in range(len(row)):
        moved[n_moved] = pose  # no branch: the CPU could not predict it
        n_moved += row[pose] > bars[pose]
    return n_moved


@compiled
def _take(
    access: Array, pose: int, moved: IntArray, clusters: _Clusters, scratch: _Scratch
) -> float:
    """Store the losses of each cluster, and its summed access to `pose` after them.

    Returns:
        The worst access from `pose` to the poses it takes over.
    """
    scratch.losses[:] = 0
    scratch.column[:] = clusters.toward[pose]
    own_worst = 1.0
    for other in moved:
        label = clusters.labels[other]
        scratch.losses[label] += 1
        scratch.column[label] -= access[other, pose]
        own_worst = min(own_worst, access[pose, other])
    return own_worst


@compiled
def _settle(
    row: Array, bars: Array, clusters: _Clusters, scratch: _Scratch
) -> tuple[int, int, float]:
    """Store A_intra and the mean access to the candidate after the losses.

    Returns:
        The number of singletons among the clusters, the number of rows of A_inter that
        change, and the sum of log A_inter over the other rows and the new column.
    """
    n_singletons, n_open, settled = 0, 0, 0.0
    for cluster in range(len(clusters.sizes)):
        left = clusters.sizes[cluster] - scratch.losses[cluster]
        n_singletons += left == 1
        scratch.column[cluster] /= left
        scratch.worst[cluster] = clusters.worst[cluster]
        if scratch.losses[cluster] == 0:
            settled += clusters.logs[cluster]
        else:
            n_open += 1
            scratch.worst[cluster] = _find_worst_of_rest(row, bars, clusters, cluster)
    return n_singletons, n_open, settled + _sum_log(scratch.column)


@compiled
def _find_worst_of_rest(
    row: Array, bars: Array, clusters: _Clusters, cluster: int
) -> float:
    """Return the worst access from a centroid to the members that stay."""
    place = clusters.starts[cluster]
    while row[clusters.order[place]] > bars[clusters.order[place]]:
        place += 1  # stops at the centroid at the latest: it is last and stays
    return float(min(clusters.best[clusters.order[place]], 1.0))


@compiled
def _sum_new_row(moved: IntArray, clusters: _Clusters, scratch: _Scratch) -> float:
    """Return the sum of log A_inter over the row of the candidate's cluster."""
    row = scratch.row
    row[:] = 0.0
    for other in moved:
        for j in range(len(row)):
            row[j] += clusters.reach[other, j]
    row /= len(moved)
    return _sum_log(row)


@compiled
def _add_changed_rows(
    moved: IntArray, clusters: _Clusters, scratch: _Scratch, least: float, limit: float
) -> float:
    """Return `least` with the true values of the rows that change, not the floor.

    It stops as soon as the sum reaches `limit`.
    """
    m, taken = len(scratch.losses), scratch.taken
    for cluster in range(m):
        if scratch.losses[cluster] > 0:
            taken[cluster] = 0.0
    for other in moved:
        total = taken[clusters.labels[other]]
        for j in range(m):
            total[j] += clusters.reach[other, j]
    for cluster in range(m):
        if scratch.losses[cluster] > 0 and least < limit:
            left = clusters.sizes[cluster] - scratch.losses[cluster]
            least -= (m - 1) * _LOG_FLOOR
            least += _sum_row_log(clusters.sums[cluster], taken[cluster], left, cluster)
    return least


@compiled
def _sum_row_log(sums: Array, taken: Array, size: int, diagonal: int) -> float:
    """Return the sum of log((sums - taken) / size) over a row without its diagonal."""
    floor = FLOOR * size
    total = -np.log(max(sums[diagonal] - taken[diagonal], floor))
    for start in range(0, len(sums), _CHUNK):
        product = 1.0
        for j in range(start, min(start + _CHUNK, len(sums))):
            product *= max(sums[j] - taken[j], floor)
        total += np.log(product)
    return float(total - (len(sums) - 1) * np.log(size))


@compiled
def _sum_log(values: Array) -> float:
    """Return the sum of log(max(value, FLOOR)).

    It multiplies many factors before it takes one logarithm. The floor removes rounding
    errors of sums from which everything above the floor was subtracted.
    """
    total = 0.0
    for start in range(0, len(values), _CHUNK):
        product = 1.0
        for value in values[start : start + _CHUNK]:
            product *= max(value, FLOOR)
        total += np.log(product)
    return total
