"""Tests of policies, compared with a plain loop over one environment."""

import numpy as np
import pytest

from kaccess.base.rotations import gravity_in_body
from kaccess.config import EngineConfig
from kaccess.envs.conditions import Conditions
from kaccess.envs.robot_env import RobotEnv
from kaccess.envs.tasks.fall_recovery import FallRecovery
from kaccess.evaluation.pose_test import (
    PoseTest,
    Scores,
    group_success,
    place_test_poses,
    summarize,
)


def hold_standing(robot):
    """Return a policy that always commands the standing joints."""
    low, high = robot.joint_range.T
    standing = robot.get_joints(robot.standing[None])[0]
    action = (2 * standing - low - high) / (high - low)
    return lambda obs: np.tile(action, (len(obs), 1))


@pytest.fixture(scope="module")
def poses(bittle):
    names = ("stand", "back", "crouch", "left")
    return np.array([bittle.keyframes[name].qpos for name in names])


@pytest.fixture(scope="module")
def scores(bittle, poses):
    return PoseTest(FallRecovery(), bittle, poses).score(hold_standing(bittle))


def test_equals_a_plain_loop(bittle, poses, scores):
    env, act = RobotEnv(robot=bittle), hold_standing(bittle)
    for row, qpos in enumerate(poses):
        seen, _ = env.reset(options={"qpos": qpos})
        total, since, work = 0.0, np.inf, 0.0
        for step in range(75):  # 3 s at 25 Hz
            seen, reward, _, _, info = env.step(act(seen[None])[0])
            now = env.episodes.robots.readings
            total += reward
            work += np.abs(now.torque[0] * now.joint_velocity[0]).sum() / 25
            if not info["success"]:
                since = np.inf
            elif np.isinf(since):
                since = (step + 1) / 25
        assert scores.reward[row] == pytest.approx(total, abs=1e-9)
        assert scores.energy[row] == pytest.approx(work)
        assert scores.time[row] == pytest.approx(since)
        assert scores.success[row] == info["success"]
        assert scores.success_loose[row] == info["success_loose"]


def test_standing_is_success_and_lying_is_not(scores):
    np.testing.assert_array_equal(scores.success, [True, False, True, False])
    assert scores.time[0] == pytest.approx(0.2)  # it must be held for so long
    assert scores.time[0] < scores.time[2] < np.inf
    assert scores.energy[0] < scores.energy[2]


def test_targets_that_never_change_are_smooth(bittle, poses):
    tester = PoseTest(FallRecovery(low_pass=0.0), bittle, poses[:1])
    assert tester.score(hold_standing(bittle)).roughness[0] < 1e-3
    sign = iter(range(10**6))
    rough = tester.score(lambda obs: np.full((1, 8), (-1.0) ** next(sign)))
    span = np.ptp(bittle.joint_range, axis=1).mean()
    assert rough.roughness[0] == pytest.approx(span, rel=0.05)


def test_a_tester_can_be_used_again(bittle, poses, scores):
    tester = PoseTest(FallRecovery(), bittle, poses, engine=EngineConfig(threads=1))
    for _ in range(2):
        again = tester.score(hold_standing(bittle))
        np.testing.assert_array_equal(again.reward, scores.reward)


@pytest.mark.parametrize("text", ["friction=0.3,delay=0.04", "slope=10,mass=1.2"])
def test_equals_a_plain_loop_under_conditions(bittle, poses, text):
    under = Conditions.parse(text)
    scores = PoseTest(FallRecovery(), bittle, poses, conditions=under).score(wave)
    env = RobotEnv(robot=bittle, conditions=under)
    for row, qpos in enumerate(place_test_poses(poses, bittle, under)):
        seen, _ = env.reset(options={"qpos": qpos})
        total = 0.0
        for _ in range(75):
            seen, reward, _, _, info = env.step(wave(seen[None])[0])
            total += reward
        assert scores.reward[row] == pytest.approx(total, abs=1e-9)
        assert scores.success[row] == info["success"]


def wave(obs):
    """Return actions that differ between poses."""
    return np.tanh(obs[:, 6:14].astype(np.float64) - obs[:, :1])


def test_on_a_slope_the_heading_of_a_pose_depends_only_on_its_number(bittle, poses):
    many, slope = np.repeat(poses, 3, axis=0), Conditions(slope=10)
    turned = place_test_poses(many, bittle, slope)
    np.testing.assert_array_equal(place_test_poses(many[:5], bittle, slope), turned[:5])
    np.testing.assert_array_equal(turned[0], many[0])
    np.testing.assert_allclose(
        gravity_in_body(turned[:, 3:7]), gravity_in_body(many[:, 3:7]), atol=1e-9
    )
    golden = np.pi * (3 - 5**0.5)
    quat = [np.cos(golden / 2), 0, 0, np.sin(golden / 2)]
    np.testing.assert_allclose(turned[1, 3:7], quat)  # it stands
    assert place_test_poses(many, bittle, Conditions(mass=2)) is many


@pytest.mark.parametrize("text", ["", "slope=10"])
def test_policies_tested_together_score_as_if_tested_alone(bittle, poses, text):
    under, stand = Conditions.parse(text), hold_standing(bittle)
    n = len(poses)

    def both(obs):
        return np.concatenate([wave(obs[:n]), stand(obs[n:])])

    test = PoseTest(FallRecovery(), bittle, poses, conditions=under, n_policies=2)
    together = test.score(both)
    alone = PoseTest(FallRecovery(), bittle, poses, conditions=under)
    for rows, act in ((slice(n), wave), (slice(n, None), stand)):
        np.testing.assert_array_equal(together[rows].reward, alone.score(act).reward)


def some_scores():
    return Scores(
        reward=np.array([1.0, 2.0, 3.0, 4.0]),
        success=np.array([True, False, True, True]),
        success_loose=np.array([True, True, True, True]),
        time=np.array([1.0, np.inf, 3.0, 2.0]),
        energy=np.array([1.0, 1.0, 1.0, 5.0]),
        roughness=np.zeros(4),
    )


def test_summary_by_hand():
    summary = summarize(some_scores())
    assert (summary.n, summary.reward, summary.energy) == (4, 2.5, 2.0)
    assert summary.reward_sd == pytest.approx(np.sqrt(1.25))
    assert summary.success.value == 0.75 and summary.success_loose.value == 1.0
    assert summary.success.low < 0.75 < summary.success.high
    assert summary.time == 2.0  # of those that succeed
    assert np.isnan(summarize(some_scores()[[1]]).time)


def test_groups_come_worst_first():
    success = some_scores().success
    groups = group_success(success, np.array(["a", "b", "b", "a"]))
    assert [(each.name, each.n, each.success.value) for each in groups] == [
        ("b", 2, 0.5),
        ("a", 2, 1.0),
    ]


def test_poses_without_a_group_do_not_count():
    success = some_scores().success
    (group,) = group_success(success, np.array(["a", "a"]))
    assert (group.n, group.success.value) == (2, 0.5)
