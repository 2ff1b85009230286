from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from kaccess import InputError, load_robot
from kaccess.config import EngineConfig
from kaccess.envs import RobotsBatch
from kaccess.envs.readings import _find_rotation
from tests.conftest import TINY
from tests.envs.common import FAST
from tests.envs.plain import LEGS, PlainRobot


def draw_states(nine, n):
    return nine.sample(np.random.default_rng(1), n)


@pytest.fixture
def pair(bittle, nine, actions):
    """Robots in a batch and in plain loops, after half a second of the same motion."""
    batch = RobotsBatch(bittle, 5, low_pass=0.4, engine=EngineConfig(threads=2))
    plains = [PlainRobot(bittle) for _ in range(5)]
    qpos = draw_states(nine, 5)
    batch.reset(qpos)
    for plain, state in zip(plains, qpos, strict=True):
        plain.reset(state)
    for action in actions(12, 5):
        batch.step(action)
        for plain, each in zip(plains, action, strict=True):
            plain.step(each)
    return batch, plains


def test_a_batch_equals_plain_loops_to_the_bit(pair):
    batch, plains = pair
    np.testing.assert_array_equal(batch.qpos, [plain.data.qpos for plain in plains])
    np.testing.assert_array_equal(
        batch.readings.target, [plain.data.ctrl for plain in plains]
    )


def test_readings_equal_mujocos_sensors(pair):
    batch, plains = pair
    now = batch.readings
    expected = {
        "height": [plain.read("position")[2] for plain in plains],
        "gravity": [-plain.read("up") for plain in plains],
        "angular_velocity": [plain.read("gyro") for plain in plains],
        "torque": [plain.torque for plain in plains],
        "foot_distance": [plain.foot_distance for plain in plains],
        "distance": [plain.distance for plain in plains],
        "joints": [plain.data.qpos[7:] for plain in plains],
        "joint_velocity": [plain.data.qvel[6:] for plain in plains],
    }
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(now, name), value, atol=1e-9, err_msg=name)


def test_contacts_equal_those_of_mujoco(bittle, nine, actions):
    """From every keyframe and for some steps, so that most parts touch the floor."""
    batch, plain = RobotsBatch(bittle, 1, **FAST), PlainRobot(bittle, low_pass=0)
    torso = np.flatnonzero(bittle.model.geom_bodyid == bittle.model.body("torso").id)
    body = {bittle.model.geom(int(g)).name for g in torso}
    all_touching, body_values = set(), set()
    for qpos in nine.qpos:
        batch.reset(qpos[None])
        plain.reset(qpos)
        for action in actions(8, 1):
            batch.step(action)
            plain.step(action[0])
            now, touching = batch.readings, plain.touching
            assert now.body_touches[0] == bool(touching & body)
            for leg, touches in zip(LEGS, now.foot_touches[0], strict=True):
                assert touches == (f"{leg}_foot" in touching)
            all_touching |= touching
            body_values.add(bool(now.body_touches[0]))
    assert {"head", "tail", *(f"{leg}_foot" for leg in LEGS)} <= all_touching
    assert body_values == {True, False}


def test_a_turn_is_the_rotation_since_the_last_step(bittle):
    """In free fall, one robot spins about each axis of the body."""
    batch = RobotsBatch(bittle, 3, **FAST)
    qpos = np.repeat(bittle.standing[None], 3, axis=0)
    qpos[:, 2] = 5.0
    batch.reset(qpos)
    np.testing.assert_array_equal(batch.readings.turn, 0.0)
    state = batch.get_state()
    first = 1 + bittle.model.nq  # time, qpos, qvel
    state[:, first + 3 : first + 6] = 15.0 * np.eye(3)
    batch.set_state(state)
    held = (bittle.standing[7:] - batch._middle) / batch._half
    batch.step(np.repeat(held[None], 3, axis=0))
    turn = batch.readings.turn
    # Slower than a rigid body, because limbs swing out; about gyro rate x time.
    rate = batch.readings.angular_velocity
    np.testing.assert_allclose(np.diag(turn), 15 * 0.04, atol=0.1)
    np.testing.assert_allclose(turn, rate * 0.04, atol=0.1)


def test_a_turn_takes_the_shorter_way():
    """Compared with SciPy; a quaternion and its negative are the same attitude."""
    before, after = np.random.default_rng(0).normal(size=(2, 50, 4))
    before /= np.linalg.norm(before, axis=1, keepdims=True)
    after /= np.linalg.norm(after, axis=1, keepdims=True)
    one, other = (Rotation.from_quat(q, scalar_first=True) for q in (before, after))
    turn = np.empty(3)
    for row, expected in enumerate((one.inv() * other).as_rotvec()):
        _find_rotation(before[row], after[row], turn)
        np.testing.assert_allclose(turn, expected, atol=1e-9)
    _find_rotation(before[0], -before[0], turn)
    np.testing.assert_allclose(turn, 0.0, atol=1e-9)


def test_actions_cover_the_range_of_each_joint(robot):
    batch = RobotsBatch(robot, 3, **FAST)
    batch.reset(np.repeat(robot.standing[None], 3, axis=0))
    batch.step(np.array([[-1.0], [1.0], [7.0]]) * np.ones(8))
    low, high = robot.joint_range.T
    np.testing.assert_allclose(batch.readings.target, [low, high, high])


def test_targets_are_filtered_from_the_joints_at_the_start(bittle):
    batch = RobotsBatch(bittle, 1, low_pass=0.4, **FAST)
    batch.reset(bittle.standing[None])
    np.testing.assert_array_equal(batch.readings.target[0], bittle.standing[7:])
    target = bittle.standing[7:].copy()
    for action in (1.0, -0.5, 0.25):
        batch.step(np.full((1, 8), action))
        goal = bittle.joint_range.mean(axis=1) + action * np.radians(150)
        target = 0.4 * target + 0.6 * goal
        np.testing.assert_allclose(batch.readings.target[0], target)


@pytest.mark.parametrize(("rate", "n_substeps"), [(25, 12), (50, 6), (300, 1)])
def test_a_control_step_is_a_whole_number_of_physics_steps(bittle, rate, n_substeps):
    batch = RobotsBatch(bittle, 1, control_rate=rate, **FAST)
    assert batch.n_substeps == n_substeps
    batch.reset(bittle.standing[None])
    batch.step(np.zeros((1, 8)))
    assert batch.get_data(0).time == pytest.approx(1 / rate)
    assert batch.readings.time_step == pytest.approx(1 / rate)


@pytest.mark.parametrize("rate", [40, 301, 700])
def test_control_rates_that_do_not_divide_the_physics_rate_raise(bittle, rate):
    with pytest.raises(InputError, match=rf"must divide .* got {rate} Hz and 300 Hz"):
        RobotsBatch(bittle, 1, control_rate=rate)


def test_threads_and_other_robots_change_nothing(bittle, nine, actions):
    qpos, states = draw_states(nine, 6), []
    for n_threads in (1, 2):
        batch = RobotsBatch(bittle, 6, engine=EngineConfig(threads=n_threads))
        batch.reset(qpos)
        for action in actions(10, 6):
            batch.step(action)
        states.append(batch.get_state())
    np.testing.assert_array_equal(*states)

    alone = RobotsBatch(bittle, 1, **FAST)
    alone.reset(qpos[3:4])
    for action in actions(10, 6):
        alone.step(action[3:4])
    np.testing.assert_array_equal(alone.get_state(), states[0][3:4])


def test_a_reset_robot_equals_a_new_one(bittle, nine, actions):
    batch, fresh = (RobotsBatch(bittle, 2, **FAST) for _ in range(2))
    batch.reset(draw_states(nine, 2))
    for action in actions(10, 2):
        batch.step(action)
    moved = batch.get_state()
    batch.reset(nine.qpos[:1], np.array([1]))
    fresh.reset(nine.qpos[[0, 0]])
    after = batch.get_state()
    np.testing.assert_array_equal(after[0], moved[0])
    np.testing.assert_array_equal(after[1], fresh.get_state()[1])
    for now, new in zip(batch.readings[:13], fresh.readings[:13], strict=True):
        np.testing.assert_array_equal(now[1], new[1])


def test_a_diverged_simulation_is_reported_and_affects_no_other(bittle, capfd):
    batch = RobotsBatch(bittle, 3, **FAST)
    batch.reset(np.repeat(bittle.standing[None], 3, axis=0))
    state = batch.get_state()
    state[1, 1 + bittle.model.nq] = 1e12  # a velocity
    batch.set_state(state)
    np.testing.assert_array_equal(batch.step(np.zeros((3, 8))), [False, True, False])
    batch.reset(bittle.standing[None], np.array([1]))
    assert not batch.step(np.zeros((3, 8))).any()
    assert capfd.readouterr() == ("", "")


def test_the_standing_height_is_that_of_the_standing_pose_at_rest(bittle):
    batch, plain = RobotsBatch(bittle, 1), PlainRobot(bittle)
    plain.reset(bittle.standing)
    for _ in range(900):
        mujoco.mj_step(plain.model, plain.data)
    settled = plain.data.qpos[2]
    assert settled < bittle.standing[2] - 5e-4
    assert batch.readings.standing_height == pytest.approx(settled, abs=2e-4)


def test_a_robot_that_cannot_stand_still_raises(tiny):
    ice = tiny.model.__copy__()
    ice.opt.gravity[0] = 5.0
    ice.geom_friction[:] = 1e-6
    robot = replace(tiny, model=ice, known_stance=tiny.stance)
    with pytest.raises(InputError, match="does not come to rest in its standing pose"):
        RobotsBatch(robot, 1)


def test_a_robot_that_cannot_stand_raises_and_says_why(tiny):
    stance = replace(tiny.stance, stands=False, how="its legs are too short")
    message = r"tiny has no standing pose, .*: its legs are too short\. Make a study"
    with pytest.raises(InputError, match=message):
        RobotsBatch(load_robot(TINY, stance=stance), 1)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda q: q[:, :-1], r"shape \(2, 15\) .* got \(2, 14\)"),
        (lambda q: q[:1], r"shape \(2, 15\)"),
        (lambda q: np.where(np.arange(15) == 8, np.nan, q), "must be finite"),
        (lambda q: np.where(np.arange(15) == 3, 0.5, q), r"unit quaternion .* 0\.5"),
        (lambda q: q - 0.03 * (np.arange(15) == 2), "30 mm inside it"),
    ],
)
def test_invalid_states_raise(bittle, change, reason):
    batch = RobotsBatch(bittle, 2, **FAST)
    with pytest.raises(InputError, match=reason):
        batch.reset(change(np.repeat(bittle.standing[None], 2, axis=0)))


def test_invalid_actions_raise(bittle):
    batch = RobotsBatch(bittle, 2, **FAST)
    batch.reset(np.repeat(bittle.standing[None], 2, axis=0))
    with pytest.raises(InputError, match=r"`actions` .* \(2, 8\), .* got \(2, 7\)"):
        batch.step(np.zeros((2, 7)))
    with pytest.raises(InputError, match="`actions` must be finite"):
        batch.step(np.full((2, 8), np.nan))


def test_invalid_counts_raise(bittle):
    with pytest.raises(InputError, match="`num_envs` must be at least 1, got 0"):
        RobotsBatch(bittle, 0)
    with pytest.raises(InputError, match="`threads` must not be negative, got -1"):
        RobotsBatch(bittle, 1, engine=EngineConfig(threads=-1))
