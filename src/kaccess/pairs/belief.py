"""What to believe of pairs that were not estimated.

Gradient-boosted trees learn from the estimated pairs whether a move reaches its goal,
and when: from both poses, their difference, and how often other moves from the one and
to the other did. A fifth of the moves that reached is kept back, to see how far the
times are off.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from threadpoolctl import threadpool_limits

from kaccess.access import accessibility
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import FLOOR

__all__ = ["Belief", "Believed", "believe", "fill_believed", "sample_access"]

_TREES: dict[str, Any] = {
    "max_iter": 100,
    "learning_rate": 0.1,
    "max_leaf_nodes": 31,
    "max_bins": 64,
    "early_stopping": False,
    "random_state": 0,
}
_KEPT_BACK = 5  # one of so many times is kept back
_MANY = 10**6  # pairs; several threads pay off
_PRIOR = 2.0  # weight of the mean share of reached pairs, in pairs
_FEWEST = 50  # pairs to learn from; with fewer, the share of reached ones is believed
_BLOCK = 2**18  # pairs that are predicted at once
_SURE = 1e-6  # smallest probability of a wrong belief
EVEN = 0.5  # probability above which a pair is believed to be reached


class Belief:
    """The probability that a pose reaches another one, and when it does.

    Args:
        times: (n, n) seconds from pose i to pose j; NaN: not estimated.
        features: (n, d) what describes a pose.

    Attributes:
        errors: Differences of logarithms of times that were kept back from predicted.
    """

    def __init__(self, times: Array, features: Array) -> None:
        tried = ~np.isnan(times)
        np.fill_diagonal(tried, False)
        reached = tried & np.isfinite(times)
        self._features = features.astype(np.float32)
        self._mean = float(reached.sum() / max(1, tried.sum()))
        self._into = reached.sum(axis=0), tried.sum(axis=0)
        self._out = reached.sum(axis=1), tried.sum(axis=1)
        self._chance = self._learn_chance(tried, reached)
        self._time, self.errors = self._learn_times(times, reached)

    def _learn_chance(
        self, tried: BoolArray, reached: BoolArray
    ) -> HistGradientBoostingClassifier | None:
        source, goal = np.nonzero(tried)
        hits = reached[source, goal]
        if len(hits) < _FEWEST or hits.all() or not hits.any():
            return None
        # What is learned from must not tell the answer: leave the pair itself out.
        known = self._describe(source, goal, hits.astype(int), 1)
        with _use_threads(len(hits)):
            return HistGradientBoostingClassifier(**_TREES).fit(known, hits)

    def _learn_times(
        self, times: Array, reached: BoolArray
    ) -> tuple[HistGradientBoostingRegressor | float, Array]:
        """Return what predicts logarithms of times, and its errors."""
        source, goal = np.nonzero(reached & (times > 0))
        logs = np.log(times[source, goal])
        if len(logs) < _FEWEST:
            typical = float(np.median(logs)) if len(logs) else float(-np.log(FLOOR))
            return typical, np.append(logs - typical, 0.0)
        known = self._describe(source, goal, 1, 1)
        back = np.arange(len(logs)) % _KEPT_BACK == 0
        with _use_threads(len(logs)):
            model = HistGradientBoostingRegressor(**_TREES)
            model.fit(known[~back], logs[~back])
            return model, logs[back] - model.predict(known[back])

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
        model = self._chance
        if model is None:
            return np.full(len(source), self._mean, np.float32)
        return self._apply(lambda x: model.predict_proba(x)[:, 1], source, goal)

    def predict_times(self, source: IntArray, goal: IntArray) -> Array:
        """Return the seconds of pairs, (b,), float32, if they are reached."""
        model = self._time
        if isinstance(model, float):
            return np.full(len(source), np.exp(model), np.float32)
        return np.asarray(np.exp(self._apply(model.predict, source, goal)))

    def _apply(
        self, predict: Callable[[Array], Array], source: IntArray, goal: IntArray
    ) -> Array:
        """Return predictions of pairs, some pairs at a time, (b,), float32."""
        with _use_threads(len(source)):
            parts = [
                predict(
                    self._describe(source[at : at + _BLOCK], goal[at : at + _BLOCK])
                )
                for at in range(0, len(source), _BLOCK)
            ]
        return np.concatenate([*parts, np.empty(0)]).astype(np.float32)


def _use_threads(n_pairs: int) -> AbstractContextManager[object]:
    """Return a block with one thread if there are few pairs: others would only wait."""
    if n_pairs > _MANY:
        return nullcontext()
    limited: AbstractContextManager[object] = threadpool_limits(1, user_api="openmp")
    return limited


@dataclass(frozen=True)
class Believed:
    """What is known and believed of pairs, arrays of the same shape.

    Args:
        chance: Probability that a pair is reached; 0 or 1 where it is known.
        times: Seconds if it is reached.
        known: Whether the pair was estimated; then `times` is what was measured.
        errors: (e,) errors of the logarithms of times that are not known.
    """

    chance: Array
    times: Array
    known: BoolArray
    errors: Array


def believe(
    times: Array, features: Array, poses: IntArray
) -> tuple[Believed, Believed]:
    """Return whether and when poses, (m,), reach all, and all reach them.

    Args:
        times: (n, n) seconds from pose i to pose j; NaN: not estimated.
        features: (n, d) what describes a pose.
        poses: (m,) poses.

    Returns:
        `(rows, columns)`, (m, n) each.
    """
    belief, n = Belief(times, features), len(times)
    some, every = np.repeat(poses, n), np.tile(np.arange(n), len(poses))
    rows, columns = (
        _believe_pairs(belief, times, source, goal, (len(poses), n))
        for source, goal in ((some, every), (every, some))
    )
    return rows, columns


def _believe_pairs(
    belief: Belief,
    times: Array,
    source: IntArray,
    goal: IntArray,
    shape: tuple[int, int],
) -> Believed:
    """Return what is known and believed of pairs, in arrays of a shape."""
    measured = times[source, goal]
    known = ~np.isnan(measured)
    chance, seconds = np.isfinite(measured).astype(np.float32), measured.copy()
    chance[~known] = belief.predict(source[~known], goal[~known])
    seconds[~known] = belief.predict_times(source[~known], goal[~known])
    return Believed(
        chance.reshape(shape),
        seconds.reshape(shape),
        known.reshape(shape),
        belief.errors,
    )


def sample_access(
    pairs: Believed, rng: np.random.Generator, count: int, *, spread: float = 0.0
) -> Array:
    """Draw accessibilities as they may be, (count, m, n), float32.

    Known pairs are the same in all draws.

    Args:
        pairs: What is believed of pairs, (m, n).
        rng: Draws.
        count: Number of draws.
        spread: Standard deviation of the log odds of a row: trees that are too hopeful
            of one move of a pose are too hopeful of its other moves as well.
    """
    drawn = np.empty((count, *pairs.chance.shape), np.float32)
    measured = accessibility(pairs.times)
    odds = pairs.chance / np.maximum(1 - pairs.chance, _SURE)
    for access in drawn:
        changed = odds * np.exp(spread * rng.standard_normal((len(odds), 1)))
        reached = rng.random(access.shape, np.float32) < changed / (1 + changed)
        errors = rng.choice(pairs.errors.astype(np.float32), access.shape)
        times = np.where(reached, pairs.times * np.exp(errors), np.inf)
        access[:] = np.where(pairs.known, measured, accessibility(times))
    return drawn


def fill_believed(times: Array, features: Array, poses: IntArray) -> Array:
    """Return all accessibilities, (n, n), those of some poses as they are believed.

    A pair from or to these poses is reached, at the time that is predicted, if its
    probability is above one half. Pairs that are neither estimated nor from or to
    these poses are not reached.
    """
    access = accessibility(np.where(np.isnan(times), np.inf, times))
    if len(poses):
        rows, columns = believe(times, features, poses)
        access[poses] = _fill_likely(rows)
        unknown = np.isnan(times[:, poses])
        access[:, poses] = np.where(unknown, _fill_likely(columns).T, access[:, poses])
    return access


def _fill_likely(pairs: Believed) -> Array:
    """Return accessibilities of what is likelier than not."""
    return accessibility(np.where(pairs.chance > EVEN, pairs.times, np.inf))
