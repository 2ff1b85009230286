"""What reality does to commands, sensors and models, robot by robot."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from kaccess import InputError
from kaccess.config import SENSOR_NOISE, Ranges
from kaccess.envs import Conditions, RobotsBatch
from kaccess.envs.changes import MODEL_VALUES, change_model
from kaccess.envs.draws import DRAWN, Draws
from kaccess.envs.episodes import Episodes
from kaccess.envs.keyed import draw_normal, draw_uniform
from kaccess.envs.sensors import sense
from kaccess.envs.tasks import make_task
from kaccess.envs.wire import Wire, count_segments
from tests.envs.common import FAST
from tests.envs.hand import make_standing

DEG = np.pi / 180
WIRE = "latency=0.05,jitter=0.02,offset=3,backlash=2,rounding=1,sag=0.3"


def make_draws(robot, text, n=1):
    draws = Draws(Conditions.parse(text), robot, n)
    draws.draw(np.arange(n), None)
    return draws


def make_wire(robot, text, n=1, *, low_pass=0.0, n_segments=4):
    """Return a wire of joints that all go from -1 to 1 rad, at 25 Hz."""
    nu = robot.model.nu
    return Wire(
        make_draws(robot, text, n),
        middle=np.zeros(nu),
        half=np.ones(nu),
        low_pass=low_pass,
        control_rate=25.0,
        n_segments=n_segments,
    )


def drive(wire, targets, nu=8, n_segments=4):
    """Send one target after another; return the motor's target in each segment."""
    wire.begin(np.arange(1), np.zeros((1, nu)))
    ctrl, seen = np.zeros((1, nu)), []
    for target in targets:
        wire.send(np.full((1, nu), target))
        for segment in range(n_segments):
            wire.arrive(segment, ctrl)
            seen.append(ctrl[0, 0])
    return np.array(seen)


# Commands


def test_a_perfect_wire_changes_nothing(bittle, nine, actions):
    """Bit for bit, although the physics then runs in four segments."""
    plain = RobotsBatch(bittle, 3, low_pass=0.4, **FAST)
    draws = make_draws(bittle, "", 3)
    wired = RobotsBatch(bittle, 3, low_pass=0.4, draws=draws, **FAST)
    for each in (plain, wired):
        each.reset(nine.qpos[[0, 3, 5]])
    for action in actions(20, 3):
        plain.step(action)
        wired.step(action)
    np.testing.assert_array_equal(wired.get_state(), plain.get_state())
    for name, values in plain.readings._asdict().items():
        np.testing.assert_array_equal(getattr(wired.readings, name), values, name)


def test_commands_arrive_after_their_latency(bittle):
    """50 ms are five segments of 10 ms."""
    seen = drive(make_wire(bittle, "latency=0.05"), [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(seen, [0] * 5 + [0.1] * 4 + [0.2] * 3)


def test_latency_of_each_command_varies(bittle):
    """Against a plain loop: of all that have arrived, the newest counts."""
    wire = make_wire(bittle, "latency=0.04,jitter=0.04")
    targets = 0.01 * np.arange(1, 41)
    seen = drive(wire, targets)
    key, rate = wire._draws.key[0], 100.0
    waits = [4 + 4 * (2 * draw_uniform(key, step, 1_000_000) - 1) for step in range(40)]
    arrival = [4 * step + np.rint(wait) for step, wait in enumerate(waits)]
    expected = [
        max((targets[k] for k in range(40) if arrival[k] <= now), default=0.0)
        for now in range(160)
    ]
    np.testing.assert_array_equal(seen, expected)
    assert len({round(wait) for wait in waits}) >= 6, rate


def test_commands_are_rounded(bittle):
    seen = drive(make_wire(bittle, "rounding=1"), [1.4 * DEG, 1.6 * DEG])
    np.testing.assert_allclose(seen, [1 * DEG] * 4 + [2 * DEG] * 4)


def test_smoothing_comes_before_rounding(bittle):
    """The controller smooths with its own numbers: errors do not add up."""
    wire = make_wire(bittle, "rounding=1", low_pass=0.5)
    seen = drive(wire, [2.6 * DEG, 2.6 * DEG])
    np.testing.assert_allclose(seen, [1 * DEG] * 4 + [2 * DEG] * 4)  # 1.3, 1.95


def test_a_joint_that_turns_back_crosses_the_play(bittle):
    seen = drive(make_wire(bittle, "backlash=2"), [5 * DEG, 4 * DEG, 1 * DEG])
    np.testing.assert_allclose(seen[::4], [4 * DEG, 4 * DEG, 2 * DEG])


def test_offsets_move_joints_and_what_they_report(bittle):
    draws = make_draws(bittle, "offset=3", 200)
    assert 2.9 * DEG < np.abs(draws.offset).max() <= 3 * DEG
    assert abs(draws.offset.mean()) < 0.2 * DEG
    wire = make_wire(bittle, "offset=3")
    offset = wire._draws.offset[0, 0]
    np.testing.assert_allclose(drive(wire, [0.5]), 0.5 + offset)
    np.testing.assert_allclose(wire.commands, 0.5)
    sensed = sense(make_standing(200), draws, np.zeros(200, np.int64))
    np.testing.assert_allclose(sensed.joints, 0.5 - draws.offset)


def test_a_battery_sags_under_load(bittle):
    wire = make_wire(bittle, "sag=0.4", 2)
    limit = np.full((2, 8), 0.29)
    for _ in range(60):
        wire.feel(np.array([[0.29] * 8, [-0.29] * 4 + [0.0] * 4]), limit)
    np.testing.assert_allclose(wire.strength, [0.6, 0.8])


def test_a_weak_battery_holds_less(bittle, nine):
    """With hardly any voltage left under load, motors give less than they could."""
    robots = {}
    for text in ("sag=0", "sag=0.9"):
        draws = make_draws(bittle, text)
        batch = RobotsBatch(bittle, 1, draws=draws, **FAST)
        batch.reset(nine.qpos[[0]])
        for step in range(12):
            batch.step(np.full((1, 8), (-1.0) ** (step // 2)))
        robots[text] = np.abs(batch.readings.torque).max()
    assert robots["sag=0.9"] < 0.9 * robots["sag=0"]


@pytest.mark.parametrize(
    ("n_substeps", "n"), [(12, 4), (10, 2), (9, 3), (7, 1), (1, 1)]
)
def test_segments_divide_the_control_step(n_substeps, n):
    assert count_segments(n_substeps) == n


# Sensors


def test_an_imu_askew_turns_what_it_measures(bittle):
    draws = make_draws(bittle, "bias=5", 50)
    now = make_standing(50, angular_velocity=[0.1, 0.2, 0.3])
    sensed = sense(now, draws, np.zeros(50, np.int64))
    angle = np.arccos(-sensed.gravity[:, 2])
    np.testing.assert_allclose(angle, 5 * DEG)
    speed = np.linalg.norm(sensed.angular_velocity, axis=1)
    np.testing.assert_allclose(speed, np.linalg.norm([0.1, 0.2, 0.3]))
    directions = np.arctan2(*sensed.gravity[:, :2].T)
    assert directions.min() < -2 and directions.max() > 2


def test_a_gyroscope_drifts(bittle):
    draws = make_draws(bittle, "drift=10", 50)
    sensed = sense(make_standing(50), draws, np.zeros(50, np.int64))
    size = np.linalg.norm(sensed.angular_velocity, axis=1)
    np.testing.assert_allclose(size, 10 * DEG)


def test_noise_has_its_size_and_is_new_in_each_step(bittle):
    draws, now = make_draws(bittle, "noise=2", 400), make_standing(400)
    one, two = (sense(now, draws, np.full(400, k)) for k in (0, 1))
    for sensed in (one, two):
        rates = sensed.angular_velocity.std()
        assert rates == pytest.approx(2 * SENSOR_NOISE.rate, rel=0.1)
        joints = (sensed.joints - now.joints).std()
        assert joints == pytest.approx(2 * SENSOR_NOISE.joints, rel=0.1)
        np.testing.assert_allclose(np.linalg.norm(sensed.gravity, axis=1), 1.0)
    both = np.corrcoef(one.angular_velocity.ravel(), two.angular_velocity.ravel())
    assert abs(both[0, 1]) < 0.1
    again = sense(now, draws, np.zeros(400, np.int64))
    np.testing.assert_array_equal(again.joints, one.joints)


def test_numbers_from_keys_are_uniform_and_normal():
    many = np.array([draw_uniform(7, k, i) for k in range(100) for i in range(20)])
    assert 0 < many.min() < 0.01 and 0.99 < many.max() < 1
    assert many.mean() == pytest.approx(0.5, abs=0.03)
    normal = np.array([draw_normal(7, k, i) for k in range(100) for i in range(20)])
    assert normal.mean() == pytest.approx(0, abs=0.08)
    assert normal.std() == pytest.approx(1, abs=0.06)
    others = {draw_uniform(8, 0, 0), draw_uniform(7, 1, 0), draw_uniform(7, 0, 1)}
    assert len({*others, draw_uniform(7, 0, 0)}) == 4


# Draws


def test_draws_lie_in_their_ranges_and_fill_them(bittle):
    draws = make_draws(bittle, "randomize=1", 300)
    for name in DRAWN:
        low, high = getattr(Ranges(), name)
        values = draws.get(name)
        assert low <= values.min() and values.max() <= high, name
        assert values.max() - values.min() > 0.9 * (high - low), name
    assert set(draws.get("rounding")) == {0.0, 1.0}


def test_conditions_that_are_given_are_not_drawn(bittle):
    draws = make_draws(bittle, "randomize=1,friction=0.3,latency=0.01", 20)
    assert set(draws.get("friction")) == {0.3}
    assert set(draws.get("latency")) == {0.01}
    assert len(set(draws.get("torque"))) == 20


def test_robots_of_a_test_draw_the_same_each_time(bittle):
    """However many there are."""
    few, many = (make_draws(bittle, "randomize=1", n) for n in (3, 8))
    np.testing.assert_array_equal(few.values, many.values[:3])
    np.testing.assert_array_equal(few.key, many.key[:3])


def test_a_range_must_go_from_low_to_high():
    with pytest.raises(InputError, match="range of `torque` must go from low to high"):
        Ranges(torque=(1.0, 0.5))


# Models


def test_each_robot_moves_like_one_with_its_own_model(bittle, nine, actions):
    """Bit for bit: fields of one batch against a batch for each model."""
    n, nothing = 3, (0.0, 0.0)
    perfect = {name: nothing for name in DRAWN if name not in MODEL_VALUES}
    draws = Draws(Conditions(randomize=1), bittle, n, Ranges(**perfect))
    draws.draw(np.arange(n), None)
    batch = RobotsBatch(bittle, n, draws=draws, varied=True, **FAST)
    batch.reset(nine.qpos[[0, 3, 5]])
    for action in actions(15, n):
        batch.step(action)
    for row in range(n):
        alone = make_alone(bittle, draws, row)
        alone.reset(nine.qpos[[[0, 3, 5][row]]])
        for action in actions(15, n):
            alone.step(action[[row]])
        np.testing.assert_array_equal(batch.qpos[row], alone.qpos[0])
        for name in ("gravity", "torque", "distance"):
            expected = getattr(alone.readings, name)[0]
            np.testing.assert_array_equal(getattr(batch.readings, name)[row], expected)
    assert np.ptp(batch.readings.gravity @ [1, 1, 1]) > 0.01


def make_alone(robot, draws, row):
    """Return one robot with the model of its draws."""
    model = robot.model.__copy__()
    change_model(robot, model, draws.get_model_values(row))
    model.stat.meaninertia = robot.model.stat.meaninertia  # shared in a batch
    own = replace(robot, model=model, known_stance=robot.stance)
    return RobotsBatch(own, 1, **FAST)


def test_a_load_moves_the_centre_of_mass(bittle):
    moved = Conditions.parse("comx=0.01,comz=-0.005").apply_to(bittle)
    centres = []
    for robot in (bittle, moved):
        data = mujoco.MjData(robot.model)
        mujoco.mj_forward(robot.model, data)
        centres.append(data.subtree_com[robot.model.jnt_bodyid[0]].copy())
    share = 0.1935 / 0.2735  # torso of the whole robot
    shift = centres[1] - centres[0]
    np.testing.assert_allclose(shift, [0.01 * share, 0, -0.005 * share], atol=1e-9)


def test_gains_and_damping_scale(bittle):
    model = Conditions.parse("gain=0.5,damping=3").apply_to(bittle).model
    np.testing.assert_allclose(model.actuator_gainprm[:, 0], 0.25)
    np.testing.assert_allclose(model.actuator_biasprm[:, 1], -0.25)
    np.testing.assert_allclose(model.actuator_biasprm[:, 2], -0.03)
    np.testing.assert_allclose(model.dof_damping[6:], 3 * 0.0193)
    assert not model.dof_damping[:6].any()


def test_pybullet_refuses_draws_but_takes_faults(bittle, nine):
    pytest.importorskip("pybullet")
    task = make_task("fall-recovery", bittle)
    drawn = Episodes(
        task, bittle, 1, conditions=Conditions(randomize=1), engine="bullet"
    )
    with pytest.raises(InputError, match="PyBullet cannot draw conditions"):
        drawn.begin(nine.qpos[:1])
    fixed = Episodes(
        task, bittle, 2, conditions=Conditions.parse(WIRE), engine="bullet"
    )
    fixed.begin(nine.qpos[:2])
    for _ in range(3):
        fixed.step(np.zeros((2, 8)))
    assert np.isfinite(fixed.observe()).all()
