"""Coverage of starts from few pairs."""

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.pairs import estimate_coverage
from tests.pairs.matrices import ask_from, make_times

N = 200
TIMES = make_times(N, 8)
STARTS = np.arange(6)  # six of eight hubs


def count_covered():
    hits = np.isfinite(TIMES[STARTS])
    hits[np.arange(len(STARTS)), STARTS] = False
    return hits.any(axis=0).mean()


def test_with_all_pairs_it_is_exact():
    share = estimate_coverage(ask_from(TIMES, N * N), STARTS)
    assert share.low == share.value == share.high == count_covered()


def test_only_rows_of_starts_are_asked_and_no_more_than_needed():
    pairs = ask_from(TIMES, N * N)
    estimate_coverage(pairs, STARTS)
    rows = np.flatnonzero(pairs.known.sum(axis=1) > 1)
    np.testing.assert_array_equal(rows, STARTS)
    assert pairs.n_asked < len(STARTS) * N


@pytest.mark.parametrize("half_width", [0.1, 0.05])
def test_it_stops_when_the_interval_is_narrow(half_width):
    pairs = ask_from(TIMES, N * N)
    share = estimate_coverage(pairs, STARTS, half_width=half_width)
    assert share.high - share.low <= 2 * half_width
    assert pairs.n_asked < len(STARTS) * N


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    """95 of 100 in the mean; drawn without replacement, even more often."""
    held = 0
    for seed in range(100):
        share = estimate_coverage(ask_from(TIMES, 250), STARTS, seed=seed)
        held += share.low <= count_covered() <= share.high
    assert held >= 92


def test_too_few_pairs_are_explained():
    with pytest.raises(InputError, match="needs 60 pairs or more, got 59"):
        estimate_coverage(ask_from(TIMES, 59), STARTS)
