"""Times until an event, where some runs end before it: survival estimates.

A run that ends without the event is censored: its event comes later than its end, if at
all. The Kaplan-Meier estimate of the share of runs still without the event uses such
runs for as long as they were watched. Its area up to a horizon is the restricted mean:
the mean time until the event, where at most the horizon counts.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from kaccess.base.stats import Interval, bootstrap_samples
from kaccess.base.types import Array, BoolArray, IntArray

__all__ = [
    "Durations",
    "compare_restricted_means",
    "estimate_restricted_mean",
    "find_restricted_mean",
    "find_p_value",
]

_N_PERMUTATIONS = 9999


@dataclass(frozen=True, eq=False)
class Durations:
    """Times until an event in n runs.

    Args:
        times: (n,) time of the event, or of the end of a run without one.
        happened: (n,) whether the event happened; otherwise the run is censored.
    """

    times: Array
    happened: BoolArray

    def __len__(self) -> int:
        return len(self.times)

    def __add__(self, other: "Durations") -> "Durations":
        """Return the runs of both."""
        return Durations(
            np.concatenate([self.times, other.times]),
            np.concatenate([self.happened, other.happened]),
        )

    def __getitem__(self, rows: IntArray) -> "Durations":
        """Return some of the runs, in the shape of `rows`."""
        return Durations(self.times[rows], self.happened[rows])

    def count_until(self, horizon: float) -> int:
        """Return the number of runs with the event by a horizon."""
        return int((self.happened & (self.times <= horizon)).sum())


def find_restricted_mean(runs: Durations, horizon: float) -> Array:
    """Return the area under the Kaplan-Meier estimate up to a horizon.

    It is computed along the last axis, for all resamples of a bootstrap at once. Beyond
    the last run the estimate stays where it is.

    Args:
        runs: (..., n) runs.
        horizon: End of the area.

    Returns:
        (...) restricted means.
    """
    # A censored run is still watched at its time, so events at that time come first.
    order = np.lexsort((~runs.happened, runs.times), axis=-1)
    times = np.take_along_axis(runs.times, order, axis=-1)
    happened = np.take_along_axis(runs.happened, order, axis=-1)
    n_watched = np.arange(times.shape[-1], 0, -1)
    without = np.cumprod(1.0 - happened / n_watched, axis=-1)
    ends = np.minimum(times, horizon)
    widths = np.diff(ends, axis=-1, append=horizon)
    return np.asarray(ends[..., 0] + (without * widths).sum(axis=-1))


def estimate_restricted_mean(
    runs: Durations, horizon: float, *, rng: np.random.Generator
) -> Interval:
    """Return the restricted mean and its bootstrap interval over runs."""

    def apply(rows: IntArray, axis: int = -1) -> Array:
        return find_restricted_mean(runs[rows], horizon)

    return bootstrap_samples([np.arange(len(runs))], apply, rng=rng, vectorized=True)


def compare_restricted_means(
    one: Durations, two: Durations, horizon: float, *, rng: np.random.Generator
) -> Interval:
    """Return the ratio of two restricted means and its bootstrap interval over runs."""

    def ratio(rows: IntArray, others: IntArray, axis: int = -1) -> Array:
        return np.exp(_find_log_ratio(one[rows], two[others], horizon))

    samples = [np.arange(len(one)), np.arange(len(two))]
    return bootstrap_samples(samples, ratio, rng=rng, vectorized=True)


def find_p_value(
    one: Durations, two: Durations, horizon: float, *, rng: np.random.Generator
) -> float:
    """Return the p-value of two restricted means being equal; NaN for a single run.

    A permutation test: runs are shuffled between the two groups, and p is the share of
    shuffles whose log ratio of restricted means is at least as far from 0. It tests the
    number that the tables show, and with few runs it is exact. A logrank test would
    compare hazards instead, and its p-values hold for many runs only.
    """
    if min(len(one), len(two)) < 2:
        return float("nan")
    both = one + two

    def log_ratio(rows: IntArray, others: IntArray, axis: int = -1) -> Array:
        return _find_log_ratio(both[rows], both[others], horizon)

    rows = np.arange(len(both))
    found = stats.permutation_test(
        (rows[: len(one)], rows[len(one) :]),
        log_ratio,
        vectorized=True,
        n_resamples=_N_PERMUTATIONS,
        rng=rng,
    )
    return float(found.pvalue)


def _find_log_ratio(one: Durations, two: Durations, horizon: float) -> Array:
    """Return the logarithm of the ratio of restricted means."""
    return np.log(
        find_restricted_mean(one, horizon) / find_restricted_mean(two, horizon)
    )
