"""Build and swap, as in PAM, for the index of K-Access among a few candidates.

Accessibilities are given as s draws of what they may be; the mean index counts.
"""

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray
from kaccess.cluster.index import compute_index

__all__ = ["build_centroids", "swap_centroids"]

_MIN_GAIN = 1e-3  # of the index, as in the swaps of K-Access
_MOST_ROUNDS = 2  # of swaps
_PATIENCE = 10  # candidates that are added without a better index


def build_centroids(
    leaving: Array,
    arriving: Array,
    candidates: IntArray,
    k_max: int,
    alpha: float,
    *,
    until_worse: bool = False,
) -> tuple[IntArray, Array]:
    """Add candidates one by one, each time the one with the highest index.

    Args:
        leaving: (s, m, n) access from each candidate to each pose.
        arriving: (s, m, n) access from each pose to each candidate.
        candidates: (m,) pose numbers, ascending.
        k_max: Number of candidates to add, at most.
        alpha: Penalty for each cluster with only one pose.
        until_worse: Whether to stop when several more have not raised the index.

    Returns:
        (k,) places among the candidates in the order of adding, and the index of
        the first 1, 2, ... of them.
    """
    chosen, indices = np.zeros(0, np.int64), np.full(k_max, -np.inf)
    for k in range(k_max):
        scores = _score_all(leaving, arriving, candidates, chosen, alpha)
        chosen = np.append(chosen, scores.argmax())
        indices[k] = scores.max()
        if until_worse and k - indices[: k + 1].argmax() >= _PATIENCE:
            break
    return chosen, indices[: len(chosen)]


def swap_centroids(
    leaving: Array,
    arriving: Array,
    candidates: IntArray,
    chosen: IntArray,
    alpha: float,
) -> tuple[IntArray, float]:
    """Swap each of the chosen for the best candidate, while the index rises.

    Arguments as in `build_centroids`; `chosen` are places among the candidates.
    """
    chosen = chosen.copy()
    index = -np.inf
    for _ in range(_MOST_ROUNDS):
        before = index
        for turn in range(len(chosen)):
            others = np.delete(chosen, turn)
            scores = _score_all(leaving, arriving, candidates, others, alpha)
            index = float(scores[chosen[turn]])
            if scores.max() > index + _MIN_GAIN:
                chosen[turn], index = scores.argmax(), float(scores.max())
        if index <= before + _MIN_GAIN:
            break
    return chosen, index


@compiled
def _score_all(
    leaving: Array,
    arriving: Array,
    candidates: IntArray,
    chosen: IntArray,
    alpha: float,
) -> Array:
    """Return the index with each candidate added, (m,); -inf for the chosen."""
    scores = np.full(len(candidates), -np.inf)
    is_chosen = np.zeros(len(candidates), np.bool_)
    is_chosen[chosen] = True
    for each in range(len(candidates)):
        if not is_chosen[each]:
            places, total = np.sort(np.append(chosen, each)), 0.0
            for draw in range(len(leaving)):
                total += compute_index(
                    leaving[draw][places],
                    arriving[draw][places],
                    candidates[places],
                    alpha,
                )
            scores[each] = total / len(leaving)
    return scores
