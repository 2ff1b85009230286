"""Actuators of all kinds become servos: gains by hand, and the same motion."""

import mujoco
import numpy as np
import pytest

from kaccess import InputError, load_robot
from kaccess.config import RobotConfig

# The centre of mass, 4 kg, is 0.25 m above the lowest geom: m g L is 9.81 N m.
WEIGHT = 9.81
TEMPLATE = """
<mujoco model="one leg">
  <option timestep="0.002" integrator="{integrator}"/>
  <worldbody>
    <geom type="plane" size="0 0 .1"/>
    <body name="base" pos="0 0 1">
      <freejoint name="base"/>
      <geom size=".1" mass="2"/>
      <site name="tip"/>
      <body name="leg">
        <joint name="hip" axis="0 1 0" {hip}/>
        <geom size=".1" mass="1" pos="0 0 -.5"/>
        <body name="shin" pos="0 0 -.5"><joint name="knee" axis="0 1 0"/>
          <geom size=".1" mass="1"/><site name="toe" pos=".1 0 0"/></body>
      </body>
      {more}
    </body>
  </worldbody>
  <tendon>{tendon}</tendon>
  <actuator>{actuator}</actuator>
  {key}
</mujoco>
"""
KNEE = "<position joint='knee' kp='1'/>"


@pytest.fixture
def load(tmp_path):
    def build(
        actuator, *, hip="", more="", tendon="", key="", integrator="Euler", **config
    ):
        text = TEMPLATE.format(
            actuator=actuator,
            hip=hip,
            more=more,
            tendon=tendon,
            key=f"<keyframe>{key}</keyframe>",
            integrator=integrator,
        )
        path = tmp_path / "robot.xml"
        path.write_text(text)
        return load_robot(path, RobotConfig(**config))

    return build


def get_gains(robot, actuator=0):
    """Return stiffness, damping and torque limit of a servo."""
    model = robot.model
    bias = model.actuator_biasprm[actuator]
    assert bias[1] == -model.actuator_gainprm[actuator, 0]
    assert model.actuator_gear[actuator, 0] == 1
    low, high = model.actuator_forcerange[actuator]
    assert low == -high
    return -bias[1], -bias[2], high


@pytest.mark.parametrize(
    ("motor", "hip", "kp", "limit"),
    [
        # Full torque at an error of 0.4 rad.
        ("gear='3' ctrlrange='-2 2'", "", 6 / 0.4, 6),
        ("gear='-3' ctrlrange='-1 2'", "", 6 / 0.4, 6),
        ("gear='3' forcerange='-2 2'", "", 6 / 0.4, 6),
        ("ctrlrange='-50 50'", "actuatorfrcrange='-6 6'", 6 / 0.4, 6),
        # At least as stiff as m g L, but full torque at an error of 0.05 rad at least.
        ("ctrlrange='-2 2'", "", WEIGHT, 2),
        ("ctrlrange='-.3 .3'", "", 0.3 / 0.05, 0.3),
        # No limit, or one beyond 20 m g L, is a placeholder: m g L takes its place.
        ("", "", WEIGHT / 0.4, WEIGHT),
        ("ctrlrange='-200 200'", "", WEIGHT / 0.4, WEIGHT),
    ],
)
def test_the_gains_of_a_motor_follow_from_its_torque(load, motor, hip, kp, limit):
    robot = load(f"<motor joint='hip' {motor}/>", hip=hip)
    expected = kp, kp / 20, limit
    np.testing.assert_allclose(get_gains(robot), expected, rtol=1e-6)
    assert f"1 motors became servos (kp {kp:.3g} N m/rad" in robot.notes[-1]


@pytest.mark.parametrize(
    ("config", "kp", "kd"),
    [
        ({"kp": 30.0}, 30, 1.5),
        ({"kd": 2.0}, 15, 2),
        ({"kp": 30.0, "kd": 2.0}, 30, 2),
    ],
)
def test_gains_that_the_user_gives_win(load, config, kp, kd):
    motor = load("<motor joint='hip' gear='3' ctrlrange='-2 2'/>", **config)
    np.testing.assert_allclose(get_gains(motor), [kp, kd, 6])
    servo = load("<position joint='hip' kp='15' kv='.75' forcerange='-6 6'/>", **config)
    np.testing.assert_allclose(get_gains(servo), [kp, kd, 6])


def test_a_model_without_actuators_gets_a_servo_on_each_joint(load):
    robot = load("", hip="actuatorfrcrange='-6 6' range='-30 60'")
    assert robot.joint_names == ("hip", "knee")
    np.testing.assert_allclose(get_gains(robot, 0), [15, 0.75, 6])
    np.testing.assert_allclose(get_gains(robot, 1)[2], WEIGHT)
    np.testing.assert_allclose(np.degrees(robot.joint_range[0]), [-30, 60])


def simulate(model, targets, n_steps=300):
    data = mujoco.MjData(model)
    data.ctrl[:] = targets
    path = []
    for _ in range(n_steps):
        mujoco.mj_step(model, data)
        path.append(data.qpos.copy())
    return np.array(path)


@pytest.mark.parametrize(
    "actuator",
    [
        "<position joint='hip' gear='2' kp='5' kv='.2' forcerange='-1.5 1.5'/>",
        "<position joint='hip' gear='-2' kp='5' kv='.2' ctrlrange='-1 .4'/>",
        "<position tendon='belt' gear='.5' kp='5' kv='.2' forcerange='-1 1'/>",
        "<position joint='hip' kp='5' kv='.2'/><velocity joint='hip' kv='.3'/>",
        "<velocity joint='hip' kv='.3'/><position joint='hip' kp='5'/>",
    ],
)
def test_a_servo_moves_as_the_actuators_it_replaces(load, actuator, tmp_path):
    """Both drive the hip to 0.6 rad; the old one may have another unit of angles."""
    belt = "<fixed name='belt'><joint joint='hip' coef='3'/></fixed>"
    robot = load(actuator + KNEE, tendon=belt, integrator="implicitfast")
    assert robot.joint_names == ("hip", "knee")
    old = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    assert "became plain servos" in robot.notes[-1]
    hip = next(each for each in range(old.nu - 1) if old.actuator_biasprm[each, 1])
    ratio = old.actuator_gear[hip, 0] * (3 if "belt" in actuator else 1)
    targets = np.zeros(old.nu)
    targets[[hip, -1]] = 0.6 * ratio, 0.2
    expected = simulate(old, targets)
    assert np.abs(expected[:, 7]).max() > 0.1
    got = simulate(robot.model, [0.6, 0.2])
    np.testing.assert_allclose(got, expected, atol=1e-6)


def test_the_range_of_targets_is_kept(load):
    actuator = "<position joint='hip' gear='-2' kp='5' ctrlrange='-1 .4'/>"
    np.testing.assert_allclose(load(actuator).joint_range, [[-0.2, 0.5]])
    narrow = "<position joint='hip' kp='5' ctrlrange='-1 .4'/>"
    np.testing.assert_allclose(load(narrow, kp=9.0).joint_range, [[-1, 0.4]])


def test_a_joint_has_one_servo_in_the_order_of_the_file(load):
    """The one that holds a position is kept, if there is one."""
    pair = "<motor joint='hip'/>" + KNEE + "<position joint='hip' kp='7'/>"
    robot = load(pair)
    assert robot.joint_names == ("knee", "hip")
    assert [get_gains(robot, each)[0] for each in range(2)] == [1, 7]


def test_keyframes_get_the_targets_of_servos(load):
    """Those of position actuators, without gears; the joints for motors."""
    key = "<key name='home' qpos='0 0 .6 1 0 0 0 .3 -.2' ctrl='.5 .8'/>"
    motor = "<motor joint='knee' ctrlrange='-1 1'/>"
    robot = load("<position joint='hip' gear='2' kp='5'/>" + motor, key=key)
    np.testing.assert_allclose(robot.keyframes["home"].ctrl, [0.25, -0.2])
    integrated = load("<intvelocity joint='hip' kp='5'/>" + motor, key=key)
    np.testing.assert_allclose(integrated.keyframes["home"].ctrl, [0.3, -0.2])
    bare = load("", key="<key name='home' qpos='0 0 .6 1 0 0 0 .3 -.2'/>")
    np.testing.assert_allclose(bare.keyframes["home"].ctrl, [0.3, -0.2])


@pytest.mark.parametrize(
    ("actuator", "expected"),
    [
        ("<motor joint='hip'/>", "IMPLICITFAST"),
        ("", "IMPLICITFAST"),
        ("<position joint='hip'/>", "EULER"),  # nothing was changed
    ],
)
def test_new_servos_need_a_stable_integrator(load, actuator, expected):
    integrator = mujoco.mjtIntegrator(load(actuator).model.opt.integrator)
    assert integrator.name == f"mjINT_{expected}"


BALL = "<body name='ball'><joint name='ball' type='ball'/><geom size='.1'/></body>"
BELT = "<fixed name='belt'><joint joint='hip' coef='1'/><joint joint='knee' coef='1'/>"
CABLE = "<spatial name='cable'><site site='tip'/><site site='toe'/></spatial>"


@pytest.mark.parametrize(
    ("actuator", "more", "tendon", "message"),
    [
        ("<motor name='a' tendon='belt'/>", "", BELT + "</fixed>", "the tendon 'belt'"),
        ("<muscle name='a' tendon='cable'/>", "", CABLE, "the tendon 'cable'"),
        ("<motor name='a' joint='ball'/>", BALL, "", "the ball or free joint 'ball'"),
        ("<motor name='a' joint='base'/>", "", "", "the ball or free joint 'base'"),
        ("<motor name='a' site='toe'/>", "", "", "a site"),
        ("<adhesion name='a' body='shin' ctrlrange='0 1'/>", "", "", "a body"),
    ],
)
def test_other_actuators_are_an_error(load, actuator, more, tendon, message):
    expected = f"one_leg: its actuator 'a' cannot become a servo: .* drives {message}"
    with pytest.raises(InputError, match=expected):
        load(actuator + KNEE, more=more, tendon=tendon)


def test_gear_0_is_an_error(load):
    with pytest.raises(InputError, match="its actuator 'number 0' has gear 0"):
        load("<motor joint='hip' gear='0'/>")


def test_a_joint_that_follows_another_gets_no_servo(load, tmp_path):
    load("")
    path = tmp_path / "robot.xml"
    follow = "<equality><joint joint1='knee' joint2='hip'/></equality></mujoco>"
    path.write_text(path.read_text().replace("</mujoco>", follow))
    assert load_robot(path).joint_names == ("hip",)
