"""Statistics of a few runs: hand-solved values, known intervals, invariants."""

import numpy as np
import pytest

from kaccess.base.stats import (
    Interval,
    bootstrap,
    probability_of_improvement,
    ratio_of_means,
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


def test_ratio_of_means_equals_a_hand_solved_value():
    """Means 20 and 40; resampled means of the first range from 10 to 30."""
    found = ratio_of_means([10.0, 20.0, 30.0], [40.0, 40.0], rng=make_rng())
    assert found.value == 0.5
    assert 0.25 <= found.low < 0.5 < found.high <= 0.75


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
