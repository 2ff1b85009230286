"""Search for the best centroids: Algorithm 1 alone, or followed by swaps and kicks."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from kaccess.base.types import IntArray
from kaccess.cluster.alternate import Alternation, alternate
from kaccess.cluster.objectives import Objective

__all__ = ["SolverName", "kick", "polish", "solve"]

SolverName = Literal["swap", "alternate"]


def solve(
    objective: Objective,
    seeds: Sequence[IntArray],
    *,
    solver: SolverName,
    max_iter: int,
    n_kicks: int,
    rng: np.random.Generator,
) -> Alternation:
    """Return the best centroids found by several restarts.

    Swaps score sets of centroids, so they continue from runs on sorted lists, where
    ties go to the lowest pose. The result is no worse than that of "alternate".

    Args:
        objective: Score that decides which result is better.
        seeds: (k,) distinct poses for each restart.
        solver: "alternate" for Algorithm 1 alone, "swap" to continue with swaps.
        max_iter: Maximum number of rounds of Algorithm 1.
        n_kicks: Number of kicks, for "swap".
        rng: Generator of the kicks.
    """
    letter = _find_best_run(objective, seeds, max_iter=max_iter, sort=False)
    if solver == "alternate":
        return letter
    run = _find_best_run(objective, seeds, max_iter=max_iter, sort=True)
    centroids, n_swaps = polish(objective, run.centroids, n_kicks=n_kicks, rng=rng)
    swapped = Alternation(centroids, run.n_iter + n_swaps, converged=True)
    return max(swapped, letter, key=lambda end: objective.score(end.centroids))


def _find_best_run(
    objective: Objective, seeds: Sequence[IntArray], *, max_iter: int, sort: bool
) -> Alternation:
    """Return the best run of Algorithm 1; arguments as in `alternate`."""
    runs = [
        alternate(objective.access, start, max_iter=max_iter, sort=sort)
        for start in seeds
    ]
    return max(runs, key=lambda run: objective.score(run.centroids))


def polish(
    objective: Objective,
    centroids: IntArray,
    *,
    n_kicks: int,
    rng: np.random.Generator,
) -> tuple[IntArray, int]:
    """Return centroids, (k,), that no swap improves, and the number of swaps.

    Kicks leave a local optimum; the result after a kick is kept if it is no worse. The
    final score is never lower than that of `centroids`.
    """
    best, n_swaps = objective.improve(centroids)
    score = objective.score(best)
    for _ in range(n_kicks):
        kicked = kick(best, len(objective.access), rng)
        candidate, n_more = objective.improve(kicked)
        n_swaps += n_more
        candidate_score = objective.score(candidate)
        if candidate_score >= score:
            best, score = candidate, candidate_score
    return best, n_swaps


def kick(centroids: IntArray, n_poses: int, rng: np.random.Generator) -> IntArray:
    """Return the centroids with some, or all, of them replaced by random poses."""
    others = np.setdiff1d(np.arange(n_poses), centroids)
    n_leavers = min(int(rng.integers(1, len(centroids) + 1)), len(others))
    kicked = centroids.copy()
    leavers = rng.choice(len(centroids), n_leavers, replace=False)
    kicked[leavers] = rng.choice(others, n_leavers, replace=False)
    return np.sort(kicked)
