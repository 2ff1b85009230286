"""Algorithm 1 of the paper: spread seeds, then alternate assignment and re-centring.

Every tie goes to the lowest pose index. Centroids are kept in ascending order, so that
the first maximum in a column of `access[centroids]` obeys this rule, and a clustering
depends only on the *set* of its centroids.

Two lines of the paper are unclear. Here, the first centroid is any of the n poses, and
a centroid belongs to its own cluster even if a duplicate of it is a centroid too.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray

__all__ = ["Alternation", "alternate", "assign", "recentre", "spread_seeds"]


@dataclass(frozen=True)
class Alternation:
    """Result of Algorithm 1.

    Args:
        centroids: (k,) pose indices in ascending order.
        n_iter: Rounds of re-centring and assignment.
        converged: Whether the assignments stopped changing.
    """

    centroids: IntArray
    n_iter: int
    converged: bool


def spread_seeds(access: Array, first: int, n_seeds: int) -> IntArray:
    """Pick `first`, then in turn the pose with least access to and from those picked.

    The seeds for k are the first k of the seeds for k + 1.

    Args:
        access: (n, n) accessibility matrix.
        first: Pose to begin with.
        n_seeds: Number of seeds, k.

    Returns:
        (k,) distinct pose indices in the order of picking.
    """
    total = np.zeros(len(access))
    seeds = np.empty(n_seeds, dtype=np.intp)
    for i in range(n_seeds):
        seeds[i] = first if i == 0 else total.argmin()
        total += access[seeds[i]] + access[:, seeds[i]]
        total[seeds[i]] = np.inf
    return seeds


def alternate(access: Array, seeds: IntArray, *, max_iter: int = 300) -> Alternation:
    """Alternate between assignment and re-centring until assignments stay the same.

    Args:
        access: (n, n) accessibility matrix.
        seeds: (k,) distinct poses to start from.
        max_iter: Largest number of rounds.

    Returns:
        The last centroids. `converged` is false if `max_iter` was reached, or if the
        centroids repeat in a cycle.
    """
    centroids = np.sort(seeds)
    seen = set()
    for n_iter in range(1, max_iter + 1):
        seen.add(centroids.tobytes())
        labels, _ = assign(access, centroids)
        previous, centroids = centroids, np.sort(recentre(access, labels))
        if np.array_equal(centroids, previous):
            return Alternation(centroids, n_iter, converged=True)
        if centroids.tobytes() in seen:
            break
    return Alternation(centroids, n_iter, converged=False)


@compiled
def assign(access: Array, centroids: IntArray) -> tuple[IntArray, Array]:
    """Return the cluster of each pose, (n,), and the access from its centroid, (n,).

    Args:
        access: (n, n) accessibility matrix.
        centroids: (k,) pose indices in ascending order.
    """
    labels = np.zeros(access.shape[1], dtype=np.intp)
    best = access[centroids[0]].copy()
    for cluster in range(1, len(centroids)):
        row = access[centroids[cluster]]
        for pose in range(len(row)):
            if row[pose] > best[pose]:
                best[pose] = row[pose]
                labels[pose] = cluster
    for cluster in range(len(centroids)):
        labels[centroids[cluster]] = cluster
    return labels, best


@compiled
def recentre(access: Array, labels: IntArray) -> IntArray:
    """Return, for each cluster, the member with the best worst-case access, (k,).

    Args:
        access: (n, n) accessibility matrix.
        labels: (n,) cluster of each pose, 0 ... k - 1; no cluster is empty.
    """
    order = np.argsort(labels, kind="mergesort")
    stops = np.cumsum(np.bincount(labels))
    centroids = np.empty(len(stops), dtype=np.intp)
    start = 0
    for cluster in range(len(stops)):
        members = order[start : stops[cluster]]
        start = stops[cluster]
        best = -1.0
        for candidate in members:
            worst = _find_worst(access[candidate], members, best)
            if worst > best:
                best = worst
                centroids[cluster] = candidate
    return centroids


@compiled
def _find_worst(row: Array, members: IntArray, bar: float) -> float:
    """Return the minimum of `row` at `members`, or the first entry not above `bar`."""
    worst = np.inf
    for member in members:
        if row[member] < worst:
            worst = row[member]
            if worst <= bar:
                break
    return worst
