"""Properties that every robot must have, and errors for models that cannot work."""

import numpy as np
import pytest

from kaccess import InputError, RobotConfig, load_robot
from kaccess.robots import ROBOTS
from tests.conftest import TINY

TEMPLATE = """
<mujoco>
  <worldbody>{ground}
    <body pos="0 0 1">{base}
      <geom size=".1" mass="1"/>
      <body><joint name="hinge" axis="0 1 0"/><geom size=".05" pos=".2 0 0"/></body>
      <body><joint name="limited" range="0 60"/><geom size=".05"/></body>
    </body>
  </worldbody>
  <actuator>{actuator}</actuator>
</mujoco>
"""
GROUND = "<geom type='plane' size='0 0 1'/>"
PENDULUM = "<body><joint/><geom size='.1'/></body>"
SERVO = "<position joint='hinge' kp='10'/>"


def write(tmp_path, *, ground=GROUND, base="<freejoint name='base'/>", actuator=SERVO):
    path = tmp_path / "robot.xml"
    path.write_text(TEMPLATE.format(ground=ground, base=base, actuator=actuator))
    return path


def test_every_robot_meets_the_contract(any_robot):
    model = any_robot.model
    assert any_robot.joint_range.shape == (model.nu, 2)
    assert any_robot.standing.shape == (model.nq,)
    joints = any_robot.get_joints(any_robot.standing[None])
    assert joints.shape == (1, model.nu)
    low, high = any_robot.joint_range.T
    assert ((low <= joints) & (joints <= high)).all()
    assert any_robot.parts
    # At its drop height, it touches the ground in no orientation.
    qpos = np.repeat(any_robot.standing[None], 200, axis=0)
    qpos[:, 2] = any_robot.drop_height
    quat = np.random.default_rng(0).normal(size=(200, 4))
    qpos[:, 3:7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    assert not any_robot.find_contacts(qpos)[0].any()


def test_contacts_with_the_ground_and_with_itself_are_separate(bittle):
    belly = np.array(bittle.model.key("belly").qpos)
    tangled = belly.copy()
    tangled[2] = 1.0
    tangled[7:9] = np.radians([150, -60])  # the foot inside the chassis
    ground, itself = bittle.find_contacts(np.stack([belly, tangled]))
    np.testing.assert_array_equal(itself, [False, True])
    assert np.array(bittle.parts)[ground[0]].tolist() == ["battery"]
    assert not ground[1].any()


def test_parts_without_a_geom_name_have_the_name_of_their_body(tiny):
    assert tiny.parts == ("base", "left", "left foot", "right", "right foot")


def test_physics_changes_the_fingerprint_but_looks_do_not(bittle):
    def changed(field):
        model = bittle.model.__copy__()
        getattr(model, field)[...] *= 0.5
        return type(bittle)("changed", model, bittle.drop_height).fingerprint

    assert changed("geom_rgba") == bittle.fingerprint
    assert changed("geom_friction") != bittle.fingerprint
    assert changed("body_mass") != bittle.fingerprint


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ('name="right" qpos', 'name="starboard" qpos', True),
        ('<gyro name="gyro" site="imu"/>', "", True),
        ('name="rf_block"', 'name="front"', True),
        ('timestep="0.0033333333333333335"', 'timestep="0.002"', False),
        ('cone="elliptic"', 'cone="elliptic" noslip_iterations="3"', False),
        ('qpos="0 0 0.0869 1 0 0 0 0.5236', 'qpos="0 0 0.0869 1 0 0 0 0.6', False),
    ],
)
def test_the_fingerprint_depends_on_data_that_affects_motion(
    bittle, tmp_path, old, new, same
):
    """Options and the standing pose do; names and sensors do not."""
    mjcf = ROBOTS["bittle"].mjcf.read_text()
    assert old in mjcf
    path = tmp_path / "changed.xml"
    path.write_text(mjcf.replace(old, new))
    assert (load_robot(path).fingerprint == bittle.fingerprint) == same


def test_targets_stay_within_both_ranges(tmp_path):
    servo = "<position joint='limited' kp='1' ctrlrange='0.5 3'/>"
    robot = load_robot(write(tmp_path, actuator=servo))
    np.testing.assert_allclose(robot.joint_range, [[0.5, np.pi / 3]])


@pytest.mark.parametrize("name", ["stand", "standing", "home", "any other name"])
def test_a_keyframe_defines_the_standing_state(tiny, tmp_path, name):
    """Another key comes first; a name that says nothing is only taken if it does."""
    lying = "<key name='lying' qpos='0 0 0.03 1 0 0 0 0 0'/>"
    keys = "<keyframe>" if name == "any other name" else f"<keyframe>{lying}"
    text = TINY.read_text().replace('name="home"', f'name="{name}"')
    path = tmp_path / "robot.xml"
    path.write_text(text.replace("<keyframe>", keys))
    stance = load_robot(path).stance
    assert stance.how == f"its keyframe {name!r}"
    np.testing.assert_array_equal(stance.qpos, tiny.standing)


def test_distant_objects_do_not_raise_the_drop_height(tmp_path):
    path = write(tmp_path, ground=GROUND + "<geom size='1' pos='20 0 0'/>")
    assert load_robot(path).drop_height == pytest.approx(0.25)


def test_a_robot_can_be_loaded_from_an_mjcf_file(tmp_path):
    robot = load_robot(write(tmp_path))
    assert robot.joint_names == ("hinge",)
    np.testing.assert_allclose(robot.joint_range, [[-np.pi, np.pi]])
    assert robot.drop_height == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"ground": GROUND + PENDULUM},
            r"must be its first joint, but is joint 1\. Move the robot",
        ),
        (
            {"base": "", "ground": GROUND + PENDULUM},
            r"must have one free joint .* 2 of the bodies in its world have joints",
        ),
        (
            {"actuator": SERVO + "<position joint='base' kp='1'/>"},
            "drives the ball or free joint 'base'",
        ),
        (
            {"actuator": "<position joint='limited' kp='1' ctrlrange='2 3'/>"},
            "control range of joint 'limited' does not overlap",
        ),
        ({"ground": "<nonsense/>"}, r"MuJoCo cannot use .*robot.xml: .*nonsense"),
    ],
)
def test_a_model_that_cannot_work_is_an_error(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        load_robot(write(tmp_path, **change))


@pytest.mark.parametrize(
    ("change", "notes"),
    [
        ({}, []),
        ({"base": ""}, ["A free joint was added to its fixed base."]),
        ({"ground": ""}, ["A floor was added."]),
        ({"actuator": ""}, ["It has no actuators, so 2 joints got servos"]),
        ({"actuator": "<motor joint='hinge'/>"}, ["1 motors became servos"]),
        (
            {"actuator": SERVO.replace("position", "intvelocity")},
            ["1 position actuators became plain servos"],
        ),
        (
            {"actuator": SERVO.replace("kp", "gear='2' kp")},
            ["1 position actuators became plain servos"],
        ),
        (
            {"actuator": SERVO.replace("kp", "timeconst='.1' kp")},
            ["1 position actuators became plain servos"],
        ),
    ],
)
def test_what_a_model_lacks_is_added_with_a_note(tmp_path, change, notes):
    robot = load_robot(write(tmp_path, **change))
    assert len(robot.notes) == len(notes)
    for got, expected in zip(robot.notes, notes, strict=True):
        assert got.startswith(expected)
    assert (robot.model.nq, robot.model.jnt_type[0]) == (9, 0)
    assert robot.model.nu == (1 if "hinge" in change.get("actuator", SERVO) else 2)


def test_a_file_that_is_no_xml_is_an_error(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text("hello")
    with pytest.raises(InputError, match="is not XML: give an MJCF file"):
        load_robot(path)


def test_the_error_for_an_unknown_robot_lists_the_known_ones():
    message = r"one of bittle, bittle-real, menagerie:NAME.* Did you mean 'bittle'\?"
    with pytest.raises(InputError, match=message):
        load_robot("bitle")


TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def write_robot_with_meshes(folder):
    """Write the tiny robot with two more shapes that come from files."""
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.obj").write_text(TETRAHEDRON)
    meshes = "".join(
        f'<mesh name="{name}" file="{name}.obj" scale=".01 .01 .01"/>' for name in "ab"
    )
    geoms = "".join(
        f'<geom type="mesh" mesh="{name}" mass="0" contype="0" conaffinity="0"/>'
        for name in "ab"
    )
    text = TINY.read_text().replace(
        "<worldbody>", f"<asset>{meshes}</asset><worldbody>"
    )
    text = text.replace("<freejoint/>", f"<freejoint/>{geoms}")
    path = folder / "robot.xml"
    path.write_text(text)
    return path


def test_a_robot_with_meshes_is_the_same_wherever_its_files_are(tmp_path, monkeypatch):
    here = write_robot_with_meshes(tmp_path / "here")
    there = write_robot_with_meshes(tmp_path / "somewhere" / "far" / "away")
    monkeypatch.chdir(here.parent)
    robots = [load_robot(path) for path in (here, there, "robot.xml")]
    assert robots[0].model.nmesh == 2
    assert len({robot.fingerprint for robot in robots}) == 1
    assert robots[0].fingerprint != load_robot(TINY).fingerprint


def test_bittle_with_other_gains_falls_from_the_height_of_bittle():
    soft = load_robot("bittle", RobotConfig(kp=0.3))
    assert soft.drop_height == load_robot("bittle").drop_height
    assert (soft.model.actuator_gainprm[:, 0] == 0.3).all()
    assert soft.source == "bittle"
