"""How far engines agree: hand-solved matrices, and engines that are known to differ."""

import numpy as np
import pytest

from kaccess import AccessConfig, InputError, make_engine, sample_poses
from kaccess.access import Transitions
from kaccess.access.agreement import agreement, compare_engines, transfers
from kaccess.engines import Settled
from kaccess.report.text.engines import format_engines

INF = np.inf


def transitions(times):
    times = np.array(times, np.float32)
    return Transitions(times, np.where(np.isfinite(times), 1, 2).astype(np.uint8))


ONE = transitions([[0, 1.0, INF], [0.5, 0, 2.0], [INF, INF, 0]])
TWO = transitions([[0, 1.0, INF], [0.7, 0, INF], [3.0, INF, 0]])


def test_hand_solved_agreement():
    touchy = np.zeros((3, 3), bool)
    touchy[1, 2] = touchy[0, 1] = True  # one that differs, and one that does not
    found = agreement(ONE, TWO, timestep=0.004, touchy=touchy)
    assert (found.n_pairs, found.same, found.both) == (6, 4, 2)
    assert (found.only_first, found.only_second, found.same_time) == (1, 1, 1)
    np.testing.assert_allclose(found.later, [0.01, 0.05, 0.1, 0.15, 0.19], rtol=1e-5)
    assert found.touchy == 1


def test_nothing_reached_by_both_leaves_no_times():
    none = transitions([[0, INF], [INF, 0]])
    found = agreement(none, none, timestep=0.004, touchy=np.zeros((2, 2), bool))
    assert (found.same, found.both, found.later) == (2, 0, ())


def test_centroids_are_judged_on_the_other_matrix():
    """On the first matrix pose 0 reaches all others; on the second it reaches none."""
    hub = np.full((6, 6), INF)
    hub[0], hub[3, 4], hub[3, 5] = 0.1, 0.1, 0.1
    lone = hub.copy()
    lone[0] = INF
    lone[1, 2] = lone[2, 1] = 0.1
    np.fill_diagonal(hub, 0)
    np.fill_diagonal(lone, 0)
    moved = transfers({"hub": transitions(hub), "lone": transitions(lone)})
    there = moved["hub, lone"]
    assert there.coverage > there.other_coverage
    assert moved["lone, hub"].index != moved["lone, hub"].other_index
    assert transfers({"a": ONE, "b": ONE})["a, b"].other_index == pytest.approx(
        transfers({"a": ONE, "b": ONE})["a, b"].index
    )


class LaterEngine:
    """As `mujoco`, but a step later, and never from one pose."""

    batch_size = 100

    def __init__(self, robot, lost):
        self.engine, self.robot, self.lost = make_engine("mujoco", robot), robot, lost

    def settle(self, qpos, targets, **kwargs):
        settled = self.engine.settle(qpos, targets, **kwargs)
        lost = np.isclose(qpos[:, 7:], self.lost[7:], atol=1e-4).all(axis=1)
        time = np.where(lost, np.inf, settled.time + self.robot.timestep)
        return Settled(settled.qpos, time, settled.diverged)


def test_engines_that_differ_are_told_apart(tiny):
    poses = sample_poses(tiny, 8)
    engines = {
        "mujoco": make_engine("mujoco", tiny),
        "later": LaterEngine(tiny, poses.qpos[2]),
    }
    calls = []
    found = compare_engines(
        poses,
        engines,
        AccessConfig(),
        n_pairs=64,
        progress=lambda *call: calls.append(call),
    )
    assert found.poses == tuple(range(8))
    there, back = found.agreements["mujoco, later"], found.agreements["later, mujoco"]
    assert there.n_pairs == 56 and there.only_second == 0
    assert there.only_first == there.n_pairs - there.same == back.only_second > 0
    np.testing.assert_allclose(there.later, tiny.timestep, rtol=1e-3)
    assert there.same_time == 0
    assert found.reached["mujoco"] > found.reached["later"]
    assert calls[-1][0] == calls[-1][1] == 6 * 56
    text = format_engines(found)
    assert f"of the {there.only_first} pairs that differ, 0 are touchy" in text


@pytest.mark.parametrize("n_pairs", [4, 65 + 8])
def test_too_few_or_too_many_pairs_are_refused(tiny, n_pairs):
    poses = sample_poses(tiny, 8)
    engines = {"mujoco": make_engine("mujoco", tiny)}
    with pytest.raises(InputError, match=r"`pairs` must lie in \[9, 64\]"):
        compare_engines(poses, engines, AccessConfig(), n_pairs=n_pairs)
