"""Environments on MuJoCo Warp, on its CPU device: the same code as on a GPU."""

import numpy as np
import pytest

pytest.importorskip("mujoco_warp")

from mujoco_warp import OverflowType

from kaccess import InputError
from kaccess.config import EngineConfig
from kaccess.engines.warp.buffers import Buffers
from kaccess.envs import Conditions, RobotsBatch, RobotVectorEnv
from kaccess.envs.draws import Draws

WARP = EngineConfig(engine="warp", device="cpu")


def make_robots(robot, n, engine=WARP):
    return RobotsBatch(robot, n, low_pass=0.4, engine=engine)


@pytest.fixture(scope="module")
def shared(bittle):
    return make_robots(bittle, 3)


def begin(batch, nine):
    batch.reset(nine.qpos[[0, 3, 5]])
    return batch


def test_robots_move_as_on_mujoco(bittle, shared, nine, actions):
    """For three control steps; after that, rounding shows in contacts."""
    warp, mujoco = begin(shared, nine), begin(make_robots(bittle, 3, "mujoco"), nine)
    for name in ("gravity", "distance", "foot_distance", "target", "joints"):
        expected = getattr(mujoco.readings, name)
        np.testing.assert_allclose(
            getattr(warp.readings, name), expected, atol=1e-6, err_msg=name
        )
    for action in actions(3, 3):
        assert not warp.step(0.3 * action).any()
        mujoco.step(0.3 * action)
    np.testing.assert_allclose(warp.qpos, mujoco.qpos, atol=2e-3)
    for name in ("height", "torque", "distance", "foot_distance", "turn"):
        expected = getattr(mujoco.readings, name)
        np.testing.assert_allclose(
            getattr(warp.readings, name), expected, atol=5e-3, err_msg=name
        )


def test_conditions_apply_on_warp_too(bittle, nine, actions):
    hard = Conditions.parse("torque=0.5,friction=0.2,mass=1.5,slope=10")
    robot = hard.apply_to(bittle)
    warp, mujoco, nominal = (
        begin(make_robots(body, 3, engine), nine)
        for body, engine in ((robot, WARP), (robot, "mujoco"), (bittle, "mujoco"))
    )
    for action in actions(3, 3):
        for each in (warp, mujoco, nominal):
            each.step(0.3 * action)
    np.testing.assert_allclose(warp.qpos, mujoco.qpos, atol=2e-3)
    assert np.abs(mujoco.qpos - nominal.qpos).max() > 0.02
    np.testing.assert_allclose(
        warp.readings.gravity, mujoco.readings.gravity, atol=5e-3
    )


def test_a_reset_robot_equals_a_new_one_and_affects_no_other(shared, nine, actions):
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


def test_a_run_continues_from_a_state(shared, nine, actions):
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


def test_too_many_contacts_repeat_the_step_with_larger_buffers(
    bittle, shared, nine, actions, monkeypatch, caplog
):
    small = Buffers(n_contacts=4, n_rows=10)
    monkeypatch.setattr(Buffers, "of", lambda model: small)
    crowded = begin(make_robots(bittle, 3), nine)
    begin(shared, nine)
    action = next(iter(actions(1, 3)))
    for each in (crowded, shared):
        each.step(0.3 * action)
    assert "The step is repeated" in caplog.text
    np.testing.assert_allclose(crowded.qpos, shared.qpos, atol=1e-4)


@pytest.mark.parametrize(
    ("flag", "position", "n_overflowed"),
    [
        (OverflowType.NEFC, 0.0, 1),
        (OverflowType.CCD, 0.0, 1),
        (OverflowType.NEFC, np.nan, 0),
        (OverflowType.EPA_HORIZON, 0.0, 0),
        (OverflowType.ITERATIONS, 0.0, 0),
    ],
)
def test_buffers_grow_only_where_that_helps(shared, nine, flag, position, n_overflowed):
    """A diverged robot and a contact without a depth would double them to no end."""
    physics = begin(shared, nine)._physics
    qpos = physics._worlds.qpos.numpy()
    qpos[1, 0] = position
    physics._worlds.qpos.assign(qpos)
    physics._worlds.overflow.assign(np.array([0, int(flag), 0]))
    assert physics._count_overflowed() == n_overflowed
    physics._worlds.overflow.zero_()


def test_more_contacts_than_the_largest_buffer_raise(
    bittle, nine, actions, monkeypatch
):
    batch = begin(make_robots(bittle, 3), nine)
    monkeypatch.setattr(batch._physics, "_count_overflowed", lambda: 1)
    monkeypatch.setattr(batch._physics, "_grow_buffers", lambda n: None)
    with pytest.raises(InputError, match=r"bittle has more contacts .* even with"):
        batch.step(actions(1, 3)[0])


def test_a_diverged_simulation_is_reported_and_affects_no_other(shared, nine, actions):
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


def test_data_of_one_robot_show_its_state(shared, nine):
    begin(shared, nine)
    np.testing.assert_allclose(shared.get_data(1).qpos, nine.qpos[3])


def test_a_vector_environment_runs_on_warp(bittle, nine):
    env = RobotVectorEnv(3, robot=bittle, starts=nine, engine=WARP, max_episode_steps=2)
    env.reset(seed=0)
    for _ in range(2):
        obs, reward, _, truncated, _ = env.step(np.zeros((3, 8)))
    assert truncated.all()
    assert np.isfinite(obs).all()
    assert (reward > 0).all()


def test_a_device_of_another_engine_raises(bittle):
    with pytest.raises(InputError, match="`device` is for the engine 'warp'"):
        RobotsBatch(bittle, 1, engine=EngineConfig(device="cpu"))


def test_each_robot_has_its_own_draws_on_warp_too(bittle, nine, actions):
    """Models that differ between worlds, and a battery that sags, against MuJoCo."""
    draws = [Draws(Conditions(randomize=1), bittle, 3) for _ in range(2)]
    for each in draws:
        each.draw(np.arange(3), None)
    warp, mujoco = (
        begin(
            RobotsBatch(bittle, 3, engine=engine, draws=each, varied=True),
            nine,
        )
        for engine, each in zip((WARP, "mujoco"), draws, strict=True)
    )
    nominal = begin(make_robots(bittle, 3, "mujoco"), nine)
    for action in actions(3, 3):
        assert not warp.step(0.3 * action).any()
        mujoco.step(0.3 * action)
        nominal.step(0.3 * action)
    np.testing.assert_allclose(warp.qpos, mujoco.qpos, atol=3e-3)
    np.testing.assert_allclose(
        warp.readings.gravity, mujoco.readings.gravity, atol=5e-3
    )
    assert (np.abs(mujoco.qpos - nominal.qpos).max(axis=1) > 0.02).all()
