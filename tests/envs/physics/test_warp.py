"""MuJoCo Warp under environments, on its CPU device: the same code as on a GPU."""

import numpy as np
import pytest

pytest.importorskip("mujoco_warp")

from kaccess import InputError
from kaccess.engines import warp_buffers
from kaccess.envs import Conditions, RobotsBatch, RobotVectorEnv


def robots(robot, n, engine="warp"):
    device = "cpu" if engine == "warp" else None
    return RobotsBatch(robot, n, low_pass=0.4, engine=engine, device=device)


@pytest.fixture(scope="module")
def shared(bittle):
    return robots(bittle, 3)


def begin(batch, nine):
    batch.reset(nine.qpos[[0, 3, 5]])
    return batch


def test_robots_move_as_on_the_cpu(bittle, shared, nine, actions):
    """For three control steps: then single precision would show in contacts."""
    there, here = begin(shared, nine), begin(robots(bittle, 3, "mujoco"), nine)
    for name in ("gravity", "distance", "foot_distance", "target", "joints"):
        expected = getattr(here.readings, name)
        np.testing.assert_allclose(
            getattr(there.readings, name), expected, atol=1e-6, err_msg=name
        )
    for action in actions(3, 3):
        assert not there.step(0.3 * action).any()
        here.step(0.3 * action)
    np.testing.assert_allclose(there.qpos, here.qpos, atol=2e-3)
    for name in ("height", "torque", "distance", "foot_distance", "turn"):
        expected = getattr(here.readings, name)
        np.testing.assert_allclose(
            getattr(there.readings, name), expected, atol=5e-3, err_msg=name
        )


def test_conditions_hold_there_too(bittle, nine, actions):
    hard = Conditions.parse("torque=0.5,friction=0.2,mass=1.5,slope=10")
    robot = hard.applied_to(bittle)
    there, here, nominal = (
        begin(robots(body, 3, engine), nine)
        for body, engine in ((robot, "warp"), (robot, "mujoco"), (bittle, "mujoco"))
    )
    for action in actions(3, 3):
        for each in (there, here, nominal):
            each.step(0.3 * action)
    np.testing.assert_allclose(there.qpos, here.qpos, atol=2e-3)
    assert np.abs(here.qpos - nominal.qpos).max() > 0.02
    np.testing.assert_allclose(there.readings.gravity, here.readings.gravity, atol=5e-3)


def test_reset_of_a_row_leaves_no_trace_and_the_others_alone(shared, nine, actions):
    begin(shared, nine)
    fresh = shared.get_state()
    for action in actions(2, 3):
        shared.step(action)
    moved = shared.get_state()
    shared.reset(nine.qpos[3:4], np.array([1]))
    after = shared.get_state()
    np.testing.assert_array_equal(after[[0, 2]], moved[[0, 2]])
    np.testing.assert_array_equal(after[1], fresh[1])
    np.testing.assert_array_equal(shared.readings.torque[1], 0.0)


def test_goes_on_from_a_state(shared, nine, actions):
    begin(shared, nine)
    first, second = actions(2, 3)
    shared.step(first)
    state = shared.get_state()
    ends = []
    for _ in range(2):
        shared.set_state(state)
        shared.step(second)
        ends.append(shared.get_state())
    np.testing.assert_allclose(*ends, atol=1e-5)


def test_too_many_contacts_are_told_and_the_step_is_made_again(
    bittle, shared, nine, actions, monkeypatch, caplog
):
    small = warp_buffers.Buffers(n_contacts=4, n_rows=10)
    monkeypatch.setattr(warp_buffers.Buffers, "of", lambda model: small)
    crowded = begin(robots(bittle, 3), nine)
    begin(shared, nine)
    action = next(iter(actions(1, 3)))
    for each in (crowded, shared):
        each.step(0.3 * action)
    assert "the step is made again" in caplog.text
    np.testing.assert_allclose(crowded.qpos, shared.qpos, atol=1e-4)


def test_what_no_buffer_can_hold_is_told(bittle, nine, actions, monkeypatch):
    batch = begin(robots(bittle, 3), nine)
    monkeypatch.setattr(batch._physics, "_n_overflowed", lambda: 1)
    monkeypatch.setattr(batch._physics, "_make_room", lambda n: None)
    with pytest.raises(InputError, match=r"bittle has more contacts .* even with"):
        batch.step(actions(1, 3)[0])


def test_a_simulation_that_breaks_down_is_told_and_stays_alone(shared, nine, actions):
    begin(shared, nine)
    state = shared.get_state()
    state[1, shared.robot.model.nq] = np.nan
    shared.set_state(state)
    first, second = actions(2, 3)
    assert shared.step(first).tolist() == [False, True, False]
    assert np.isfinite(shared.get_state()).all()
    assert shared.step(second).tolist() == [False, True, False]
    shared.reset(nine.qpos[3:4], np.array([1]))
    assert not shared.step(first).any()


def test_shows_a_robot(shared, nine):
    begin(shared, nine)
    np.testing.assert_allclose(shared.data(1).qpos, nine.qpos[3])


def test_vector_environment_on_warp(bittle, nine):
    env = RobotVectorEnv(
        3, robot=bittle, starts=nine, engine="warp", device="cpu", max_episode_steps=2
    )
    env.reset(seed=0)
    for _ in range(2):
        obs, reward, _, truncated, _ = env.step(np.zeros((3, 8)))
    assert truncated.all()
    assert np.isfinite(obs).all()
    assert (reward > 0).all()


def test_other_engines_are_refused(bittle):
    with pytest.raises(InputError, match="'mujoco' and 'warp', not on 'bullet'"):
        RobotsBatch(bittle, 1, engine="bullet")
    with pytest.raises(InputError, match="`device` is for the engine 'warp'"):
        RobotsBatch(bittle, 1, device="cpu")
