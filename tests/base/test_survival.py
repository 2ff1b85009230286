"""Survival estimates: hand-solved runs, scipy's Kaplan-Meier estimate as an oracle."""

import numpy as np
import pytest
from scipy import stats

from kaccess.base.survival import (
    Durations,
    compare_restricted_means,
    estimate_restricted_mean,
    find_p_value,
    find_restricted_mean,
)


def runs(*times):
    """Return runs; a negative time is that of a censored run."""
    table = np.array(times, dtype=float)
    return Durations(np.abs(table), table > 0)


def make_rng():
    return np.random.default_rng(0)


# Five seeds: events after 10, 20 and 40 episodes, one watched up to 20, one up to 30.
# Share without the event: 1 until 10, 4/5 until 20, 4/5 * 3/4 = 3/5 until 40, then 0
# (at 40 one is left). The run that ends at 20 is still watched at 20.
FIVE = runs(10, 20, -20, -30, 40)


@pytest.mark.parametrize(
    ("horizon", "mean"),
    [
        (5, 5.0),
        (10, 10.0),
        (20, 10 + 0.8 * 10),
        (30, 10 + 0.8 * 10 + 0.6 * 10),
        (40, 10 + 0.8 * 10 + 0.6 * 20),
        (50, 10 + 0.8 * 10 + 0.6 * 20),
    ],
)
def test_restricted_mean_equals_hand_solved_values(horizon, mean):
    assert find_restricted_mean(FIVE, horizon) == pytest.approx(mean)


def test_censored_runs_count_for_more_than_their_end():
    """Counted with their last episode, the five would have a mean of 24, not 30."""
    assert FIVE.times.mean() == 24
    assert find_restricted_mean(FIVE, 40) == pytest.approx(30)


def test_runs_watched_to_the_horizon_have_a_plain_mean():
    found = find_restricted_mean(runs(10, 30, -50, -50), 50)
    assert found == pytest.approx((10 + 30 + 50 + 50) / 4)
    found = find_restricted_mean(runs(10, 30, 60, -80), 50)  # later: not yet at 50
    assert found == pytest.approx((10 + 30 + 50 + 50) / 4)


def test_restricted_mean_equals_the_area_of_scipys_estimate():
    rng = make_rng()
    times = rng.integers(1, 12, size=(40, 9)).astype(float)
    happened = rng.random(times.shape) < 0.6
    horizon = 11.0
    found = find_restricted_mean(Durations(times, happened), horizon)
    for each, did, mean in zip(times, happened, found, strict=True):
        data = stats.CensoredData(uncensored=each[did], right=each[~did])
        survival = stats.ecdf(data).sf
        starts = np.arange(0.0, horizon, 0.5)  # it only changes at whole numbers
        assert mean == pytest.approx(0.5 * survival.evaluate(starts).sum())


def test_the_order_of_runs_does_not_matter():
    rows = make_rng().permutation(5)
    assert find_restricted_mean(FIVE[rows], 35) == find_restricted_mean(FIVE, 35)


def test_events_are_counted_up_to_the_horizon():
    assert [FIVE.count_until(end) for end in (9, 10, 30, 40)] == [0, 1, 2, 3]


def test_the_interval_of_a_restricted_mean_spans_its_resamples():
    found = estimate_restricted_mean(runs(10, 20, 30), 50, rng=make_rng())
    assert found.value == pytest.approx(20)
    assert 10 <= found.low < 20 < found.high <= 30
    alone = estimate_restricted_mean(runs(10), 50, rng=make_rng())
    assert alone.value == 10 and np.isnan(alone.low)


def test_the_ratio_equals_a_hand_solved_value():
    """Means 20 and 40; resampled means of the first range from 10 to 30."""
    one, two = runs(10, 20, 30), runs(40, -40)
    found = compare_restricted_means(one, two, 40, rng=make_rng())
    assert found.value == pytest.approx(0.5)
    assert 0.25 <= found.low < 0.5 < found.high <= 0.75


def test_p_value_of_separate_groups_is_that_of_all_shuffles():
    """Of the 20 ways to divide six runs, two are as extreme: p = 0.1."""
    found = find_p_value(runs(1, 2, 3), runs(10, 11, -12), 12, rng=make_rng())
    assert found == pytest.approx(0.1)


def test_p_value_of_equal_groups_is_1():
    assert find_p_value(FIVE, FIVE, 40, rng=make_rng()) == 1.0
    never = runs(-40, -40, -40)
    assert find_p_value(never, never, 40, rng=make_rng()) == 1.0


def test_one_run_has_no_p_value():
    assert np.isnan(find_p_value(runs(10), FIVE, 40, rng=make_rng()))
