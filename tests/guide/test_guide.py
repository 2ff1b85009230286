"""The guide: routes, timing of commands, skills, and robots that get up."""

from dataclasses import replace

import numpy as np
import pytest

from kaccess import AccessConfig, InputError, estimate_times
from kaccess.access.estimate import estimate_to_standing
from kaccess.envs.tasks import make_task
from kaccess.evaluation.pose_test import PoseTest
from kaccess.guide import FastestRoutes, Guide, follow_guide
from kaccess.poses import Poses
from kaccess.training import GuidedWarmUp
from tests.access.graphs import make_two_way_plan

TASK = replace(make_task("fall-recovery"), low_pass=0.0)
SMOOTH = make_task("fall-recovery")  # its targets lag behind actions
RATE = 25  # steps per second of the task
FAR = np.inf


@pytest.fixture
def four(poses):
    """Return poses: 0 gets up via 1 and 2, 1 via 2, 2 in one move; 3 cannot."""
    times = np.full((4, 4), FAR)
    np.fill_diagonal(times, 0.0)
    times[0, 1], times[1, 2], times[0, 2] = 0.5, 1.0, 9.0
    to_standing = np.array([FAR, FAR, 0.3, FAR])
    chosen = Poses(poses.robot, poses.qpos[:4], poses.contacts[:4])
    return chosen, times, to_standing


def make_guide(poses, times, to_standing, n, *, task, config=None, skill=None):
    plan = FastestRoutes(poses, times, to_standing, config or AccessConfig())
    return Guide(plan, poses.robot, n, task=task, skill=skill)


def seen(poses, rows):
    """Return the observations of robots at rest in these poses."""
    return np.concatenate(
        [poses.gravity[rows], np.zeros((len(rows), 3)), poses.joints[rows]], axis=1
    )


def action_to(robot, joints):
    low, high = robot.joint_range.T
    return np.clip((joints - (low + high) / 2) / ((high - low) / 2), -1, 1)


def test_commands_the_next_pose_of_the_route_until_its_time_is_over(four):
    poses, times, to_standing = four
    guide = make_guide(poses, times, to_standing, 1, task=TASK)
    yes, no = np.array([True]), np.array([False])
    n_steps = int(np.ceil((0.5 + 0.1) * RATE))  # the move to pose 1, and the margin
    for step in range(n_steps):  # the robot moves: no observation is used meanwhile
        obs = seen(poses, [0]) + 0.1 * (step % 2)
        action = guide.act(obs, yes if step == 0 else no)
        np.testing.assert_allclose(action, action_to(poses.robot, poses.joints[[1]]))
    action = guide.act(seen(poses, [1]), no)
    np.testing.assert_allclose(action, action_to(poses.robot, poses.joints[[2]]))


def test_chooses_the_next_move_as_soon_as_the_robot_rests(four):
    poses, times, to_standing = four
    guide = make_guide(poses, times, to_standing, 2, task=TASK)
    to_1, to_2 = action_to(poses.robot, poses.joints[[1, 2]])
    rest, chosen = seen(poses, [1]), []
    for step in range(10):
        moving = rest + 0.1 * (step % 2)
        both = seen(poses, [0, 0]) if step == 0 else np.concatenate([rest, moving])
        chosen.append(guide.act(both, np.full(2, step == 0)))
    np.testing.assert_allclose(chosen[3][0], to_1)  # it may not have moved yet
    np.testing.assert_allclose(chosen[4][0], to_2)  # 0.16 s after the command
    np.testing.assert_allclose([each[1] for each in chosen], [to_1] * 10)


def test_a_move_that_takes_time_is_not_cut_short(four):
    poses, times, to_standing = four
    slow = AccessConfig(move_time=0.4)
    guide = make_guide(poses, times, to_standing, 1, task=TASK, config=slow)
    start, goal = action_to(poses.robot, poses.joints[[0, 1]])
    for step in range(14):  # 0.4 s of motion, then 0.16 s at rest
        action = guide.act(seen(poses, [0]), np.array([step == 0]))
        share = min(1.0, (step + 1) / (0.4 * RATE))
        expected = np.clip(start + share * (goal - start), -1, 1)
        np.testing.assert_allclose(action[0], expected, atol=1e-6)
    guide.act(seen(poses, [1]), np.array([False]))  # it moves to pose 1 at last
    action = guide.act(seen(poses, [1]), np.array([False]))
    assert not np.allclose(action[0], goal)


def test_smoothed_targets_follow_the_route_at_once(four):
    """As far as actions suffice: at the end of a joint's range they do not."""
    poses, times, to_standing = four
    guide = make_guide(poses, times, to_standing, 1, task=SMOOTH)
    target, goal = action_to(poses.robot, poses.joints[[0, 1]])
    weak = np.abs(goal + 0.4 / 0.6 * (goal - target)) > 1
    assert weak.any() and not weak.all()
    for step in range(3):
        action = guide.act(seen(poses, [0]) + 0.1 * (step % 2), np.array([step == 0]))
        target = 0.4 * target + 0.6 * action[0]
        np.testing.assert_allclose(target[~weak], goal[~weak], atol=1e-9)
        if step == 0:
            assert (np.abs(action[0][weak]) == 1).all()


def test_a_route_is_not_repeated_from_where_it_led_nowhere(poses):
    """Two commands lead from pose 0 to standing; the robot stays where it is."""
    plan = make_two_way_plan(poses)
    guide = Guide(plan, poses.robot, 1, task=TASK)
    seen_at, chosen = seen(poses, [0]), []
    for step in range(40):
        guide.act(seen_at, np.array([step == 0]))
        chosen.append(int(guide.get_state()["command"][0]))
    assert set(chosen) == {1, 2}
    guide.act(seen_at, np.array([True]))  # a new episode: nothing was tried
    assert guide.get_state()["command"][0] == chosen[0]


def test_a_new_episode_begins_a_new_route(four):
    poses, times, to_standing = four
    guide = make_guide(poses, times, to_standing, 2, task=TASK)
    guide.act(seen(poses, [0, 0]), np.array([True, True]))
    actions = guide.act(seen(poses, [1, 1]), np.array([False, True]))
    expected = action_to(poses.robot, poses.joints[[1, 2]])
    np.testing.assert_allclose(actions, expected)


def test_standing_is_commanded_at_the_end_and_where_there_is_no_route(four):
    poses, times, to_standing = four
    robot = poses.robot
    stand = robot.get_joints(robot.standing[None])
    guide = make_guide(poses, times, to_standing, 3, task=TASK)
    upright = np.concatenate([[[0, 0, -1]], np.zeros((1, 3)), stand], axis=1)
    obs = np.concatenate([seen(poses, [2, 3]), upright])
    actions = guide.act(obs, np.ones(3, bool))
    np.testing.assert_allclose(actions, np.repeat(action_to(robot, stand), 3, axis=0))


def test_continues_from_a_stored_state(four):
    poses, times, to_standing = four
    first = make_guide(poses, times, to_standing, 2, task=TASK)
    second = make_guide(poses, times, to_standing, 2, task=TASK)
    no = np.zeros(2, bool)
    first.act(seen(poses, [0, 1]), ~no)
    second.set_state(first.get_state())
    for rows in ([0, 1], [1, 2], [3, 3]) * 10:
        np.testing.assert_array_equal(
            first.act(seen(poses, rows), no), second.act(seen(poses, rows), no)
        )


def test_a_state_within_a_longer_skill_is_an_error(four):
    poses, times, to_standing = four
    task, nu = make_task("backflip"), poses.robot.model.nu
    long, short = (
        make_guide(poses, times, to_standing, 1, task=task, skill=np.zeros((n, nu)))
        for n in (9, 3)
    )
    stand = poses.robot.get_joints(poses.robot.standing[None])
    upright = np.concatenate([[[0, 0, -1]], np.zeros((1, 3)), stand], axis=1)
    long.act(upright, np.array([True]))
    with pytest.raises(InputError, match="has changed since this run began"):
        short.set_state(long.get_state())


def test_the_warm_up_guides_only_guided_robots_with_bounded_noise(four):
    poses, times, to_standing = four
    guide = make_guide(poses, times, to_standing, 2, task=TASK)
    plain = make_guide(poses, times, to_standing, 2, task=TASK)
    warm_up = GuidedWarmUp(guide, np.array([1, 3]))
    random = np.random.default_rng(0).uniform(-1, 1, (4, poses.robot.model.nu))
    obs, began = seen(poses, [0, 0, 1, 1]), np.ones(4, bool)
    actions = warm_up.act(obs, random, began)
    np.testing.assert_array_equal(actions[[0, 2]], random[[0, 2]])
    expected = plain.act(obs[[1, 3]], began[:2]) + 0.35 * random[[1, 3]]
    np.testing.assert_allclose(actions[[1, 3]], np.clip(expected, -1, 1))
    assert np.abs(actions).max() <= 1


def test_the_robots_of_a_learner_have_more_and_more_noise(four):
    poses, times, to_standing = four
    guide = make_guide(poses, times, to_standing, 4, task=TASK)
    plain = make_guide(poses, times, to_standing, 4, task=TASK)
    warm_up = GuidedWarmUp(guide, np.arange(2, 6), n_each=2)
    random = np.random.default_rng(0).uniform(-1, 1, (6, poses.robot.model.nu))
    obs, began = seen(poses, [0, 0, 1, 1, 0, 1]), np.ones(6, bool)
    actions = warm_up.act(obs, random, began)
    amplitude = 0.35 * np.array([[0.25], [1.0], [0.25], [1.0]])
    expected = plain.act(obs[2:], began[:4]) + amplitude * random[2:]
    np.testing.assert_allclose(actions[2:], np.clip(expected, -1, 1))


def test_poses_that_reach_standing_get_up(poses, engine):
    """The guide gets up from all poses that reach standing in one move."""
    config = AccessConfig()
    times = estimate_times(poses, config, engine=engine)
    to_standing = estimate_to_standing(poses, config, engine=engine).times
    guide = make_guide(poses, times, to_standing, len(poses), task=TASK, config=config)
    scores = PoseTest(TASK, poses.robot, poses.qpos).score(follow_guide(guide))
    at_once = np.isfinite(to_standing)
    assert at_once.any()
    assert scores.success[at_once].all()


def test_a_standing_robot_performs_the_skill_and_is_then_observed_again(four):
    poses, times, to_standing = four
    robot, task = poses.robot, replace(make_task("backflip"), low_pass=0.0)
    skill = np.random.default_rng(0).uniform(-1, 1, (3, robot.model.nu))
    guide = make_guide(poses, times, to_standing, 1, task=task, skill=skill)
    stand = robot.get_joints(robot.standing[None])
    upright = np.concatenate([[[0, 0, -1]], np.zeros((1, 3)), stand], axis=1)
    begins, goes_on = np.array([True]), np.array([False])
    lying = seen(poses, [0])
    done = [guide.act(upright, begins)]
    done += [guide.act(lying, goes_on) for _ in range(2)]
    np.testing.assert_array_equal(np.concatenate(done), skill)
    action = guide.act(lying, goes_on)  # it has fallen: up again
    np.testing.assert_allclose(action, action_to(robot, poses.joints[[1]]))
    np.testing.assert_array_equal(guide.act(upright, begins), skill[:1])


def test_a_skill_tolerates_less_noise_than_a_move(four):
    poses, times, to_standing = four
    skill = np.zeros((3, poses.robot.model.nu))
    standing = make_guide(poses, times, to_standing, 1, task=TASK)
    task = make_task("backflip")
    flipping = make_guide(poses, times, to_standing, 1, task=task, skill=skill)
    assert flipping.noise < standing.noise


def test_a_task_beyond_standing_needs_a_skill(four):
    poses, times, to_standing = four
    with pytest.raises(InputError, match="Give the guide a `skill`"):
        make_guide(poses, times, to_standing, 1, task=make_task("backflip"))
