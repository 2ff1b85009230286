"""Swaps that raise the mean access from the best centroid, as PAM does for distances.

One pass over the poses gives the gain of swapping a candidate for *each* centroid. The
gain at poses that the candidate reaches best does not depend on the centroid removed,
and removing a centroid costs access only to its own members. So a round over all n * k
swaps takes n^2 steps.
"""

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray

__all__ = ["swap_for_access"]


@compiled
def swap_for_access(
    access: Array, centroids: IntArray, tolerance: float
) -> tuple[IntArray, int]:
    """Swap centroids for other poses until no swap raises the mean access.

    Args:
        access: (n, n) accessibility matrix.
        centroids: (k,) distinct poses to start from.
        tolerance: Smallest gain in *summed* access that is worth a swap.

    Returns:
        (k,) centroids in no particular order, and the number of swaps.
    """
    centroids = centroids.copy()
    nearest, best, second = _find_two_best(access, centroids)
    n_swaps, idle, pose = 0, 0, -1
    while idle < len(access):
        pose = (pose + 1) % len(access)
        idle += 1
        leaver, gain = _find_leaver(access[pose], nearest, best, second, len(centroids))
        if gain > tolerance:
            centroids[leaver] = pose
            nearest, best, second = _find_two_best(access, centroids)
            n_swaps += 1
            idle = 0
    return centroids, n_swaps


@compiled
def _find_two_best(access: Array, centroids: IntArray) -> tuple[IntArray, Array, Array]:
    """Return each pose's best centroid, the access from it and from the second best."""
    nearest = np.zeros(len(access), dtype=np.intp)
    best, second = np.zeros(len(access)), np.zeros(len(access))
    for cluster in range(len(centroids)):
        row = access[centroids[cluster]]
        for pose in range(len(row)):
            if row[pose] > best[pose]:
                second[pose] = best[pose]
                best[pose] = row[pose]
                nearest[pose] = cluster
            elif row[pose] > second[pose]:
                second[pose] = row[pose]
    return nearest, best, second


@compiled
def _find_leaver(
    row: Array, nearest: IntArray, best: Array, second: Array, n_clusters: int
) -> tuple[int, float]:
    """Return the centroid to swap for the pose with this `row`, and the gain."""
    shared = 0.0
    change = np.zeros(n_clusters)
    for pose in range(len(row)):
        cluster = nearest[pose]
        if row[pose] > best[pose]:
            shared += row[pose] - best[pose]
        elif row[pose] > second[pose]:
            change[cluster] += row[pose] - best[pose]
        else:
            change[cluster] += second[pose] - best[pose]
    leaver = int(change.argmax())
    return leaver, shared + change[leaver]
