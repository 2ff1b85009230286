"""Statistics of a few runs: estimates with confidence intervals.

Scores have the shape (n_runs, n_tasks): runs of one method, such as seeds, on several
tasks. Intervals are percentile intervals of a bootstrap that resamples the runs of each
task (stratified).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from kaccess.base.types import Array

__all__ = [
    "Interval",
    "bootstrap",
    "probability_of_improvement",
    "ratio_of_means",
    "wilson",
]

_CONFIDENCE = 0.95
_N_RESAMPLES = 2000


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval.

    Args:
        value: Estimate from all runs.
        low: Lower end of the interval.
        high: Upper end of the interval.
    """

    value: float
    low: float
    high: float

    def text(self, form: str) -> str:
        """Return the estimate and its interval in a format such as `.2f` or `.1%`.

        If there is no interval, as for a single run, return the estimate alone.
        """
        if not np.isfinite(self.low):
            return f"{self.value:{form}}"
        return f"{self.value:{form}} ({self.low:{form}} to {self.high:{form}})"


def wilson(n_hits: int, n: int, *, confidence: float = _CONFIDENCE) -> Interval:
    """Return the share n_hits / n with its Wilson interval.

    This interval is valid for shares near 0 or 1 too.
    """
    found = stats.binomtest(n_hits, n).proportion_ci(confidence, method="wilson")
    return Interval(n_hits / n, float(found.low), float(found.high))


def bootstrap(
    scores: ArrayLike,
    statistic: Callable[[Array], float],
    *,
    rng: np.random.Generator,
    confidence: float = _CONFIDENCE,
    n_resamples: int = _N_RESAMPLES,
) -> Interval:
    """Return a statistic of scores with its bootstrap interval.

    Args:
        scores: (n_runs,) or (n_runs, n_tasks); runs are resampled within each task.
        statistic: Function of an (n_runs, n_tasks) array of scores.
        rng: Generator of the resamples.
        confidence: Confidence level of the interval.
        n_resamples: Number of resamples.
    """
    tasks = _split_tasks(scores)

    def apply(*resampled: Array) -> float:
        return statistic(np.stack(resampled, axis=1))

    return _bootstrap(tasks, apply, rng, confidence, n_resamples)


def probability_of_improvement(
    scores: ArrayLike,
    others: ArrayLike,
    *,
    rng: np.random.Generator,
    confidence: float = _CONFIDENCE,
    n_resamples: int = _N_RESAMPLES,
) -> Interval:
    """Return the probability that a run of one method beats a run of another method.

    Args:
        scores: (n_runs,) or (n_runs, n_tasks) scores of the first method.
        others: Scores of the other method; the number of runs may differ.
        rng: Generator of the resamples; runs of both methods are resampled.
        confidence: Confidence level of the interval.
        n_resamples: Number of resamples.
    """
    first, second = _split_tasks(scores), _split_tasks(others)

    def chance(*resampled: Array) -> float:
        pairs = zip(resampled[: len(first)], resampled[len(first) :], strict=True)
        return float(np.mean([_share_of_wins(one, two) for one, two in pairs]))

    return _bootstrap([*first, *second], chance, rng, confidence, n_resamples)


def ratio_of_means(
    scores: ArrayLike, others: ArrayLike, *, rng: np.random.Generator
) -> Interval:
    """Return the ratio of the means of two arrays of scores, (n_runs,) each."""
    samples = [np.array(each, dtype=np.float64) for each in (scores, others)]

    def ratio(one: Array, two: Array) -> float:
        return float(one.mean() / two.mean())

    return _bootstrap(samples, ratio, rng, _CONFIDENCE, _N_RESAMPLES)


def _split_tasks(scores: ArrayLike) -> list[Array]:
    """Return the scores of each task, (n_runs,) each."""
    table = np.asarray(scores, dtype=np.float64)
    return list(np.atleast_2d(table.T))


def _share_of_wins(one: Array, two: Array) -> float:
    """Return the share of pairs in which `one` is larger; ties count half."""
    difference = one[:, None] - two[None, :]
    return float((difference > 0).mean() + (difference == 0).mean() / 2)


def _bootstrap(
    samples: Sequence[Array],
    statistic: Callable[..., float],
    rng: np.random.Generator,
    confidence: float,
    n_resamples: int,
) -> Interval:
    """Return a statistic of several samples with its bootstrap interval.

    Each sample is resampled independently. If one has only one run, the interval is
    NaN.
    """
    value = statistic(*samples)
    if min(map(len, samples)) < 2:
        return Interval(value, np.nan, np.nan)
    found = stats.bootstrap(
        samples,
        statistic,
        n_resamples=n_resamples,
        confidence_level=confidence,
        method="percentile",
        vectorized=False,
        rng=rng,
    ).confidence_interval
    return Interval(value, float(found.low), float(found.high))
