"""What to believe of pairs that were not estimated.

Gradient-boosted trees learn from the estimated pairs whether a move reaches its goal:
from both poses, their difference, and how often other moves from the one and to the
other did. A pair that is believed to be reached gets the median accessibility.
"""

from contextlib import AbstractContextManager, nullcontext

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from kaccess.access import accessibility
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import FLOOR

__all__ = ["Belief", "believe", "fill_access", "fill_believed"]

_TREES, _RATE, _LEAVES, _BINS = 100, 0.1, 31, 64
_MANY = 10**6  # pairs; several threads pay off
_PRIOR = 2.0  # weight of the mean share of reached pairs, in pairs
_FEWEST = 50  # pairs to learn from; with fewer, the share of reached ones is believed
_BLOCK = 2**18  # pairs that are predicted at once
EVEN = 0.5  # probability above which a pair is believed to be reached


class Belief:
    """The probability that a pose reaches another one.

    Args:
        times: (n, n) seconds from pose i to pose j; NaN: not estimated.
        features: (n, d) what describes a pose.
    """

    def __init__(self, times: Array, features: Array) -> None:
        tried = ~np.isnan(times)
        np.fill_diagonal(tried, False)
        reached = tried & np.isfinite(times)
        self._features = features.astype(np.float32)
        self._mean = float(reached.sum() / max(1, tried.sum()))
        self._into = reached.sum(axis=0), tried.sum(axis=0)
        self._out = reached.sum(axis=1), tried.sum(axis=1)
        self._model = self._learn(tried, reached)

    def _learn(
        self, tried: BoolArray, reached: BoolArray
    ) -> HistGradientBoostingClassifier | None:
        source, goal = np.nonzero(tried)
        hits = reached[source, goal]
        if len(hits) < _FEWEST or hits.all() or not hits.any():
            return None
        # What is learned from must not tell the answer: leave the pair itself out.
        known = self._describe(source, goal, hits.astype(int), 1)
        model = HistGradientBoostingClassifier(
            max_iter=_TREES,
            learning_rate=_RATE,
            max_leaf_nodes=_LEAVES,
            max_bins=_BINS,
            early_stopping=False,
            random_state=0,
        )
        with _use_threads(len(hits)):
            return model.fit(known, hits)

    def _describe(
        self,
        source: IntArray,
        goal: IntArray,
        hits: IntArray | int = 0,
        tries: int = 0,
    ) -> Array:
        """Return the features of pairs, (b, f), without their own hits and tries."""
        rates = [
            (n_hits[pose] - hits + _PRIOR * self._mean)
            / (n_tries[pose] - tries + _PRIOR)
            for (n_hits, n_tries), pose in ((self._into, goal), (self._out, source))
        ]
        start, end = self._features[source], self._features[goal]
        return np.column_stack([start, end, end - start, *rates]).astype(np.float32)

    def predict(self, source: IntArray, goal: IntArray) -> Array:
        """Return the probabilities of pairs, (b,), float32."""
        if self._model is None:
            return np.full(len(source), self._mean, np.float32)
        with _use_threads(len(source)):
            parts = [
                self._model.predict_proba(
                    self._describe(source[at : at + _BLOCK], goal[at : at + _BLOCK])
                )[:, 1]
                for at in range(0, len(source), _BLOCK)
            ]
        return np.concatenate(parts).astype(np.float32)


def _use_threads(n_pairs: int) -> AbstractContextManager[object]:
    """Return a block with one thread if there are few pairs: others would only wait."""
    if n_pairs > _MANY:
        return nullcontext()
    limited: AbstractContextManager[object] = threadpool_limits(1, user_api="openmp")
    return limited


def believe(times: Array, features: Array, poses: IntArray) -> tuple[Array, Array]:
    """Return the probability that poses, (m,), reach all, and that all reach them.

    Args:
        times: (n, n) seconds from pose i to pose j; NaN: not estimated.
        features: (n, d) what describes a pose.
        poses: (m,) poses.

    Returns:
        `(rows, columns)`, (m, n) each; 0 or 1 where the pair is estimated.
    """
    belief, n = Belief(times, features), len(times)
    some, every = np.repeat(poses, n), np.tile(np.arange(n), len(poses))
    found = []
    for source, goal in ((some, every), (every, some)):
        chance, known = belief.predict(source, goal), times[source, goal]
        sure = np.isfinite(known).astype(np.float32)
        chance = np.where(np.isnan(known), chance, sure)
        found.append(chance.reshape(len(poses), n))
    return found[0], found[1]


def fill_access(times: Array, chance: Array, bar: float) -> Array:
    """Return accessibilities; those not estimated by the probability to be reached.

    Args:
        times: Seconds; NaN: not estimated.
        chance: Probability that a pair is reached, in the shape of `times`.
        bar: Probability above which a pair counts as reached.
    """
    reached = times[np.isfinite(times) & (times > 0)]
    typical = np.exp(-np.median(reached)) if len(reached) else FLOOR
    believed = np.where(chance > bar, typical, FLOOR).astype(np.float32)
    return np.where(np.isnan(times), believed, accessibility(times))


def fill_believed(times: Array, features: Array, poses: IntArray) -> Array:
    """Return all accessibilities, (n, n), those of some poses as they are believed.

    Pairs that are neither estimated nor from or to these poses are not reached.
    """
    access = fill_access(times, np.zeros_like(times), 1.0)
    if len(poses):
        rows, columns = believe(times, features, poses)
        access[poses] = fill_access(times[poses], rows, EVEN)
        arriving = fill_access(times[:, poses], columns.T, EVEN)
        unknown = np.isnan(times[:, poses])
        access[:, poses] = np.where(unknown, arriving, access[:, poses])
    return access
