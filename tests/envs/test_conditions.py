"""Harder conditions: how they are written, and what each does to the physics."""

import mujoco
import numpy as np
import pytest

from kaccess import InputError, Robot, load_robot
from kaccess.envs import Conditions, FallRecovery, RobotEnv, RobotsBatch, RobotVectorEnv
from kaccess.envs import conditions as module
from kaccess.robots import ROBOTS
from tests.conftest import TINY
from tests.envs.common import ALL, FAST, hold

G = 9.81


def changed_tiny(tmp_path, *changes):
    text = TINY.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "changed.xml"
    path.write_text(text)
    return load_robot(path)


# Words


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("", Conditions()),
        ("torque=0.6", Conditions(torque=0.6)),
        ("torque=0.6,delay=0.04", Conditions(delay=0.04, torque=0.6)),
        ("friction=0.3,mass=2,slope=10", Conditions(friction=0.3, mass=2, slope=10)),
        ("torque=0.1234567890123", Conditions(torque=0.1234567890123)),
        ("friction=1e-05", Conditions(friction=np.float64(1e-5))),
    ],
)
def test_conditions_are_written_and_read(text, conditions):
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


def test_conditions_are_given_in_three_ways():
    expected = Conditions(torque=0.5)
    assert Conditions.of("torque=0.5") == Conditions.of(expected) == expected
    assert Conditions.of(None) == Conditions.of("") == Conditions()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("torqe=0.6", r"Unknown condition 'torqe' .*Did you mean 'torque'\?"),
        ("gravity=3", "none of torque, friction, mass, slope, delay"),
        ("torque=0.6,", "Unknown condition ''"),
        ("torque", "`torque` must be a number, got ''"),
        ("friction=ice", "`friction` must be a number, got 'ice'"),
        ("mass=1.5,mass=2", "names 'mass' twice"),
        ("torque=0", "`torque` must be positive and below 1000, got 0"),
        ("friction=-0.1", "`friction` must be positive"),
        ("mass=nan", "`mass` must be positive"),
        ("slope=-5", r"`slope` must lie in \[0, 45\] deg, got -5"),
        ("slope=90", r"`slope` must lie in \[0, 45\] deg"),
        ("delay=-0.04", r"`delay` must lie in \[0, 1\] s, got -0.04"),
        ("delay=inf", r"`delay` must lie in \[0, 1\] s"),
    ],
)
def test_conditions_that_cannot_be_are_explained(text, reason):
    with pytest.raises(InputError, match=reason):
        Conditions.parse(text)


def test_a_delay_between_commands_is_explained():
    with pytest.raises(InputError, match=r"periods of 0.04 s, got 0.05 s"):
        RobotEnv(conditions="delay=0.05")
    assert Conditions(delay=0.05).n_late(20.0) == 1
    assert Conditions(delay=0.12).n_late(25.0) == 3


# Physics


def test_nominal_conditions_are_the_robot_itself(bittle):
    assert Conditions().applied_to(bittle) is bittle
    assert Conditions(delay=0.04).applied_to(bittle) is bittle


def test_conditions_leave_the_robot_of_the_study_alone(bittle):
    before = bittle.fingerprint
    changed = Conditions.parse(ALL).applied_to(bittle)
    assert Robot("bittle", bittle.model, 0.35).fingerprint == before
    assert changed.fingerprint != before
    assert changed.drop_height == bittle.drop_height
    np.testing.assert_array_equal(changed.model.geom_size, bittle.model.geom_size)


def test_torque_is_limited_to_its_share(bittle):
    """Legs that are told to swing push as hard as they can, and no harder."""
    most = []
    for text in ("", "torque=0.6"):
        env = RobotVectorEnv(1, FallRecovery(low_pass=0.0), conditions=text, **FAST)
        env.reset(seed=0)
        env.step(-np.ones((1, 8)))
        most.append(np.abs(env.episodes.robots.readings.torque).max())
    np.testing.assert_allclose(most, [0.29, 0.6 * 0.29])


def test_torque_that_joints_limit_is_scaled_too(tmp_path):
    robot = changed_tiny(
        tmp_path,
        ('forcerange="-2 2" ', ""),
        ('damping="0.05"', 'damping="0.05" actuatorfrcrange="-1 1"'),
    )
    changed = Conditions(torque=0.25).applied_to(robot)
    data = mujoco.MjData(changed.model)
    data.ctrl[:] = 2.0  # kp 2: it would push with 4 N m
    mujoco.mj_forward(changed.model, data)
    np.testing.assert_allclose(data.qfrc_actuator[6:], 0.25)


def test_torque_without_a_limit_is_explained(tmp_path):
    robot = changed_tiny(tmp_path, ('forcerange="-2 2" ', ""))
    with pytest.raises(InputError, match="actuator of joint 'left' has none"):
        Conditions(torque=0.5).applied_to(robot)


def test_the_mass_of_the_body_by_hand(tiny):
    """A box of 0.5 kg and two flippers of 0.05 kg, at rest on the floor."""
    model = Conditions(mass=3).applied_to(tiny).model
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


def test_a_heavier_body_is_what_the_compiler_makes_of_one(bittle):
    spec = mujoco.MjSpec.from_file(str(ROBOTS["bittle"].mjcf))
    torso = spec.body("torso")
    torso.mass *= 1.5
    torso.fullinertia = 1.5 * torso.fullinertia
    expected, got = spec.compile(), Conditions(mass=1.5).applied_to(bittle).model
    for name in dir(expected):
        value = getattr(expected, name)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(
                getattr(got, name), value, rtol=1e-9, err_msg=name
            )
    assert got.stat.meaninertia == pytest.approx(expected.stat.meaninertia)


def test_what_is_welded_to_the_base_is_part_of_the_body(tmp_path):
    head = '<body><geom type="sphere" pos=".1 0 .02" size=".02" mass="0.1"/></body>'
    end = '<body name="left"'
    robot = changed_tiny(tmp_path, (end, head + end))
    masses = Conditions(mass=2).applied_to(robot).model.body_mass
    np.testing.assert_allclose(masses[1:], [1.0, 0.2, 0.05, 0.05])


def test_the_standing_height_is_that_of_the_robot_with_its_load(bittle):
    heavy = Conditions(mass=3)
    robots = RobotVectorEnv(1, conditions=heavy, **FAST).episodes.robots
    expected = RobotsBatch(heavy.applied_to(bittle), 1).readings.standing_height
    light = RobotsBatch(bittle, 1).readings.standing_height
    assert robots.readings.standing_height == expected < light - 0.001


def test_falling_on_a_slope_by_hand(bittle):
    """The ground rises along x: things fall towards -x, too."""
    env = RobotVectorEnv(1, conditions="slope=10", **FAST)
    qpos = bittle.standing.copy()
    qpos[2] = 5.0
    env.reset(options={"qpos": qpos})
    for _ in range(5):
        env.step(hold(bittle, qpos)[None])
    angle, time = np.radians(10), 0.2
    fall = -G * np.array([np.sin(angle), 0, np.cos(angle)])
    now = env.episodes.robots.readings
    np.testing.assert_allclose(now.velocity[0], fall * time, atol=1e-6)
    np.testing.assert_allclose(now.gravity[0], fall / G, atol=1e-9)


@pytest.mark.parametrize("slope", [14.0, 20.0])
def test_friction_holds_below_the_critical_angle_and_not_above(
    tiny, monkeypatch, slope
):
    """It is 16.7 degrees for 0.3; beyond, the box slides as a textbook's does."""
    conditions = Conditions(friction=0.3, slope=slope)
    angle = np.radians(slope)
    slides = np.tan(angle) > 0.3
    if slides:
        with pytest.raises(InputError, match=r"under friction=0.3,slope=20 cannot"):
            conditions.applied_to(tiny)
    monkeypatch.setattr(module, "_check_standing", lambda nominal, changed: None)
    model = conditions.applied_to(tiny).model
    data = mujoco.MjData(model)
    data.qpos[:] = tiny.standing
    for _ in range(250):  # a second
        mujoco.mj_step(model, data)
    pull = G * (np.sin(angle) - 0.3 * np.cos(angle))
    expected = -pull / 2 if slides else 0.0
    assert data.qpos[0] == pytest.approx(expected, abs=0.02)
    assert (data.qvel[0] < -0.5) == slides


def test_friction_of_explicit_pairs_is_set_too(tmp_path):
    robot = changed_tiny(
        tmp_path,
        ('<geom type="plane"', '<geom name="floor" type="plane"'),
        ('<geom type="box"', '<geom name="box" type="box"'),
        (
            "<actuator>",
            '<contact><pair geom1="floor" geom2="box"/></contact><actuator>',
        ),
    )
    model = Conditions(friction=0.2).applied_to(robot).model
    np.testing.assert_array_equal(model.pair_friction[:, :2], 0.2)
    np.testing.assert_array_equal(model.geom_friction[:, 0], 0.2)


@pytest.mark.parametrize("text", ["slope=30", "torque=0.02", "mass=40"])
def test_conditions_under_which_it_cannot_stand_are_explained(bittle, text):
    with pytest.raises(InputError, match=f"bittle under {text} cannot hold its stand"):
        RobotEnv(conditions=text)


@pytest.mark.parametrize(
    ("before", "now", "is_refused"),
    [
        ((0.1, 0), (0.085, 20), False),
        ((0.1, 0), (0.075, 0), True),  # it has given way
        ((0.1, 0), (0.1, 30), True),  # it has tipped over
        ((0.1, 0), None, True),  # it slides
        ((0.1, 90), (0.1, 90), False),  # it stands like that
        (None, None, False),  # it never stood
    ],
)
def test_what_it_means_to_hold_the_standing_pose(
    bittle, monkeypatch, before, now, is_refused
):
    def settle(robot):
        settled = before if robot is bittle else now
        if settled is None:
            return None
        angle = np.radians(settled[1])
        return settled[0], np.array([np.sin(angle), 0.0, np.cos(angle)])

    monkeypatch.setattr(module, "_settle_standing", settle)
    if is_refused:
        with pytest.raises(InputError, match="it slides, tips over or gives way"):
            Conditions(mass=2).applied_to(bittle)
    else:
        Conditions(mass=2).applied_to(bittle)
