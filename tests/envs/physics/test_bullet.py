"""Environments in PyBullet: readings as in MuJoCo, resets, states, seeds."""

from itertools import pairwise

import gymnasium
import numpy as np
import pytest

pytest.importorskip("pybullet", reason="PyBullet is not installed")

from kaccess.config import EngineConfig
from kaccess.engines.bullet import ORDINARY
from kaccess.engines.bullet import world as world_module
from kaccess.engines.bullet.model import describe_robot
from kaccess.engines.bullet.world import Crowd, World
from kaccess.envs import Conditions, RobotsBatch
from tests.envs.common import hold

pytestmark = pytest.mark.bullet

BULLET = EngineConfig(engine="bullet")
ROWS = [0, 3, 5]
# At rest for a second, in each of nine poses: largest difference from MuJoCo.
AT_REST = {
    "height": 3e-3,  # [m]; 0.1 mm in all poses but the one with its legs spread
    "gravity": 6e-3,
    "angular_velocity": 0.01,  # [rad/s]
    "joints": 0.03,  # [rad]
    "joint_velocity": 0.03,  # [rad/s]
    "torque": 0.015,  # [N m]
    "distance": 3e-4,  # [m]
    "foot_distance": 3e-4,  # [m]
}


def make_robots(robot, n=3, engine=BULLET):
    return RobotsBatch(robot, n, low_pass=0.4, engine=engine)


@pytest.fixture(scope="module")
def shared(bittle):
    return make_robots(bittle)


def begin(batch, nine, rows=ROWS):
    batch.reset(nine.qpos[rows])
    return batch


def test_a_robot_at_rest_reads_as_in_mujoco(bittle, nine):
    held = np.array([hold(bittle, qpos) for qpos in nine.qpos])
    bullet, mujoco = (make_robots(bittle, 9, each) for each in (BULLET, "mujoco"))
    for batch in (bullet, mujoco):
        batch.reset(nine.qpos)
        for _ in range(25):
            assert not batch.step(held).any()
    for name, tolerance in AT_REST.items():
        expected = getattr(mujoco.readings, name)
        np.testing.assert_allclose(
            getattr(bullet.readings, name), expected, atol=tolerance, err_msg=name
        )
    for name in ("body_touches", "foot_touches"):
        expected = getattr(mujoco.readings, name)
        np.testing.assert_array_equal(getattr(bullet.readings, name), expected)
        assert expected.any() and not expected.all()


def test_a_step_equals_a_plain_loop_to_the_bit(bittle, nine, actions):
    model = describe_robot(bittle.model, bittle.name)
    world = World(model, ORDINARY)
    world.reset(nine.qpos[0])
    world.bullet.setPhysicsEngineParameter(solverResidualThreshold=0.0)
    batch = begin(make_robots(bittle, 1), nine, [0])
    for action in actions(3, 1):
        batch.step(action)
        target = batch.readings.target[0]
        for _ in range(12):
            qpos, qvel = world.read_state()
            world.step(model.compute_force(target, qpos[7:], qvel[6:]))
        torque = model.actuators.compute_each(target, qpos[7:], qvel[6:])
        qpos, qvel = world.read_state()
        np.testing.assert_array_equal(batch.qpos[0], qpos)
        np.testing.assert_array_equal(batch.readings.joint_velocity[0], qvel[6:])
        np.testing.assert_allclose(batch.readings.torque[0], torque, atol=1e-12)


def test_robots_hardly_affect_one_another(bittle, shared, nine, actions):
    """The first two of three move as two alone do, but for the order of constraints."""
    pair = begin(make_robots(bittle, 2), nine, ROWS[:2])
    begin(shared, nine)
    for action in actions(2, 3):
        shared.step(action)
        pair.step(action[:2])
    np.testing.assert_allclose(shared.qpos[:2], pair.qpos, atol=0.01)


def test_a_reset_robot_equals_a_new_one_and_leaves_the_others(shared, nine, actions):
    begin(shared, nine)
    new = shared.get_state()
    for action in actions(2, 3):
        shared.step(action)
    moved = shared.get_state()
    shared.reset(nine.qpos[3:4], np.array([1]))
    after = shared.get_state()
    np.testing.assert_array_equal(after[[0, 2]], moved[[0, 2]])
    np.testing.assert_array_equal(after[1], new[1])
    np.testing.assert_array_equal(shared.readings.torque[1], 0.0)
    held = shared.robot.to_actions(shared.readings.target)
    shared.step(held)  # from rest: had it kept its speed, it would move
    np.testing.assert_allclose(shared.qpos[1], nine.qpos[3], atol=0.01)


def test_a_motion_goes_on_from_a_state(shared, nine, actions):
    """Velocities are those of joints and of their rotors; contacts are found anew."""
    begin(shared, nine)
    first, second = actions(2, 3)
    shared.step(first)
    state = shared.get_state()
    shared.step(second)
    expected = shared.qpos
    shared.set_state(state)
    np.testing.assert_allclose(shared.get_state(), state, atol=1e-12)
    shared.step(second)
    np.testing.assert_allclose(shared.qpos, expected, atol=0.02)


def test_a_diverged_simulation_is_held_and_affects_no_other(shared, nine, actions):
    begin(shared, nine)
    state = shared.get_state()
    state[1, shared.robot.model.nq] = 1e9  # a velocity
    shared.set_state(state)
    first, second = actions(2, 3)
    assert shared.step(first).tolist() == [False, True, False]
    assert np.isfinite(shared.get_state()).all()
    assert shared.step(second).tolist() == [False, True, False]
    shared.reset(nine.qpos[3:4], np.array([1]))
    assert not shared.step(first).any()


def test_conditions_apply_in_bullet_too(bittle, nine, actions):
    """Compared with MuJoCo, three steps from rest."""
    hard = Conditions.parse("torque=0.5,friction=0.2,mass=1.5,slope=10")
    robot = hard.apply_to(bittle)
    bullet, mujoco, nominal = (
        begin(make_robots(body, engine=engine), nine)
        for body, engine in ((robot, BULLET), (robot, "mujoco"), (bittle, BULLET))
    )
    for action in actions(3, 3):
        for each in (bullet, mujoco, nominal):
            each.step(0.3 * action)
    now, expected, easy = (each.readings for each in (bullet, mujoco, nominal))
    for name in ("joints", "height", "gravity"):
        difference = np.abs(getattr(now, name) - getattr(expected, name)).max()
        assert difference < 0.04
        assert np.abs(getattr(now, name) - getattr(easy, name)).max() > difference


def test_data_of_one_robot_show_its_state(shared, nine):
    begin(shared, nine)
    np.testing.assert_allclose(shared.get_data(1).qpos, nine.qpos[3])


def test_a_seed_gives_the_same_episodes(nine, actions):
    """To the bit, over the end of an episode, which begins the next one."""

    def run():
        env = gymnasium.make_vec(
            "kaccess/FallRecovery-v0",
            num_envs=2,
            starts=nine,
            engine="bullet",
            max_episode_steps=3,
        )
        steps = [env.reset(seed=4)[0]]
        for action in actions(5, 2):
            obs, reward, _, truncated, info = env.step(action)
            steps += [obs, reward]
            assert truncated.all() == ("final_obs" in info) == (len(steps) == 7)
            assert (reward > 0).all()
        return steps

    for one, other in zip(run(), run(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_first_world_of_several_moves_as_if_alone(
    bittle, nine, actions, monkeypatch
):
    alone = begin(make_robots(bittle, 2), nine, ROWS[:2])
    monkeypatch.setattr(world_module, "_IN_A_WORLD", 2)
    several = begin(make_robots(bittle), nine)
    for action in actions(3, 3):
        alone.step(action[:2])
        several.step(action)
    np.testing.assert_array_equal(several.qpos[:2], alone.qpos)
    several.reset(nine.qpos[[0]], np.array([2]))
    np.testing.assert_allclose(several.qpos[2], nine.qpos[0], atol=1e-12)
    np.testing.assert_array_equal(several.qpos[:2], alone.qpos)


def test_robots_are_made_in_places_of_their_own(bittle):
    crowd = Crowd(describe_robot(bittle.model, bittle.name), np.arange(3), ORDINARY)
    for body in crowd.bodies:
        body.make()
    boxes = [body.bullet.getAABB(body.body) for body in crowd.bodies]
    ends = [(low[0], high[0]) for low, high in boxes]
    assert all(a[1] < b[0] for a, b in pairwise(ends))
