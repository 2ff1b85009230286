"""The paper's index I as one number, for solvers that compute it very often."""

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray

__all__ = ["compute_index"]


@compiled
def compute_index(
    rows: Array, columns: Array, centroids: IntArray, alpha: float
) -> float:
    """Return the index I of the clusters around k centroids; see `quality`.

    Args:
        rows: (k, n) access from each centroid to each pose.
        columns: (k, n) access from each pose to each centroid.
        centroids: (k,) pose indices; the first of equally good ones gets a pose.
        alpha: Penalty for each cluster with only one pose.
    """
    k = len(centroids)
    labels, worst = _assign(rows, centroids)
    sizes = np.bincount(labels)
    total = 0.0
    for j in range(k):
        sums = np.zeros(k)
        for pose in range(len(labels)):
            sums[labels[pose]] += columns[j, pose]
        means = sums / sizes
        means[j] = 1.0
        total += np.log(means).sum()
    singletons = (sizes == 1).sum()
    return float(np.log(worst).mean() - total / k**2 - alpha * singletons)


@compiled
def _assign(rows: Array, centroids: IntArray) -> tuple[IntArray, Array]:
    """Return the cluster of each pose, (n,), and the worst access in each, (k,)."""
    labels, best = np.zeros(rows.shape[1], dtype=np.intp), rows[0].copy()
    for cluster in range(1, len(rows)):
        row = rows[cluster]
        for pose in range(len(row)):
            if row[pose] > best[pose]:
                best[pose] = row[pose]
                labels[pose] = cluster
    labels[centroids] = np.arange(len(centroids))
    best[centroids] = 1.0
    worst = np.ones(len(centroids))
    for pose in range(len(best)):
        worst[labels[pose]] = min(worst[labels[pose]], best[pose])
    return labels, worst
