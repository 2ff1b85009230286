"""Candidates for centroids: the poses that the fewest poses reach.

All poses are tried from a few random ones. Then trees predict from how many poses each
one is reached (`belief`); with few pairs, the tries are counted instead. Those with the
lowest numbers are tried from more poses, half of them the likeliest to reach them, and
so on: fewer and fewer, tried more and more.
"""

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.pairs.belief import Belief
from kaccess.pairs.lazy import LazyPairs

__all__ = ["find_candidates"]

_FIRST = 0.4  # share of the pairs for random tries of all poses
_STEPS = ((0.4, 0.2), (0.25, 0.2), (0.15, 0.2))  # share of the poses kept, of the pairs
_ENOUGH = 2000  # pairs from which trees learn more than is counted
_SAMPLED = 300  # poses whose moves are predicted, to estimate how many reach a pose


def find_candidates(
    pairs: LazyPairs,
    features: Array,
    n_wanted: int,
    room: int,
    rng: np.random.Generator,
) -> IntArray:
    """Return the poses that the fewest poses reach, ascending.

    Args:
        pairs: Pairs to ask.
        features: (n, d) what describes a pose.
        n_wanted: Number of candidates.
        room: Number of pairs that may be asked.
        rng: Draws the poses from which others are tried.
    """
    n = len(pairs)
    first = max(2, int(_FIRST * room / n))
    sources = rng.permuted(np.tile(np.arange(n), (n, 1)), axis=1)[:, :first]
    pairs.ask(sources.ravel(), np.repeat(np.arange(n), first))
    alive: IntArray = np.arange(n)
    for kept, share in _STEPS:
        wanted = max(n_wanted, int(kept * n))
        if wanted < len(alive):
            alive = _keep_lowest(pairs, features, alive, wanted, rng)
            _try_more(pairs, features, alive, int(share * room / len(alive)), rng)
    return _keep_lowest(pairs, features, alive, n_wanted, rng)


def _keep_lowest(
    pairs: LazyPairs,
    features: Array,
    poses: IntArray,
    count: int,
    rng: np.random.Generator,
) -> IntArray:
    """Return so many of the poses, those that the fewest are believed to reach."""
    tries = (~np.isnan(pairs.times[:, poses])).sum(axis=0)
    expected = np.isfinite(pairs.times[:, poses]).sum(axis=0).astype(np.float64)
    if pairs.n_asked < _ENOUGH:
        expected /= tries
    else:
        sources = _draw(pairs, rng)
        chance = _predict(pairs, features, sources, poses)
        unknown = np.isnan(pairs.times[np.ix_(sources, poses)])
        rate = (chance * unknown).sum(axis=0) / np.maximum(1, unknown.sum(axis=0))
        expected += (len(pairs) - tries) * rate
    return np.sort(poses[np.argsort(expected, kind="stable")[:count]])


def _try_more(
    pairs: LazyPairs,
    features: Array,
    poses: IntArray,
    count: int,
    rng: np.random.Generator,
) -> None:
    """Try each pose from more others: half of them likely to reach it."""
    sources = _draw(pairs, rng)
    unknown = np.isnan(pairs.times[np.ix_(sources, poses)])
    chance = np.zeros(unknown.shape)  # nothing is likelier than the rest
    if pairs.n_asked >= _ENOUGH:
        chance = _predict(pairs, features, sources, poses)
    likely = np.argsort(-np.where(unknown, chance, -1.0), axis=0, kind="stable")
    half = count // 2
    # The rest of the sample is in random order.
    order = np.concatenate([likely[:half], np.sort(likely[half:], axis=0)])[:count]
    pairs.ask(sources[order].T.ravel(), np.repeat(poses, len(order)))


def _draw(pairs: LazyPairs, rng: np.random.Generator) -> IntArray:
    """Return some poses in random order."""
    return rng.permutation(len(pairs))[:_SAMPLED]


def _predict(
    pairs: LazyPairs, features: Array, sources: IntArray, goals: IntArray
) -> Array:
    """Return the probabilities that some poses reach others, (s, g)."""
    belief = Belief(pairs.times, features)
    found = belief.predict(np.repeat(sources, len(goals)), np.tile(goals, len(sources)))
    return found.reshape(len(sources), len(goals))
