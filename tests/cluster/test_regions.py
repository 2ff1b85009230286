"""Exploration regions: solved by hand, and against plain loops."""

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.cluster.regions import leave_out_starts, measure_reach, measure_regions

INF = np.inf
# From two starts to five poses. Below 1 s: poses 0 and 1 from the first start, poses 1
# and 2 from the second. Pose 3 takes exactly 1 s, nothing reaches pose 4.
TIMES = np.array([[0.2, 0.5, INF, 1.0, INF], [INF, 0.9, 0.4, 2.0, INF]])


def test_regions_by_hand():
    regions = measure_regions(TIMES, 1.0)
    assert regions.share == 3 / 5
    assert regions.redundancy == 4 / 3  # pose 1 lies in both regions


def test_apart_regions_have_redundancy_one():
    assert measure_regions(TIMES, 0.5).redundancy == 1.0
    assert measure_regions(TIMES, 0.1) == measure_regions(TIMES[:1], 0.1)
    assert measure_regions(TIMES, 0.1).redundancy == 0.0  # no region holds anything


def test_equal_starts_are_fully_redundant():
    twice = np.repeat(TIMES[:1], 7, axis=0)
    assert measure_regions(twice, 1.0).redundancy == 7.0
    assert measure_regions(twice, 1.0).share == measure_regions(TIMES[:1], 1.0).share


def test_reach_counts_poses_below_each_limit():
    limits = np.array([0.1, 0.2, 0.45, 1.0, 1.01, 3.0])
    expected = [0, 0, 2 / 5, 3 / 5, 4 / 5, 4 / 5]
    np.testing.assert_allclose(measure_reach(TIMES, limits), expected)


def test_reach_at_t_0_is_the_share_of_the_regions():
    rng = np.random.default_rng(0)
    times = np.where(rng.random((6, 40)) < 0.4, 3 * rng.random((6, 40)), INF)
    for t_0 in (0.3, 1.0, 2.9):
        regions = measure_regions(times, t_0)
        assert regions.share == measure_reach(times, np.array([t_0]))[0]
        inside = [sum(row[j] < t_0 for row in times) for j in range(40)]  # a plain loop
        held = [count for count in inside if count]
        assert regions.share == len(held) / 40
        assert regions.redundancy == pytest.approx(sum(held) / len(held))


def test_a_start_does_not_reach_itself_but_others_may_reach_it():
    times = np.array([[0.0, 0.5, INF], [0.3, 0.0, INF]])
    alone = leave_out_starts(times, np.array([0, 1]))
    np.testing.assert_array_equal(alone, [[INF, 0.5, INF], [0.3, INF, INF]])
    assert times[0, 0] == 0.0  # the input stays


@pytest.mark.parametrize(
    ("times", "t_0", "match"),
    [
        (TIMES, 0.0, "`t_0` must be a positive time in seconds, got 0.0"),
        (TIMES[0], 1.0, r"`times` must be seconds .* got shape \(5,\)"),
        (TIMES * np.nan, 1.0, "without NaN"),
    ],
)
def test_bad_input_raises(times, t_0, match):
    with pytest.raises(InputError, match=match):
        measure_regions(times, t_0)
