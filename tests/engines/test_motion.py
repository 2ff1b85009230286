"""Motions: targets on straight lines, and robots that follow them in each engine."""

import mujoco
import numpy as np
import pytest

from kaccess.engines.motion import TARGET_STEPS, Motion, as_motion
from kaccess.engines.mujoco import MujocoEngine, make_lean_model
from kaccess.engines.still import is_quiet
from tests.engines.drops import (
    assert_same,
    find_target,
    random_drops,
    random_motions,
)


def plain_settle(engine, qpos, motion, *, time_limit):
    """Settle one robot with `mj_step`, and set its targets by hand."""
    robot, step_time = engine.robot, engine.robot.timestep
    model = make_lean_model(robot)
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    points, times = motion.points[0], motion.times[0]
    n_moving = int(np.ceil(times[-1] / step_time - 1e-6))
    window, quiet = round(engine.still.window / step_time), 1
    for step in range(n_moving + round(time_limit / step_time)):
        if step == 0 or (step < n_moving and step % TARGET_STEPS == 0):
            until = (step + TARGET_STEPS) * step_time
            data.ctrl[:] = find_target(points, times, until)
        mujoco.mj_step(model, data)
        still = step >= n_moving and is_quiet(data.qvel, engine.still)
        quiet = quiet + 1 if still else 0
        if quiet > window:
            return data.qpos.copy(), (step + 1 - window) * step_time
    return data.qpos.copy(), np.inf


@pytest.fixture(scope="module", params=["bittle", "tiny"])
def engine_of(request):
    return MujocoEngine(request.getfixturevalue(request.param), n_threads=2)


def test_targets_lie_on_lines_between_the_points():
    points = np.array([[[0.0, 4.0], [1.0, 2.0], [1.0, 0.0]]])
    motion = Motion(points, np.array([[0.0, 0.5, 0.9]]))
    rows, seconds = np.zeros(6, int), np.array([0.0, 0.25, 0.5, 0.7, 0.9, 7.0])
    expected = [[0, 4], [0.5, 3], [1, 2], [1, 1], [1, 0], [1, 0]]
    np.testing.assert_allclose(motion.at(rows, seconds), expected)


def test_targets_jump_where_a_way_takes_no_time():
    points = np.array([[[0.0], [1.0], [2.0], [3.0]]])
    motion = Motion(points, np.array([[0.0, 0.0, 0.4, 0.4]]))
    at = motion.at(np.zeros(3, int), np.array([0.0, 0.2, 0.4]))
    np.testing.assert_allclose(at[:, 0], [1.0, 1.5, 3.0])


def test_each_robot_has_its_own_time():
    points = np.array([[[0.0], [1.0]], [[10.0], [20.0]]])
    motion = Motion(points, np.array([[0.0, 1.0], [0.0, 2.0]]))
    at = motion.at(np.array([1, 0]), np.array([1.0, 0.25]))
    np.testing.assert_allclose(at[:, 0], [15.0, 0.25])
    np.testing.assert_allclose(motion[1:].at(np.array([0]), np.ones(1)), [[15.0]])
    assert len(motion) == 2 and len(motion[1:]) == 1


def test_steps_of_a_motion_are_rounded_up_except_for_rounding_errors():
    times = np.array([[0.0, 0.0], [0.0, 0.1 + 0.2], [0.0, 0.301]])
    steps = Motion(np.zeros((3, 2, 1)), times).count_steps(0.1)
    np.testing.assert_array_equal(steps, [0, 3, 4])


def test_targets_alone_are_a_motion_that_holds_them():
    targets = np.random.default_rng(0).normal(size=(3, 2))
    motion = as_motion(targets)
    assert as_motion(motion) is motion
    np.testing.assert_array_equal(motion.at(np.arange(3), np.ones(3)), targets)
    np.testing.assert_array_equal(motion.count_steps(0.01), 0)


def test_motions_equal_a_plain_loop_bit_for_bit(engine_of):
    """Their durations are no multiples of the steps between two targets."""
    qpos, motion = random_motions(engine_of.robot, 10)
    got = engine_of.settle(qpos, motion, time_limit=1.0)
    for row in range(len(qpos)):
        end, time = plain_settle(
            engine_of, qpos[row], motion[row : row + 1], time_limit=1.0
        )
        np.testing.assert_array_equal(got.qpos[row], end)
        assert got.time[row] == time
    assert np.isfinite(got.time).any()
    assert len(set(motion.count_steps(engine_of.robot.timestep) % TARGET_STEPS)) > 3


@pytest.mark.parametrize(("n_threads", "n_slots"), [(1, 1), (2, 3)])
def test_threads_and_slots_do_not_change_motions(engine_of, n_threads, n_slots):
    robot = engine_of.robot
    qpos, motion = random_motions(robot, 8)
    expected = engine_of.settle(qpos, motion, time_limit=0.8)
    other = MujocoEngine(robot, n_threads=n_threads, n_slots=n_slots)
    assert_same(other.settle(qpos, motion, time_limit=0.8), expected)


def test_targets_and_motions_that_hold_them_are_the_same_bit_for_bit(engine_of):
    qpos, targets = random_drops(engine_of.robot, 8)
    expected = engine_of.settle(qpos, targets, time_limit=0.8)
    assert_same(engine_of.settle(qpos, as_motion(targets), time_limit=0.8), expected)
