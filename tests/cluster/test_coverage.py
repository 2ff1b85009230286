"""Coverage and its Wilson interval."""

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.cluster import measure_coverage


def test_share_counts_poses_that_some_centroid_reaches():
    access = np.array([[0.5, 1e-8, 0.0, 0.2], [1e-8, 1e-8, 0.3, 0.4]])
    result = measure_coverage(access)
    assert (result.n_reached, result.n_poses, result.share) == (3, 4, 0.75)


def test_interval_equals_a_textbook_value():
    """The 95 % Wilson interval for 8 of 10 is 0.490 to 0.943."""
    result = measure_coverage(np.array([[0.5] * 8 + [0.0] * 2]))
    assert (result.low, result.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_interval_contains_the_share_and_stays_in_0_to_1(value):
    result = measure_coverage(np.full((2, 30), value))
    assert 0.0 <= result.low <= result.share <= result.high <= 1.0
    assert result.high - result.low > 0.05


def test_higher_confidence_widens_the_interval():
    access = np.array([[0.5] * 8 + [0.0] * 2])
    narrow, wide = (
        measure_coverage(access, confidence=0.5),
        measure_coverage(access, confidence=0.99),
    )
    assert wide.low < narrow.low < narrow.high < wide.high


def test_floor_in_single_precision_counts_as_not_reached():
    assert measure_coverage(np.full((1, 3), 1e-8, dtype=np.float32)).share == 0.0


def test_interval_contains_the_true_share_in_95_percent_of_draws():
    rng = np.random.default_rng(0)
    hits = 0
    for _ in range(2000):
        result = measure_coverage((rng.random((1, 40)) < 0.85).astype(float))
        hits += result.low <= 0.85 <= result.high
    assert 0.92 < hits / 2000 < 0.98


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_confidence_outside_0_to_1_raises(confidence):
    with pytest.raises(InputError, match="`confidence` must lie in"):
        measure_coverage(np.ones((1, 2)), confidence=confidence)


def test_a_vector_raises():
    with pytest.raises(InputError, match=r"one row per centroid .* got shape \(3,\)"):
        measure_coverage(np.ones(3))
