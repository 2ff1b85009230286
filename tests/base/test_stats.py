"""Statistics of a few runs: hand-solved values, known intervals, invariants."""

import numpy as np
import pytest

from kaccess.base.stats import (
    Interval,
    bootstrap,
    correct_p_values,
    probability_of_improvement,
    share_over_runs,
    wilson,
)


def make_rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (497, 500, 0.98251, 0.99796),
        (0, 10, 0.0, 0.27753),
        (10, 10, 0.72247, 1.0),
    ],
)
def test_wilson_equals_hand_solved_values(hits, n, low, high):
    """From the formula (p + z^2/2n -+ z sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)."""
    found = wilson(hits, n)
    assert found.value == hits / n
    assert found.low == pytest.approx(low, abs=1e-5)
    assert found.high == pytest.approx(high, abs=1e-5)


def test_one_run_has_the_wilson_interval():
    assert share_over_runs([497], [500]) == wilson(497, 500)


def test_the_interval_over_runs_sees_that_one_of_five_failed():
    """All poses pooled would give 78.2 to 81.3 %.

    Of five resampled runs, at most three are the failed one in 97.5 % of resamples
    (probability of more: 0.7 %), and at least none is (of none: 33 %).
    """
    found = share_over_runs([499, 0, 500, 498, 498], [500] * 5)
    assert found.value == pytest.approx(1995 / 2500)
    assert found.low == pytest.approx(0.4, abs=0.01)
    assert found.high == pytest.approx(1.0, abs=0.01)


def test_two_opposite_runs_leave_everything_open():
    """Both resamples fail, or both succeed, with a probability of 1/4 each."""
    found = share_over_runs([0, 10**6], [10**6] * 2)
    assert (found.value, found.low, found.high) == pytest.approx((0.5, 0, 1), abs=1e-5)


def test_runs_that_are_alike_have_nearly_the_pooled_interval():
    found, pooled = share_over_runs([450] * 20, [500] * 20), wilson(9000, 10_000)
    assert found.low == pytest.approx(pooled.low, abs=0.002)
    assert found.high == pytest.approx(pooled.high, abs=0.002)


def test_runs_at_0_or_1_have_an_interval_that_contains_them():
    none, all_ = share_over_runs([0] * 5, [500] * 5), share_over_runs([9, 9], [9, 9])
    assert none == wilson(0, 2500)
    assert all_ == wilson(18, 18)


def test_larger_runs_count_for_more():
    assert share_over_runs([0, 90], [10, 90]).value == 0.9


def test_holm_equals_hand_solved_values():
    """Sorted 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1: 0.04, 0.06, 0.06, 0.06."""
    found = correct_p_values([0.04, 0.01, 0.03, 0.02])
    assert found == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert correct_p_values([0.6, 0.7]) == [1.0, 1.0]
    assert correct_p_values([0.03]) == [0.03]
    assert correct_p_values([]) == []


def test_unknown_p_values_are_not_comparisons():
    found = correct_p_values([np.nan, 0.02, 0.03])
    assert np.isnan(found[0])
    assert found[1:] == pytest.approx([0.04, 0.04])


def test_text_shows_the_interval_if_there_is_one():
    assert Interval(0.5, 0.25, 0.75).text(".2f") == "0.50 (0.25 to 0.75)"
    assert Interval(0.5, 0.25, 0.75).text(".0%") == "50% (25% to 75%)"
    assert Interval(0.5, np.nan, np.nan).text(".2f") == "0.50"


def test_bootstrap_resamples_runs_within_tasks():
    """The two tasks differ in scale: mixing them would widen the interval."""
    scores = np.array([[0.0, 100.0], [0.0, 100.0], [1.0, 100.0]])
    found = bootstrap(scores, np.mean, rng=make_rng())
    assert found.value == pytest.approx(scores.mean())
    assert 50.0 <= found.low < found.value < found.high <= 50.5


def test_bootstrap_interval_contains_the_mean_at_its_confidence():
    draws = make_rng()
    covered = []
    for _ in range(200):
        found = bootstrap(draws.normal(size=30), np.mean, rng=draws, n_resamples=300)
        covered.append(found.low < 0.0 < found.high)
    assert 0.88 < np.mean(covered) < 0.98


def test_bootstrap_depends_on_the_generator_alone():
    scores = [1.0, 2.0, 4.0, 8.0, 9.0]
    assert bootstrap(scores, np.mean, rng=make_rng()) == bootstrap(
        scores, np.mean, rng=make_rng()
    )
    other = bootstrap(scores, np.mean, rng=np.random.default_rng(1), n_resamples=50)
    assert other != bootstrap(scores, np.mean, rng=make_rng(), n_resamples=50)


def test_one_run_has_no_interval():
    found = bootstrap([3.0], np.mean, rng=make_rng())
    assert found.value == 3.0
    assert np.isnan(found.low) and np.isnan(found.high)


def test_probability_of_improvement_equals_a_hand_solved_value():
    """3 beats 1 and 2; 2 beats 1 and ties with 2: 3.5 of 4 pairs."""
    found = probability_of_improvement([3.0, 2.0], [1.0, 2.0], rng=make_rng())
    assert found.value == 3.5 / 4
    assert found.low <= found.value <= found.high == 1.0


def test_probability_of_improvement_is_the_mean_over_tasks():
    one = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    two = [[0.0, 1.0], [0.0, 1.0]]
    assert probability_of_improvement(one, two, rng=make_rng()).value == 0.5


def test_probabilities_of_two_methods_sum_to_1():
    one, two = make_rng().normal(size=8), make_rng().normal(size=5) + 1.0
    there = probability_of_improvement(one, two, rng=make_rng()).value
    back = probability_of_improvement(two, one, rng=make_rng()).value
    assert there + back == pytest.approx(1.0)
