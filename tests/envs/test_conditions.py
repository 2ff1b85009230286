"""Harder conditions: their text form, and the effect of each on the physics."""

import mujoco
import numpy as np
import pytest

from kaccess import InputError, Robot, load_robot
from kaccess.envs import Conditions, FallRecovery, RobotEnv, RobotsBatch, RobotVectorEnv
from kaccess.envs import conditions as module
from kaccess.envs.rest import RestPose
from kaccess.robots import ROBOTS
from tests.conftest import TINY
from tests.envs.common import ALL, FAST, hold

G = 9.81
LEGS_UP = -np.pi / 2, -np.pi / 2  # of the tiny robot, on its belly


def change_tiny(tmp_path, *changes):
    text = TINY.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "changed.xml"
    path.write_text(text)
    return load_robot(path)


# Text


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("", Conditions()),
        ("torque=0.6", Conditions(torque=0.6)),
        ("torque=0.6,delay=0.04", Conditions(delay=0.04, torque=0.6)),
        ("friction=0.3,mass=2,slope=10", Conditions(friction=0.3, mass=2, slope=10)),
        ("torque=0.1234567890123", Conditions(torque=0.1234567890123)),
        ("friction=1e-05", Conditions(friction=np.float64(1e-5))),
        ("filter=0", Conditions(filter=0)),
    ],
)
def test_conditions_convert_to_text_and_back(text, conditions):
    assert conditions.text == text
    assert Conditions.parse(text) == conditions


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nominal", ""),
        (" ", ""),
        ("torque=1,slope=0.0,delay=0", ""),
        ("delay=0.040, torque = .60", "torque=0.6,delay=0.04"),
        ("mass=2.0", "mass=2"),
    ],
)
def test_the_text_is_canonical(text, canonical):
    assert Conditions.parse(text).text == canonical


def test_conditions_are_given_as_an_object_as_text_or_as_none():
    expected = Conditions(torque=0.5)
    assert Conditions.of("torque=0.5") == Conditions.of(expected) == expected
    assert Conditions.of(None) == Conditions.of("") == Conditions()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("torqe=0.6", r"Unknown condition 'torqe' .*Did you mean 'torque'\?"),
        ("gravity=3", "must be one of torque, friction, mass, slope, delay"),
        ("torque=0.6,", "Unknown condition ''"),
        ("torque", "`torque` must be a number, got ''"),
        ("friction=ice", "`friction` must be a number, got 'ice'"),
        ("mass=1.5,mass=2", "Condition 'mass' must appear once"),
        ("torque=0", "`torque` must be positive and below 1000, got 0"),
        ("friction=-0.1", "`friction` must be positive"),
        ("mass=nan", "`mass` must be positive"),
        ("slope=-5", r"`slope` must lie in \[0, 45\] deg, got -5"),
        ("slope=90", r"`slope` must lie in \[0, 45\] deg"),
        ("delay=-0.04", r"`delay` must lie in \[0, 1\] s, got -0.04"),
        ("delay=inf", r"`delay` must lie in \[0, 1\] s"),
        ("filter=1", r"`filter` must lie in \[0, 1\), got 1"),
    ],
)
def test_invalid_conditions_raise(text, reason):
    with pytest.raises(InputError, match=reason):
        Conditions.parse(text)


def test_a_delay_of_a_fraction_of_a_control_period_raises():
    with pytest.raises(InputError, match=r"periods of 0.04 s, got 0.05 s"):
        RobotEnv(conditions="delay=0.05")
    assert Conditions(delay=0.05).count_delay_steps(20.0) == 1
    assert Conditions(delay=0.12).count_delay_steps(25.0) == 3


# Physics


def test_nominal_conditions_return_the_robot_itself(bittle):
    assert Conditions().apply_to(bittle) is bittle
    assert Conditions(delay=0.04).apply_to(bittle) is bittle


def test_conditions_do_not_change_the_robot_of_the_study(bittle):
    before = bittle.fingerprint
    changed = Conditions.parse(ALL).apply_to(bittle)
    assert Robot("bittle", bittle.model, 0.35).fingerprint == before
    assert changed.fingerprint != before
    assert changed.drop_height == bittle.drop_height
    np.testing.assert_array_equal(changed.model.geom_size, bittle.model.geom_size)


def test_torque_limits_are_scaled(bittle):
    """Legs that are commanded to swing push with their largest torque."""
    largest = []
    for text in ("", "torque=0.6"):
        env = RobotVectorEnv(1, FallRecovery(low_pass=0.0), conditions=text, **FAST)
        env.reset(seed=0)
        env.step(-np.ones((1, 8)))
        largest.append(np.abs(env.episodes.robots.readings.torque).max())
    np.testing.assert_allclose(largest, [0.29, 0.6 * 0.29])


def test_torque_limits_of_joints_are_scaled_too(tmp_path):
    robot = change_tiny(
        tmp_path,
        ('forcerange="-2 2" ', ""),
        ('damping="0.05"', 'damping="0.05" actuatorfrcrange="-1 1"'),
    )
    changed = Conditions(torque=0.25).apply_to(robot)
    data = mujoco.MjData(changed.model)
    data.ctrl[:] = 2.0  # with kp 2, 4 N m without a limit
    mujoco.mj_forward(changed.model, data)
    np.testing.assert_allclose(data.qfrc_actuator[6:], 0.25)


def test_scaling_torque_without_a_limit_raises(tmp_path):
    robot = change_tiny(tmp_path, ('forcerange="-2 2" ', ""))
    with pytest.raises(InputError, match="actuator of joint 'left' has none"):
        Conditions(torque=0.5).apply_to(robot)


def test_the_mass_of_the_body_is_scaled(tiny):
    """A box of 0.5 kg and two flippers of 0.05 kg, at rest on the floor."""
    model = Conditions(mass=3).apply_to(tiny).model
    base = model.body("base").id
    assert model.body_mass[base] == pytest.approx(1.5)
    a, b, c = 0.1, 0.06, 0.03
    inertia = 1.5 / 3 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    np.testing.assert_allclose(sorted(model.body_inertia[base]), sorted(inertia))
    np.testing.assert_allclose(model.body_mass[base + 1 :], 0.05)

    data = mujoco.MjData(model)
    data.qpos[:] = tiny.standing
    for _ in range(500):
        mujoco.mj_step(model, data)
    force, push = np.zeros(6), 0.0
    for contact in range(data.ncon):
        mujoco.mj_contactForce(model, data, contact, force)
        push += force[0]
    assert push == pytest.approx(1.6 * G, rel=1e-3)


def test_a_heavier_body_equals_one_that_was_compiled_so(bittle):
    spec = mujoco.MjSpec.from_file(str(ROBOTS["bittle"].mjcf))
    torso = spec.body("torso")
    torso.mass *= 1.5
    torso.fullinertia = 1.5 * torso.fullinertia
    expected, got = spec.compile(), Conditions(mass=1.5).apply_to(bittle).model
    for name in dir(expected):
        value = getattr(expected, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(
                getattr(got, name), value, rtol=1e-9, err_msg=name
            )
    assert got.stat.meaninertia == pytest.approx(expected.stat.meaninertia)


def test_bodies_welded_to_the_base_are_part_of_the_body(tmp_path):
    head = '<body><geom type="sphere" pos=".1 0 .02" size=".02" mass="0.1"/></body>'
    end = '<body name="left"'
    robot = change_tiny(tmp_path, (end, head + end))
    masses = Conditions(mass=2).apply_to(robot).model.body_mass
    np.testing.assert_allclose(masses[1:], [1.0, 0.2, 0.05, 0.05])


def test_the_standing_height_includes_the_load(bittle):
    heavy = Conditions(mass=3)
    robots = RobotVectorEnv(1, conditions=heavy, **FAST).episodes.robots
    expected = RobotsBatch(heavy.apply_to(bittle), 1).readings.standing_height
    light = RobotsBatch(bittle, 1).readings.standing_height
    assert robots.readings.standing_height == expected < light - 0.001


def test_robots_fall_along_tilted_gravity(bittle):
    """The floor rises along x, so robots also fall towards -x."""
    env = RobotVectorEnv(1, conditions="slope=10", **FAST)
    qpos = bittle.standing.copy()
    qpos[2] = 5.0
    env.reset(options={"qpos": qpos})
    for _ in range(5):
        env.step(hold(bittle, qpos)[None])
    angle, time = np.radians(10), 0.2
    fall = -G * np.array([np.sin(angle), 0, np.cos(angle)])
    robots = env.episodes.robots
    velocity = robots.get_data(0).qvel[:3]
    np.testing.assert_allclose(velocity, fall * time, atol=1e-6)
    np.testing.assert_allclose(robots.readings.gravity[0], fall / G, atol=1e-9)


@pytest.mark.parametrize("slope", [14.0, 20.0])
def test_friction_holds_only_below_the_critical_angle(tiny, monkeypatch, slope):
    """It is 16.7 degrees for 0.3; above, the box slides as in textbooks."""
    conditions = Conditions(friction=0.3, slope=slope)
    angle = np.radians(slope)
    slides = np.tan(angle) > 0.3
    if slides:
        with pytest.raises(InputError, match=r"under friction=0.3,slope=20 cannot"):
            conditions.apply_to(tiny)
    monkeypatch.setattr(module, "_check_standing", lambda nominal, changed: None)
    model = conditions.apply_to(tiny).model
    data = mujoco.MjData(model)
    data.qpos[[2, 7, 8]] = 0.03, *LEGS_UP
    data.ctrl[:] = LEGS_UP
    for _ in range(250):  # a second
        mujoco.mj_step(model, data)
    pull = G * (np.sin(angle) - 0.3 * np.cos(angle))
    expected = -pull / 2 if slides else 0.0
    assert data.qpos[0] == pytest.approx(expected, abs=0.02)
    assert (data.qvel[0] < -0.5) == slides


def test_friction_of_explicit_pairs_is_set_too(tmp_path):
    robot = change_tiny(
        tmp_path,
        ('<geom type="plane"', '<geom name="floor" type="plane"'),
        ('<geom type="box"', '<geom name="box" type="box"'),
        (
            "<actuator>",
            '<contact><pair geom1="floor" geom2="box"/></contact><actuator>',
        ),
    )
    model = Conditions(friction=0.2).apply_to(robot).model
    np.testing.assert_array_equal(model.pair_friction[:, :2], 0.2)
    np.testing.assert_array_equal(model.geom_friction[:, 0], 0.2)


@pytest.mark.parametrize("text", ["slope=30", "torque=0.02", "mass=40"])
def test_conditions_under_which_the_robot_cannot_stand_raise(bittle, text):
    with pytest.raises(InputError, match=f"bittle under {text} cannot hold its stand"):
        RobotEnv(conditions=text)


@pytest.mark.parametrize(
    ("before", "now", "raises"),
    [
        ((0.1, 0), (0.085, 20), False),
        ((0.1, 0), (0.075, 0), True),  # gave way
        ((0.1, 0), (0.1, 30), True),  # tipped over
        ((0.1, 0), None, True),  # slides
        ((0.1, 90), (0.1, 90), False),  # stands like that nominally, too
        (None, None, False),  # never stood
    ],
)
def test_the_standing_pose_must_stay_high_and_upright(
    bittle, monkeypatch, before, now, raises
):
    def settle(robot):
        settled = before if robot is bittle else now
        if settled is None:
            return None
        height, angle = settled[0], np.radians(settled[1])
        return RestPose(height, np.array([np.sin(angle), 0.0, np.cos(angle)]))

    monkeypatch.setattr(module, "settle_standing", settle)
    if raises:
        with pytest.raises(InputError, match="it slides, tips over or gives way"):
            Conditions(mass=2).apply_to(bittle)
    else:
        Conditions(mass=2).apply_to(bittle)
