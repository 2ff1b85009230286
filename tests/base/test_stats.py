"""Statistics of few runs: hand-solved values, known intervals, and what must hold."""

import numpy as np
import pytest

from kaccess.base.stats import (
    bootstrap,
    interquartile_mean,
    probability_of_improvement,
    wilson,
)


def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [
        (497, 500, 0.98251, 0.99796),  # worked out by hand from the formula
        (0, 10, 0.0, 0.27753),
        (10, 10, 0.72247, 1.0),
    ],
)
def test_wilson_by_hand(hits, n, low, high):
    z = 1.959964
    share, shrink = hits / n, 1 / (1 + z**2 / n)
    half = shrink * z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    centre = shrink * (share + z**2 / (2 * n))
    found = wilson(hits, n)
    assert found.value == share
    assert found.low == pytest.approx(low, abs=1e-4)
    assert found.high == pytest.approx(high, abs=1e-4)
    assert found.low == pytest.approx(centre - half, abs=1e-6)
    assert found.high == pytest.approx(centre + half, abs=1e-6)


def test_interquartile_mean_leaves_out_both_quarters():
    assert interquartile_mean([100, 1, 2, -50]) == 1.5
    assert interquartile_mean([[1, 2, 3, 4], [5, 6, 7, 80]]) == 4.5


def test_bootstrap_resamples_runs_within_tasks():
    """Two tasks of different scale: mixing them would spread the mean widely."""
    scores = np.array([[0.0, 100.0], [0.0, 100.0], [1.0, 100.0]])
    found = bootstrap(scores, np.mean, rng=rng())
    assert found.value == pytest.approx(scores.mean())
    assert 50.0 <= found.low < found.value < found.high <= 50.5


def test_bootstrap_covers_the_mean_as_often_as_it_says():
    draws = rng()
    covered = []
    for _ in range(200):
        found = bootstrap(draws.normal(size=30), np.mean, rng=draws, n_resamples=300)
        covered.append(found.low < 0.0 < found.high)
    assert 0.88 < np.mean(covered) < 0.98


def test_the_generator_decides_and_is_the_only_chance():
    scores = [1.0, 2.0, 4.0, 8.0, 9.0]
    assert bootstrap(scores, rng=rng()) == bootstrap(scores, rng=rng())
    other = bootstrap(scores, rng=np.random.default_rng(1), n_resamples=50)
    assert other != bootstrap(scores, rng=rng(), n_resamples=50)


def test_one_run_has_no_interval():
    found = bootstrap([3.0], rng=rng())
    assert found.value == 3.0
    assert np.isnan(found.low) and np.isnan(found.high)


def test_probability_of_improvement_by_hand():
    """3 beats 1 and 2, 2 beats 1 and ties 2: 3.5 of 4 pairs."""
    found = probability_of_improvement([3.0, 2.0], [1.0, 2.0], rng=rng())
    assert found.value == 3.5 / 4
    assert found.low <= found.value <= found.high == 1.0


def test_probability_of_improvement_is_the_mean_over_tasks():
    one = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]
    two = [[0.0, 1.0], [0.0, 1.0]]
    assert probability_of_improvement(one, two, rng=rng()).value == 0.5


def test_sides_mirror_each_other():
    one, two = rng().normal(size=8), rng().normal(size=5) + 1.0
    there = probability_of_improvement(one, two, rng=rng()).value
    back = probability_of_improvement(two, one, rng=rng()).value
    assert there + back == pytest.approx(1.0)
