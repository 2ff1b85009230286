"""Short motions from any state: equal to a plain loop, and the same in pieces."""

import mujoco
import numpy as np
import pytest

from kaccess.engines.motion import TARGET_STEPS
from kaccess.engines.mujoco import make_lean_model
from kaccess.engines.stepper import Stepper

N_INTERVALS = np.array([9, 4, 0])


@pytest.fixture(scope="module")
def stepper(bittle):
    return Stepper(bittle, n_threads=1)


@pytest.fixture(scope="module")
def lying(poses, stepper):
    return stepper.rest(poses.qpos[:3])


@pytest.fixture(scope="module")
def goals(bittle, poses):
    return np.stack([bittle.standing_targets, poses.joints[3], poses.joints[4]])


def test_robots_at_rest_hold_their_joints(stepper, poses, lying):
    np.testing.assert_array_equal(lying.qpos, poses.qpos[:3])
    np.testing.assert_array_equal(lying.speed, 0.0)
    targets = stepper.get_targets(lying.states)
    np.testing.assert_array_equal(targets, poses.joints[:3])
    assert lying.sound.all() and len(lying) == 3


def test_motions_equal_a_plain_loop(bittle, poses, stepper, lying, goals):
    moved = stepper.move(lying.states, goals, N_INTERVALS)
    model = make_lean_model(bittle)
    for row, n in enumerate(N_INTERVALS):
        data = mujoco.MjData(model)
        data.qpos[:] = poses.qpos[row]
        begin = data.ctrl[:] = poses.joints[row]
        for number in range(n):
            data.ctrl[:] = begin + (number + 1) / n * (goals[row] - begin)
            if number + 1 == n:
                data.ctrl[:] = goals[row]
            mujoco.mj_step(model, data, TARGET_STEPS)
        np.testing.assert_array_equal(moved.qpos[row], data.qpos)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        np.testing.assert_array_equal(moved.centre[row], data.subtree_com[0])
        feet = data.geom_xpos[list(bittle.feet)].mean(axis=0)
        np.testing.assert_allclose(moved.feet[row], feet, rtol=1e-12)


def test_a_motion_can_go_on_where_another_ended(stepper, lying, goals):
    half = stepper.move(lying.states, goals, np.array([5, 5, 5]))
    held = stepper.move(half.states, goals, np.array([4, 4, 4]))
    once = stepper.move(half.states, goals, np.array([1, 1, 1]))
    for _ in range(3):
        once = stepper.move(once.states, goals, np.array([1, 1, 1]))
    np.testing.assert_array_equal(held.states, once.states)
    assert np.abs(held.qpos - half.qpos).max() > 1e-3


def test_robots_and_threads_do_not_affect_one_another(bittle, stepper, lying, goals):
    together = Stepper(bittle, n_threads=2).move(lying.states, goals, N_INTERVALS)
    for row in range(3):
        some = slice(row, row + 1)
        alone = stepper.move(lying.states[some], goals[some], N_INTERVALS[some])
        np.testing.assert_array_equal(alone.states[0], together.states[row])


def test_a_simulation_that_diverges_is_not_sound(bittle, stepper, lying, goals):
    states = lying.states.copy()
    states[1, bittle.model.nq : bittle.model.nq + bittle.model.nv] = 1e12
    moved = stepper.move(states, goals, np.array([3, 3, 3]))
    np.testing.assert_array_equal(moved.sound, [True, False, True])
