"""Quality of a clustering: the paper's index I, and the coverage.

    I = mean(log A_intra) - mean(log A_inter) - alpha |singletons|

`A_intra[i]` is the worst access from centroid i to a member of its cluster;
`A_inter[i, j]` is the mean access from the members of cluster i to centroid j, and 1
for i = j. Larger is better: centroids reach their own members easily, and clusters do
not overlap.

Poses that no centroid reaches hardly change the index: they all tie, so they all go to
the first centroid of the list and lower only one entry of `A_intra`. So look at the
coverage and at `uncovered` too.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kaccess.base.types import Array, IntArray
from kaccess.cluster.alternate import assign
from kaccess.cluster.coverage import measure_coverage
from kaccess.cluster.matrix import (
    check_access,
    check_centroids,
    check_labels,
    is_reached,
)

__all__ = [
    "Quality",
    "accessibility_index",
    "assess",
    "measure_parts",
    "measure_quality",
    "measure_unreachable",
]


@dataclass(frozen=True)
class Quality:
    """Quality of one clustering.

    Args:
        index: The paper's index I.
        intra: (k,) worst access from each centroid to its members.
        inter: (k, k) mean access from the members of one cluster to each centroid.
        sizes: (k,) number of members, including uncovered poses.
        singletons: Pose indices of the centroids that are alone in their cluster.
        coverage: Share of poses that a centroid other than the pose itself reaches.
        uncovered: Indices of the poses that no centroid reaches.
    """

    index: float
    intra: Array
    inter: Array
    sizes: IntArray
    singletons: IntArray
    coverage: float
    uncovered: IntArray


def accessibility_index(
    access: ArrayLike,
    centroid_indices: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    alpha: float = 1.0,
) -> float:
    """Return the paper's index I of a clustering; larger is better.

    Args:
        access: (n, n) accessibilities in [0, 1], from row to column.
        centroid_indices: (k,) pose index of each centroid.
        labels: (n,) cluster of each pose; by default that of its best centroid, the
            first one if several are equally good.
        alpha: Penalty for each cluster with only one pose.
    """
    return assess(access, centroid_indices, labels, alpha=alpha).index


def assess(
    access: ArrayLike,
    centroid_indices: ArrayLike,
    labels: ArrayLike | None = None,
    *,
    alpha: float = 1.0,
) -> Quality:
    """Return the quality of a clustering; arguments as in `accessibility_index`."""
    matrix = check_access(access)
    centroids = check_centroids(centroid_indices, len(matrix))
    labels = assign(matrix, centroids)[0] if labels is None else labels
    checked = check_labels(labels, centroids, len(matrix))
    return measure_quality(matrix, centroids, checked, alpha=alpha)


def measure_quality(
    access: Array, centroids: IntArray, labels: IntArray, *, alpha: float
) -> Quality:
    """Return the quality of a clustering whose arrays have been checked."""
    return measure_parts(
        access[centroids], access[:, centroids], centroids, labels, alpha=alpha
    )


def measure_parts(
    from_centroids: Array,
    to_centroids: Array,
    centroids: IntArray,
    labels: IntArray,
    *,
    alpha: float,
) -> Quality:
    """Return the quality of a clustering from the part of the matrix that it needs.

    Args:
        from_centroids: (k, n) access from each centroid to each pose.
        to_centroids: (n, k) access from each pose to each centroid.
        centroids: (k,) pose index of each centroid.
        labels: (n,) cluster of each pose.
        alpha: Penalty for each cluster with only one pose.
    """
    sizes = np.bincount(labels)
    intra, inter = (
        _measure_intra(from_centroids, labels),
        _measure_inter(to_centroids, labels),
    )
    singletons = centroids[sizes == 1]
    index = np.log(intra).mean() - np.log(inter).mean() - alpha * len(singletons)
    return Quality(
        index=float(index),
        intra=intra,
        inter=inter,
        sizes=sizes,
        singletons=singletons,
        coverage=measure_coverage(from_centroids, centroid_indices=centroids).share,
        uncovered=np.flatnonzero(~is_reached(from_centroids).any(axis=0)),
    )


def measure_unreachable(
    parts: Iterable[tuple[slice, Array]], labels: IntArray
) -> float:
    """Return the share of ordered pairs within clusters that are not reached.

    It is 0 if no cluster has two members.

    Args:
        parts: Some rows of the matrix at a time, and which these are.
        labels: (n,) cluster of each pose; -1 if it has none.
    """
    sizes = np.bincount(labels[labels >= 0])
    n_pairs, n_missing = int((sizes * (sizes - 1)).sum()), 0
    for rows, access in parts:
        for cluster in np.unique(labels[rows][labels[rows] >= 0]):
            members = np.ix_(labels[rows] == cluster, labels == cluster)
            n_missing += int((~is_reached(access[members])).sum())
    return n_missing / max(n_pairs, 1)


def _measure_intra(from_centroids: Array, labels: IntArray) -> Array:
    """Return the worst access from each centroid to its members, (k,)."""
    worst = np.ones(len(from_centroids))
    np.minimum.at(worst, labels, from_centroids[labels, np.arange(len(labels))])
    return worst


def _measure_inter(to_centroids: Array, labels: IntArray) -> Array:
    """Return the mean access from members of one cluster to each centroid, (k, k)."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(to_centroids.shape[1]))
    rows = to_centroids[order].astype(np.float64)
    inter = np.add.reduceat(rows, starts, axis=0) / np.bincount(labels)[:, None]
    np.fill_diagonal(inter, 1.0)
    return np.asarray(inter)
