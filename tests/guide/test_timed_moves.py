"""The guide with moves that take time, and with commands of several postures."""

from dataclasses import replace

import numpy as np
import pytest

from kaccess import AccessConfig, Study, pipeline
from kaccess.access import Commands
from kaccess.engines.motion import Motion
from kaccess.envs.tasks import make_task
from kaccess.guide import FastestRoutes, Guide
from tests.engines.drops import find_target

TASK = replace(make_task("fall-recovery"), low_pass=0.0)
RATE = 25  # steps per second of the task
YES, NO = np.array([True]), np.array([False])


class FixedPlan:
    """Commands the same in all postures, for a second; no robot ever stands."""

    n_nodes = 4

    def __init__(self, commands, which):
        self.commands, self._which = commands, which

    def choose(self, gravity, joints, tried=None):
        n = len(gravity)
        return np.full(n, self._which), np.ones(n), np.zeros(n, int)


@pytest.fixture
def commands(bittle):
    """Return a slow move, a skill of three postures, and standing."""
    low, high = bittle.joint_range.T
    drawn = np.random.default_rng(0).uniform(0.9 * low, 0.9 * high, (4, len(low)))
    skill = Commands(drawn[None, 1:], np.array([[0.2, 0.1, 0.3]]))
    stand = Commands.to(bittle.standing_targets[None], 0.4)
    return Commands.to(drawn[:1], 0.4) + skill + stand


def see(poses, row):
    """Return the observation of a robot at rest in a pose."""
    return np.concatenate(
        [poses.gravity[row], np.zeros(3), poses.joints[row]], axis=None
    )[None]


def to_action(robot, joints):
    low, high = robot.joint_range.T
    return np.clip((joints - (low + high) / 2) / ((high - low) / 2), -1, 1)


@pytest.mark.parametrize("which", [0, 1])
def test_targets_follow_the_command_from_the_joints_that_were_seen(
    poses, commands, which
):
    """Each action commands where the targets are at the end of its step."""
    robot = poses.robot
    guide = Guide(FixedPlan(commands, which), robot, 1, task=TASK)
    points = np.concatenate([poses.joints[2:3], commands.postures[which]])
    times = np.concatenate([[0.0], commands.seconds[which].cumsum()])
    n_steps = int(np.ceil((1.0 + 0.1) * RATE))  # the move, and the margin
    for step in range(n_steps):  # it moves: what it sees meanwhile does not matter
        row = 2 if step == 0 else 5 + step % 2
        action = guide.act(see(poses, row), YES if step == 0 else NO)
        target = find_target(points, times, (step + 1) / RATE)
        np.testing.assert_allclose(action[0], to_action(robot, target), atol=1e-12)
    action = guide.act(see(poses, 5), NO)  # the next move begins
    points[0] = poses.joints[5]
    target = find_target(points, times, 1 / RATE)
    np.testing.assert_allclose(action[0], to_action(robot, target), atol=1e-12)


def test_a_new_episode_begins_its_move_anew(poses, commands):
    guide, fresh = (
        Guide(FixedPlan(commands, 1), poses.robot, 1, task=TASK) for _ in range(2)
    )
    for _ in range(4):
        guide.act(see(poses, 0), NO)
    np.testing.assert_array_equal(
        guide.act(see(poses, 3), YES), fresh.act(see(poses, 3), YES)
    )


def test_continues_in_the_middle_of_a_move(poses, commands):
    first, second = (
        Guide(FixedPlan(commands, 1), poses.robot, 1, task=TASK) for _ in range(2)
    )
    for step in range(2):
        first.act(see(poses, 0), np.array([step == 0]))
    second.set_state(first.get_state())
    for row in range(10):
        np.testing.assert_array_equal(
            first.act(see(poses, row), NO), second.act(see(poses, row), NO)
        )


def test_chooses_again_if_the_graph_has_grown_since(poses, commands):
    """Standing is the last command: it has another number after growth."""
    old = Guide(FixedPlan(commands, 2), poses.robot, 1, task=TASK)
    old.act(see(poses, 0), YES)
    grown = FixedPlan(commands[:1] + commands, 3)
    new, fresh = (Guide(grown, poses.robot, 1, task=TASK) for _ in range(2))
    new.set_state(old.get_state())
    np.testing.assert_array_equal(
        new.act(see(poses, 1), NO), fresh.act(see(poses, 1), YES)
    )


def test_states_stored_before_moves_took_time_still_load(poses):
    """Their targets jumped, so it does not matter where and when a move began."""
    times = np.where(np.eye(10, dtype=bool), 0.0, 0.5)
    plan = FastestRoutes(poses, times, np.full(10, 0.5), AccessConfig())
    first, second, third = (Guide(plan, poses.robot, 1, task=TASK) for _ in range(3))
    first.act(see(poses, 3), YES)
    state = first.get_state()
    older = {name: state[name] for name in ("command", "stands", "steps_left")}
    second.set_state(older)
    third.set_state({"at": np.array([3]), "steps_left": state["steps_left"]})
    expected = first.act(see(poses, 4), NO)
    np.testing.assert_array_equal(second.act(see(poses, 4), NO), expected)
    np.testing.assert_array_equal(third.act(see(poses, 4), NO), expected)


def test_the_guide_of_a_study_with_slow_moves_moves_slowly(tiny_study):
    study = pipeline.access(tiny_study, AccessConfig(move_time=0.2))
    assert Study(tiny_study).access_config.move_time == 0.2
    np.testing.assert_allclose(study.graph.commands.seconds, 0.2)
    poses, n = study.poses, len(study.poses)
    guide = Guide.of(study, n, task=TASK)
    obs = np.concatenate([poses.gravity, np.zeros((n, 3)), poses.joints], axis=1)
    command, _, _ = study.plan.choose(poses.gravity, poses.joints)
    goal = study.graph.commands.postures[command, 0]
    points = np.stack([poses.joints, goal], axis=1)
    motion = Motion(points, np.tile([0.0, 0.2], (n, 1)))
    rate = TASK.fit_to(study.robot).control_rate
    first = motion.at(np.arange(n), np.full(n, 1 / rate))
    np.testing.assert_allclose(
        guide.act(obs, np.ones(n, bool)), to_action(study.robot, first)
    )
    assert (study.arrays.read_landings().seconds[:, -1] > 0.2).all()
