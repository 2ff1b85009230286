"""Statistics of a few runs: estimates with confidence intervals.

Scores have the shape (n_runs, n_tasks): runs of one method, such as seeds, on several
tasks. Intervals are percentile intervals of a bootstrap that resamples the runs of each
task (stratified).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from kaccess.base.types import Array

__all__ = [
    "Interval",
    "bootstrap",
    "bootstrap_samples",
    "correct_p_values",
    "probability_of_improvement",
    "share_over_runs",
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


def share_over_runs(
    n_hits: Sequence[int],
    n: Sequence[int],
    *,
    confidence: float = _CONFIDENCE,
    n_resamples: int = _N_RESAMPLES,
) -> Interval:
    """Return the share of hits over all runs, with an interval over runs and trials.

    Trials of one run are more alike than trials of two runs. So the bootstrap is
    hierarchical: it resamples runs first, then the trials within each run. The interval
    is at least as wide as Wilson's for all trials together, because resamples of runs
    that are all at 0 or 1 do not vary. One run has a Wilson interval.

    With few runs this interval is too narrow, as every bootstrap is: show the number of
    runs and the worst run beside it.

    Args:
        n_hits: Hits of each run, such as a seed.
        n: Trials of each run, such as test poses.
        confidence: Confidence level of the interval.
        n_resamples: Number of resamples.
    """
    if len(n) == 1:
        return wilson(n_hits[0], n[0], confidence=confidence)
    rng = np.random.default_rng(0)
    hits, trials = np.asarray(n_hits), np.asarray(n)
    runs = rng.integers(len(trials), size=(n_resamples, len(trials)))
    resampled = rng.binomial(trials[runs], (hits / trials)[runs])
    shares = resampled.sum(axis=1) / trials[runs].sum(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(shares, [tail, 1 - tail]).tolist()
    pooled = wilson(int(hits.sum()), int(trials.sum()), confidence=confidence)
    return Interval(pooled.value, min(low, pooled.low), max(high, pooled.high))


def correct_p_values(p_values: Sequence[float]) -> list[float]:
    """Return p-values of several comparisons made at once, corrected by Holm's method.

    The smallest of m is multiplied by m, the next by m - 1, and so on; none becomes
    smaller than the one before it, or larger than 1. NaN stays NaN and does not count.
    """
    p = np.asarray(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    corrected = np.full(len(p), np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return [float(each) for each in corrected]


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

    return bootstrap_samples(
        tasks, apply, rng=rng, confidence=confidence, n_resamples=n_resamples
    )


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

    return bootstrap_samples(
        [*first, *second],
        chance,
        rng=rng,
        confidence=confidence,
        n_resamples=n_resamples,
    )


def bootstrap_samples(
    samples: Sequence[np.ndarray],
    statistic: Callable[..., Any],
    *,
    rng: np.random.Generator,
    confidence: float = _CONFIDENCE,
    n_resamples: int = _N_RESAMPLES,
    vectorized: bool = False,
) -> Interval:
    """Return a statistic of several samples with its bootstrap interval.

    Each sample is resampled independently. If one has only one run, the interval is
    NaN.

    Args:
        samples: (n_runs,) each.
        statistic: Function of as many arrays.
        rng: Generator of the resamples.
        confidence: Confidence level of the interval.
        n_resamples: Number of resamples.
        vectorized: Whether the statistic takes all resamples at once, and `axis`.
    """
    value = float(statistic(*samples))
    if min(map(len, samples)) < 2:
        return Interval(value, np.nan, np.nan)
    found = stats.bootstrap(
        samples,
        statistic,
        n_resamples=n_resamples,
        confidence_level=confidence,
        method="percentile",
        vectorized=vectorized,
        rng=rng,
    ).confidence_interval
    return Interval(value, float(found.low), float(found.high))


def _split_tasks(scores: ArrayLike) -> list[Array]:
    """Return the scores of each task, (n_runs,) each."""
    table = np.asarray(scores, dtype=np.float64)
    return list(np.atleast_2d(table.T))


def _share_of_wins(one: Array, two: Array) -> float:
    """Return the share of pairs in which `one` is larger; ties count half."""
    difference = one[:, None] - two[None, :]
    return float((difference > 0).mean() + (difference == 0).mean() / 2)
