import numpy as np
import pytest

from kaccess.report.summary import summarize, verdict

X, N = np.inf, np.nan
CONTACTS = np.array([[1, 0], [1, 0], [1, 1]], bool)


def of(times, outcomes, to_standing=(X, X, 0.5)):
    return summarize(
        {},
        contacts=CONTACTS,
        parts=("head", "tail"),
        times=np.array(times),
        outcomes=np.array(outcomes),
        to_standing=np.array(to_standing),
    )


def test_hand_counted_figures():
    summary = of(
        [[0, 1.0, 2.0], [1.0, 0, X], [X, X, 0]],
        [[1, 1, 1], [1, 1, 2], [3, 4, 1]],
    )
    times = summary.times
    assert (times.pairs, times.done, times.reached) == (6, 6, 3)
    assert (times.elsewhere, times.restless, times.diverged) == (1, 1, 1)
    assert times.one_way == pytest.approx(1 / 2)  # 0-1 both ways, 0-2 one way
    assert times.seconds == pytest.approx((1.0, 1.0, 1.9))
    assert times.stand_up == 1
    assert summary.contact_cases == (("head", 2), ("head + tail", 1))
    assert summary.graph.stuck.tolist() == []
    assert verdict(summary).startswith("This robot can get up: from all 3 poses")


def test_an_unfinished_matrix_says_so():
    summary = of(
        [[0, 1.0, X], [N, N, N], [N, N, N]], [[1, 1, 2], [0] * 3, [0] * 3], (N, N, N)
    )
    assert (summary.times.done, summary.times.reached) == (2, 1)
    assert summary.times.stand_up is None
    assert summary.graph is None
    assert verdict(summary).startswith("4 pairs are still to be estimated")


def test_links_known_one_way_only_do_not_count_as_asymmetric():
    summary = of([[0, 1.0, 1.0], [1.0, 0, 1.0], [N, N, N]], [[1] * 3, [1] * 3, [0] * 3])
    assert summary.times.one_way == 0.0


def test_a_tile_counts_when_its_times_are_stored():
    summary = of([[0, X, X], [N, N, N], [N, N, N]], [[1, 2, 2], [1, 1, 1], [0] * 3])
    assert (summary.times.done, summary.times.reached) == (2, 0)
    assert summary.times.seconds is None


def test_stuck_poses_are_named():
    apart = [[0, X, X], [X, 0, X], [X, X, 0]]
    outcomes = [[1, 2, 2], [2, 1, 2], [2, 2, 1]]
    some = verdict(of(apart, outcomes))
    assert "can get up from 1 of 3 poses" in some and some.endswith("(0, 1).")
    none = verdict(of(apart, outcomes, (X, X, X)))
    assert none.startswith("This robot cannot get up")
