"""Agreement of engines: hand-solved matrices, a made-up engine, and PyBullet."""

import numpy as np
import pytest

from kaccess import (
    AccessConfig,
    EngineConfig,
    InputError,
    make_engine,
    sample_poses,
)
from kaccess.access import Transitions
from kaccess.access.agreement import (
    compare_engines,
    judge_transfers,
    measure_agreement,
    nudge_poses,
)
from kaccess.engines import Settled
from kaccess.report.text.engines import format_engines

INF = np.inf


def transitions(times):
    times = np.array(times, np.float32)
    return Transitions(times, np.where(np.isfinite(times), 1, 2).astype(np.uint8))


ONE = transitions([[0, 1.0, INF], [0.5, 0, 2.0], [INF, INF, 0]])
TWO = transitions([[0, 1.0, INF], [0.7, 0, INF], [3.0, INF, 0]])


def test_hand_solved_agreement():
    sensitive = np.zeros((3, 3), bool)
    sensitive[1, 2] = sensitive[0, 1] = True  # one that differs, one that does not
    found = measure_agreement(ONE, TWO, timestep=0.004, sensitive=sensitive)
    assert (found.n_pairs, found.same, found.both) == (6, 4, 2)
    assert (found.only_first, found.only_second, found.same_time) == (1, 1, 1)
    np.testing.assert_allclose(found.later, [0.01, 0.05, 0.1, 0.15, 0.19], rtol=1e-5)
    assert found.touchy == 1


def test_there_are_no_time_differences_if_no_pair_is_reached_by_both():
    none = transitions([[0, INF], [INF, 0]])
    nothing = np.zeros((2, 2), bool)
    found = measure_agreement(none, none, timestep=0.004, sensitive=nothing)
    assert (found.same, found.both, found.later) == (2, 0, ())


def test_centroids_are_evaluated_on_the_other_matrix():
    """On the first matrix pose 0 reaches all others; on the second it reaches none."""
    hub = np.full((6, 6), INF)
    hub[0], hub[3, 4], hub[3, 5] = 0.1, 0.1, 0.1
    lone = hub.copy()
    lone[0] = INF
    lone[1, 2] = lone[2, 1] = 0.1
    np.fill_diagonal(hub, 0)
    np.fill_diagonal(lone, 0)
    moved = judge_transfers({"hub": transitions(hub), "lone": transitions(lone)})
    there = moved["hub, lone"]
    assert there.coverage > there.other_coverage
    assert moved["lone, hub"].index != moved["lone, hub"].other_index
    same = judge_transfers({"a": ONE, "b": ONE})["a, b"]
    assert same.other_index == pytest.approx(same.index)


def test_nudges_move_joints_only_and_by_at_most_a_microradian(tiny):
    poses = sample_poses(tiny, 8)
    nudge = nudge_poses(poses, np.random.default_rng(0)).qpos - poses.qpos
    np.testing.assert_array_equal(nudge[:, :7], 0.0)
    assert 5e-7 < np.abs(nudge[:, 7:]).max() <= 1e-6 + 1e-12


class LaterEngine:
    """The `mujoco` engine, but one step later, and never at rest from one pose."""

    batch_size = 100

    def __init__(self, robot, lost):
        self.engine, self.robot, self.lost = make_engine("mujoco", robot), robot, lost

    def settle(self, qpos, targets, **kwargs):
        settled = self.engine.settle(qpos, targets, **kwargs)
        lost = np.isclose(qpos[:, 7:], self.lost[7:], atol=1e-4).all(axis=1)
        time = np.where(lost, np.inf, settled.time + self.robot.timestep)
        return Settled(settled.qpos, time, settled.diverged)


def test_the_differences_of_a_made_up_engine_are_found(tiny):
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
    assert there.touchy == 0
    assert "mujoco, later" in format_engines(found)


@pytest.mark.bullet
def test_mujoco_and_bullet_agree_on_most_pairs_but_not_on_all(tiny):
    pytest.importorskip("pybullet", reason="PyBullet is not installed")
    settings = EngineConfig(engine="bullet", threads=1)
    engines = {
        "mujoco": make_engine("mujoco", tiny),
        "bullet": make_engine(settings, tiny),
    }
    poses = sample_poses(tiny, 10)
    found = compare_engines(poses, engines, AccessConfig(), n_pairs=100)
    there, back = found.agreements["mujoco, bullet"], found.agreements["bullet, mujoco"]
    assert there.n_pairs == 90
    assert 0.85 < there.same / there.n_pairs < 1  # 86 of 90
    assert 0 < there.same_time < there.both
    assert there.later[0] < 0 < there.later[-1]  # some are faster, some slower
    assert abs(there.later[2]) < 0.02
    assert (there.only_first, there.only_second) == (back.only_second, back.only_first)
    np.testing.assert_allclose(there.later, np.negative(back.later[::-1]), atol=1e-6)
    difference = (there.only_second - there.only_first) / there.n_pairs
    gap = found.reached["bullet"] - found.reached["mujoco"]
    assert gap == pytest.approx(difference)
    assert found.seconds["bullet"] > found.seconds["mujoco"] > 0


@pytest.mark.parametrize("n_pairs", [4, 65 + 8])
def test_too_few_or_too_many_pairs_are_an_error(tiny, n_pairs):
    poses = sample_poses(tiny, 8)
    engines = {"mujoco": make_engine("mujoco", tiny)}
    with pytest.raises(InputError, match=r"`pairs` must lie in \[9, 64\]"):
        compare_engines(poses, engines, AccessConfig(), n_pairs=n_pairs)
