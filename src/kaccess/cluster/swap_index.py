"""Swaps that raise the paper's index I.

A centroid is taken out; then every other pose is scored as its replacement. What the
remaining k - 1 clusters look like is worked out once, in O(n^2). A candidate then costs
one look at each pose and at each cluster. Work on the access between clusters, of which
only the rows of clusters that lose members change, follows only if the candidate could
still win with those rows at the floor.
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
    """The clusters of the m = k - 1 centroids that stay."""

    labels: IntArray  # (n,)
    best: Array  # (n,) access from the own centroid; inf for the centroids
    order: IntArray  # (n,) poses by cluster, within it by access from the centroid
    starts: IntArray  # (m,) where each cluster begins in `order`
    sizes: IntArray  # (m,)
    worst: Array  # (m,) least access from each centroid to its members
    reach: Array  # (n, m) access from each pose to each centroid
    sums: Array  # (m, m) access from members of a cluster to each centroid, summed
    toward: Array  # (n, m) access to each pose from members of a cluster, summed
    logs: Array  # (m,) sum of log A_inter over each row


class _Scratch(NamedTuple):
    """What one candidate changes; overwritten by the next."""

    moved: IntArray  # (n,) the poses that it takes, in its first entries
    losses: IntArray  # (m,) members that each cluster loses to it
    column: Array  # (m,) access to it from what stays of each cluster: A_inter[:, new]
    worst: Array  # (m,) A_intra of what stays
    taken: Array  # (m, m) access from the lost members to each centroid, summed
    row: Array  # (m,) A_inter[new, :]


@compiled
def find_replacement(
    access: Array, kept: IntArray, alpha: float, bar: float
) -> tuple[int, float]:
    """Return the pose that completes `kept` best, and the index I it leads to.

    Args:
        access: (n, n) accessibility matrix.
        kept: (k - 1,) centroids that stay, ascending, at least one.
        alpha: Penalty for each cluster of one pose.
        bar: Index that has to be exceeded.

    Returns:
        The pose and the index, or -1 and `bar` if no pose exceeds it.
    """
    clusters = _describe(access, kept)
    scratch = _allocate(len(access), len(kept))
    # What a candidate has to exceed to take a pose. Candidates come in ascending order:
    # each wins its ties against centroids with higher indices, those not yet met.
    bars = np.nextafter(clusters.best, -np.ones_like(clusters.best))
    winner = -1
    for pose in range(len(access)):
        label = clusters.labels[pose]
        if kept[label] == pose:
            _keep_ties(bars, clusters, label)
            continue
        own_bar, bars[pose] = bars[pose], -1.0  # it always takes itself
        index = _score_with(access, pose, bars, clusters, scratch, alpha, bar)
        bars[pose] = own_bar
        if index > bar:
            winner, bar = pose, index
    return winner, bar


@compiled
def _describe(access: Array, kept: IntArray) -> _Clusters:
    """Return what the scores of all candidates share."""
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
    """Return room for the figures of one candidate."""
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
    """Raise the bars of a cluster so that its centroid keeps what it ties for."""
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
    """Return the index I with `pose` as a centroid, or a bound on it if not > `bar`."""
    m = len(clusters.sizes)
    k = m + 1
    moved = scratch.moved[: _claim(access[pose], bars, scratch.moved)]
    own_worst = _take(access, pose, moved, clusters, scratch)
    n_singletons, n_open, settled = _settle(access[pose], bars, clusters, scratch)
    n_singletons += len(moved) == 1
    intra = _sum_log(scratch.worst) + np.log(own_worst)
    known = intra / k - alpha * n_singletons
    # I = known - (settled + open) / k^2 exceeds the bar only if `open` stays below:
    limit = (known - bar) * k**2 - settled
    least = (n_open * (m - 1) + m) * _LOG_FLOOR
    if least < limit:
        least += _sum_new_row(moved, clusters, scratch) - m * _LOG_FLOOR
    if least < limit:
        least = _add_changed_rows(moved, clusters, scratch, least, limit)
    return float(known - (settled + least) / k**2)


@compiled
def _claim(row: Array, bars: Array, moved: IntArray) -> int:
    """Write the poses at which `row` exceeds `bars` to `moved`; return how many."""
    n_moved = 0
    for pose in range(len(row)):
        moved[n_moved] = pose  # without a branch, which could not be predicted
        n_moved += row[pose] > bars[pose]
    return n_moved


@compiled
def _take(
    access: Array, pose: int, moved: IntArray, clusters: _Clusters, scratch: _Scratch
) -> float:
    """Count what clusters lose, sum what their rests have in access to `pose`.

    Returns:
        The least access from `pose` to those it takes.
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
    """Fill in the worst access within what stays of each cluster.

    Returns:
        The number of singletons among the rests, the number of rows of A_inter that
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
    """Return the least access from a centroid to the members that stay."""
    place = clusters.starts[cluster]
    while row[clusters.order[place]] > bars[clusters.order[place]]:
        place += 1  # ends at the centroid, which comes last and never leaves
    return float(min(clusters.best[clusters.order[place]], 1.0))


@compiled
def _sum_new_row(moved: IntArray, clusters: _Clusters, scratch: _Scratch) -> float:
    """Return the sum of log A_inter over the row of the candidate's own cluster."""
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
    """Return `least` with the rows that lose members at their values, not at the floor.

    Stops as soon as the sum is known to reach `limit`.
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
    """Return the sum of log((sums - taken) / size) over a row, but for its diagonal."""
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
    """Return the sum of the logarithms of `values`, raised to the floor.

    One logarithm serves many factors. The floor hides what rounding leaves of a sum
    from which all that was above the floor has been subtracted again.
    """
    total = 0.0
    for start in range(0, len(values), _CHUNK):
        product = 1.0
        for value in values[start : start + _CHUNK]:
            product *= max(value, FLOOR)
        total += np.log(product)
    return total
