"""Swaps that raise the paper's index I.

One centroid is removed, and every other pose is scored as its replacement. What a pose
takes over from the other clusters does not depend on which centroid goes, so it is
found once for all of them, in about n^2 / k steps. Only clusters that lose members to a
candidate change their row of A_inter. These rows are computed only if the candidate
would still win in the best case: if in each column the members with the most access
were lost.
"""

from typing import NamedTuple

import numpy as np

from kaccess.base.compiled import compiled, inlined
from kaccess.base.types import Array, IntArray
from kaccess.cluster.claims import (
    MOST_LOST,
    Claims,
    Clusters,
    Remaining,
    remove,
)
from kaccess.cluster.matrix import FLOOR
from kaccess.cluster.prepared import Ranked

__all__ = ["find_replacement"]

_LOG_FLOOR = float(np.log(FLOOR))
_CHUNK = 32  # FLOOR**32 = 1e-256 is still a normal float64


class _Rows(NamedTuple):
    """Sums of log A_inter over each row, before a candidate takes members over."""

    logs: Array  # (k,) if no member is lost; 0 for the centroid that is gone
    least: Array  # (k, 1 + MOST_LOST) least sum if so many members are lost


class _Scratch(NamedTuple):
    """Buffers for the changes by one candidate; the next one overwrites them.

    The candidate has the place of the centroid that is gone.
    """

    adopted: IntArray  # (g,) members of the cluster that is gone that it takes over
    losses: IntArray  # (k,) number of members that each cluster loses to it
    column: Array  # (k,) A_inter[:, new]: access to it from the members that stay
    worst: Array  # (k,) A_intra
    lost: Array  # (k, k) summed access from the lost members to each centroid
    row: Array  # (k,) A_inter[new, :]


_Parts = tuple[Clusters, Claims, Remaining, _Rows, _Scratch]


@compiled
def find_replacement(
    matrix: Ranked,
    clusters: Clusters,
    claims: Claims,
    gone: int,
    alpha: float,
    bar: float,
) -> tuple[int, float]:
    """Return the best pose to replace a centroid, and the index I with it.

    Args:
        matrix: Accessibility matrix.
        clusters: Clusters of k >= 2 centroids.
        claims: What each pose would take over from them.
        gone: Place of the centroid to replace among the k.
        alpha: Penalty for each cluster with only one pose.
        bar: Index to exceed.

    Returns:
        The pose and the index, or -1 and `bar` if no pose exceeds it.
    """
    left = remove(matrix, clusters, gone)
    rows = _sum_rows(clusters, left)
    scratch = _allocate(len(left.moved), len(left.sizes))
    winner = -1
    for pose in range(len(clusters.labels)):
        label = clusters.labels[pose]
        if label != gone and clusters.centroids[label] == pose:
            continue
        _start(claims, pose, gone, scratch)
        n_adopted = _adopt(matrix, clusters, left, pose, scratch)
        parts = (clusters, claims, left, rows, scratch)
        index = _score(pose, n_adopted, parts, alpha, bar)
        if index > bar:
            winner, bar = pose, index
    return winner, bar


@compiled
def _sum_rows(clusters: Clusters, left: Remaining) -> _Rows:
    """Return the sums over the rows of A_inter, and their lower bounds."""
    k = len(left.sizes)
    logs, least = np.zeros(k), np.zeros((k, 1 + MOST_LOST))
    for cluster in range(k):
        if cluster != left.gone:
            size = left.sizes[cluster]
            logs[cluster] = _sum_row_log(left.sums[cluster], size, cluster, left.gone)
            for lost in range(min(size, 1 + MOST_LOST)):
                # Members that have come from the cluster that is gone add to the sums.
                sums = clusters.least[cluster, lost]
                least[cluster, lost] = _sum_row_log(
                    sums, size - lost, cluster, left.gone
                )
    return _Rows(logs, least)


@compiled
def _allocate(n_moved: int, k: int) -> _Scratch:
    """Return buffers for k clusters."""
    return _Scratch(
        np.empty(n_moved, dtype=np.intp),
        np.empty(k, dtype=np.intp),
        np.empty(k),
        np.empty(k),
        np.empty((k, k)),
        np.empty(k),
    )


@inlined
def _start(claims: Claims, pose: int, gone: int, scratch: _Scratch) -> None:
    """Store what a candidate takes from the clusters that are left."""
    scratch.losses[:] = claims.losses[pose]
    scratch.column[:] = claims.column[pose]
    scratch.worst[:] = claims.worst[pose]
    scratch.losses[gone] = 0
    scratch.worst[gone] = claims.own[pose]


@inlined
def _adopt(
    matrix: Ranked, clusters: Clusters, left: Remaining, pose: int, scratch: _Scratch
) -> int:
    """Give the members of the cluster that is gone to the candidate, or to others.

    Returns:
        How many go to the candidate.
    """
    n_adopted = 0
    for i in range(len(left.moved)):
        other, label, best = left.moved[i], left.labels[i], left.best[i]
        value = matrix.into[other, pose]
        ties = value == best and pose < clusters.centroids[label]
        if value > best or ties or other == pose:
            scratch.adopted[n_adopted] = i
            n_adopted += 1
            scratch.losses[label] += 1
            scratch.worst[left.gone] = min(scratch.worst[left.gone], value)
        else:
            scratch.column[label] += matrix.access[other, pose]
            scratch.worst[label] = min(scratch.worst[label], best)
    return n_adopted


@inlined
def _score(pose: int, n_adopted: int, parts: _Parts, alpha: float, bar: float) -> float:
    """Return the index I with a candidate, or an upper bound <= `bar`."""
    _, claims, left, rows, scratch = parts
    k = len(left.sizes)
    n_taken = claims.starts[pose + 1] - claims.starts[pose]
    n_taken += n_adopted - claims.losses[pose, left.gone]
    n_singletons, least, settled = _settle(left, rows, scratch)
    n_singletons += n_taken == 1
    known = _sum_log(scratch.worst) / k - alpha * n_singletons
    # I = known - (settled + open) / k^2 exceeds the bar only if `open` is below:
    limit = (known - bar) * k**2 - settled
    least += (k - 1) * _LOG_FLOOR
    if least < limit:
        _sum_lost(pose, n_adopted, parts)
        least += _sum_new_row(n_taken, left, scratch) - (k - 1) * _LOG_FLOOR
    if least < limit:
        least = _add_changed_rows(left, rows, scratch, least, limit)
    return float(known - (settled + least) / k**2)


@inlined
def _settle(
    left: Remaining, rows: _Rows, scratch: _Scratch
) -> tuple[int, float, float]:
    """Turn sums of `column` into means.

    Returns:
        The number of singletons among the clusters, the least sum of log A_inter over
        the rows that change, and its sum over the other rows and the new column.
    """
    n_singletons, least, settled = 0, 0.0, 0.0
    for cluster in range(len(left.sizes)):
        if cluster == left.gone:
            scratch.column[cluster] = 1.0
            continue
        size = left.sizes[cluster] - scratch.losses[cluster]
        n_singletons += size == 1
        scratch.column[cluster] /= size
        if scratch.losses[cluster] == 0:
            settled += rows.logs[cluster]
        else:
            least += _find_least(rows, cluster, scratch.losses[cluster])
    return n_singletons, least, settled + _sum_log(scratch.column)


@inlined
def _find_least(rows: _Rows, cluster: int, n_lost: int) -> float:
    """Return a lower bound of the sum of log A_inter over a row after losses."""
    if n_lost <= MOST_LOST:
        return float(rows.least[cluster, n_lost])
    return (len(rows.logs) - 2) * _LOG_FLOOR


@compiled
def _sum_lost(pose: int, n_adopted: int, parts: _Parts) -> None:
    """Store the summed access from lost members to each centroid, by cluster."""
    clusters, claims, left, _, scratch = parts
    for cluster in range(len(scratch.losses)):
        if scratch.losses[cluster] > 0:
            scratch.lost[cluster] = 0.0
    for other in claims.poses[claims.starts[pose] : claims.starts[pose + 1]]:
        label = clusters.labels[other]
        if label != left.gone:
            _add_row(scratch.lost[label], clusters.reach[other])
    for i in scratch.adopted[:n_adopted]:
        _add_row(scratch.lost[left.labels[i]], clusters.reach[left.moved[i]])


@compiled
def _add_row(total: Array, row: Array) -> None:
    for j in range(len(row)):
        total[j] += row[j]


@compiled
def _sum_new_row(n_taken: int, left: Remaining, scratch: _Scratch) -> float:
    """Return the sum of log A_inter over the row of the candidate's cluster."""
    row = scratch.row
    row[:] = 0.0
    for cluster in range(len(row)):
        if scratch.losses[cluster] > 0:
            _add_row(row, scratch.lost[cluster])
    row /= n_taken
    row[left.gone] = 1.0
    return _sum_log(row)


@compiled
def _add_changed_rows(
    left: Remaining, rows: _Rows, scratch: _Scratch, least: float, limit: float
) -> float:
    """Return `least` with the true values of the rows that change, not the bounds.

    It stops as soon as the sum reaches `limit`.
    """
    for cluster in range(len(scratch.losses)):
        n_lost = scratch.losses[cluster]
        if n_lost > 0 and least < limit:
            sums = left.sums[cluster] - scratch.lost[cluster]
            size = left.sizes[cluster] - n_lost
            least += _sum_row_log(sums, size, cluster, left.gone)
            least -= _find_least(rows, cluster, n_lost)
    return least


@compiled
def _sum_row_log(sums: Array, size: int, cluster: int, gone: int) -> float:
    """Return the sum of log(sums / size) over a row of A_inter, at least the floor.

    Its diagonal and the place of the centroid that is gone do not count.
    """
    floor = FLOOR * size
    total = _sum_log(sums, floor) - (len(sums) - 2) * np.log(size)
    for j in (cluster, gone):
        total -= np.log(max(sums[j], floor))
    return float(total)


@compiled
def _sum_log(values: Array, floor: float = FLOOR) -> float:
    """Return the sum of log(max(value, floor)).

    It multiplies many factors before it takes one logarithm, in four products side by
    side. The floor removes rounding errors of sums from which everything above the
    floor was subtracted.
    """
    total, n_whole = 0.0, len(values) // 4 * 4
    for start in range(0, n_whole, _CHUNK):
        a = b = c = d = 1.0
        for i in range(start, min(start + _CHUNK, n_whole), 4):
            a *= max(values[i], floor)
            b *= max(values[i + 1], floor)
            c *= max(values[i + 2], floor)
            d *= max(values[i + 3], floor)
        total += np.log(a * b * c * d)
    for value in values[n_whole:]:
        total += np.log(max(value, floor))
    return float(total)
