"""Algorithm 1 of the paper: spread seeds, then alternate assignment and re-centring.

Centroids are a list, in the order in which they were picked; a cluster keeps its place
in the list when its centroid moves. A pose that several centroids reach equally well
goes to the first of them in the list. So all poses that no centroid reaches, with 1e-8
from each, go to the first one. Other ties go to the lowest pose index.

The paper leaves some lines open. Here, as in the authors' later code, the first
centroid is any of the n poses, a pose is picked only once (line 5), and a centroid
belongs to its own cluster even if it has a duplicate earlier in the list.
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
        centroids: (k,) pose indices; the place of each in the list is its cluster.
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


def alternate(
    access: Array, seeds: IntArray, *, max_iter: int = 300, sort: bool = False
) -> Alternation:
    """Alternate between assignment and re-centring until assignments stay the same.

    Args:
        access: (n, n) accessibility matrix.
        seeds: (k,) distinct poses to start from, as a list: its order decides ties.
        max_iter: Largest number of rounds.
        sort: Whether to sort the list in each round. Then ties go to the lowest pose
            index, and the clusters depend only on the set of centroids, as swaps need.

    Returns:
        The last centroids. `converged` is false if `max_iter` was reached, or if the
        centroids repeat in a cycle.
    """
    centroids = np.sort(seeds) if sort else np.array(seeds)
    seen = set()
    for n_iter in range(1, max_iter + 1):
        seen.add(centroids.tobytes())
        labels, _ = assign(access, centroids)
        previous, centroids = centroids, recentre(access, labels)
        if sort:
            centroids = np.sort(centroids)
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
        centroids: (k,) pose indices; the first of equally good ones gets a pose.
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
