"""How a robot stands: by a keyframe, its zero pose or a search, or why it does not."""

import re
from pathlib import Path

import mujoco
import numpy as np
import pytest

from kaccess import InputError, load_robot
from kaccess.config import RobotConfig
from kaccess.robots.contacts import find_floor
from kaccess.robots.hold import hold
from kaccess.robots.stance import Stance, measure_standing, place_on_floor
from tests.conftest import TINY

MODELS = Path(__file__).parent / "models"
PLANAR, BIPED = MODELS / "planar.xml", MODELS / "biped.xml"
KEY = re.compile(r"<keyframe>.*</keyframe>", re.DOTALL)


@pytest.fixture
def load(tmp_path):
    def build(model, *changes, **config):
        text = model.read_text()
        for old, new in changes:
            assert re.search(old, text, re.DOTALL), old
            text = re.sub(old, new, text, flags=re.DOTALL)
        path = tmp_path / "robot.xml"
        path.write_text(text)
        return load_robot(path, RobotConfig(**config))

    return build


def add_keys(*keys):
    return "</mujoco>", f"<keyframe>{''.join(keys)}</keyframe></mujoco>"


def settle(robot, qpos, targets, seconds=2.0):
    """Return where a plain simulation comes to rest."""
    data = mujoco.MjData(robot.model)
    data.qpos[:], data.ctrl[:] = qpos, targets
    for _ in range(round(seconds / robot.timestep)):
        mujoco.mj_step(robot.model, data)
    return data.qpos.copy()


# Where the pose is from


def test_a_keyframe_that_stands_is_taken_as_it_is_written(tiny):
    stance = tiny.stance
    assert (stance.how, stance.stands) == ("its keyframe 'home'", True)
    np.testing.assert_array_equal(stance.qpos, tiny.keyframes["home"].qpos)
    np.testing.assert_array_equal(stance.targets, tiny.keyframes["home"].ctrl)


def test_a_robot_that_sags_stands_where_it_comes_to_rest(load):
    """Its targets stay those of the keyframe, which hold it there."""
    key = "<key name='home' qpos='.5 0 .16 1 0 0 0 0 0 0 0 0 0 0 0'/>"
    robot = load(PLANAR, add_keys(key), kp=1.0)
    stance = robot.stance
    assert (stance.how, stance.stands) == ("its keyframe 'home'", True)
    assert stance.qpos[2] < 0.15 - 0.004
    np.testing.assert_array_equal(stance.qpos[:2], 0.0)
    np.testing.assert_array_equal(stance.targets, 0.0)
    again = settle(robot, stance.qpos, stance.targets)
    np.testing.assert_allclose(again[2:], stance.qpos[2:], atol=0.03)
    assert again[2] == pytest.approx(stance.qpos[2], abs=2e-3)


def test_the_targets_of_a_keyframe_may_differ_from_its_joints(load):
    """The keyframe hangs in the air, and its `ctrl` makes it stand."""
    home = 'qpos="0 0 0.3 1 0 0 0 1.2 1.2"'
    robot = load(TINY, (r'qpos="0 0 0.115 1 0 0 0 1.5708 1.5708"', home))
    assert robot.stance.how == "its keyframe 'home'"
    np.testing.assert_allclose(
        robot.standing[[2, 7, 8]], [0.115, 1.57, 1.57], atol=0.02
    )
    np.testing.assert_allclose(robot.standing_targets, 1.5708)


def test_without_targets_a_keyframe_holds_its_joints(tiny, load):
    robot = load(TINY, (r' ctrl="1.5708 1.5708"', ""))
    np.testing.assert_allclose(robot.standing_targets, 1.5708)
    np.testing.assert_array_equal(robot.standing, tiny.standing)


def test_without_a_keyframe_it_may_stand_in_its_zero_pose(load):
    for robot in (load(PLANAR), load(PLANAR, add_keys("<key name='home'/>"))):
        assert robot.stance.stands
        np.testing.assert_array_equal(robot.standing_targets, 0.0)
    lying = "<key qpos='0 0 .03 1 0 0 0 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5'/>"
    assert load(PLANAR, add_keys(lying)).stance.how == "its zero pose"


TILTED = r'(_leg" pos="0 -?.07 -.03")', r'\1 euler="0 40 0"'


@pytest.mark.parametrize(
    "keyframe", ["", "<keyframe><key qpos='0 0 .1 1 0 0 0 -.3 0 -.3 0'/></keyframe>"]
)
def test_a_search_finds_how_a_robot_stands(load, keyframe):
    """Its legs point forwards in the zero pose, and it falls over."""
    robot = load(BIPED, TILTED, (KEY.pattern, keyframe))
    stance = robot.stance
    assert (stance.how, stance.stands) == ("a posture found by search", True)
    assert robot.feet == (3, 5)
    np.testing.assert_array_equal(stance.qpos[:2], 0.0)
    again = settle(robot, stance.qpos, stance.targets)
    np.testing.assert_allclose(again[2:], stance.qpos[2:], atol=2e-3)
    # Left and right are alike, and another search finds the same.
    np.testing.assert_allclose(stance.targets[:2], stance.targets[2:])
    same = load_robot(robot.source).stance
    assert same.as_settings() == stance.as_settings()


def test_the_user_chooses_the_keyframe(load):
    low = "<key name='low' qpos='0 0 .1 1 0 0 0 .4 -.8 .4 -.8 .4 -.8 .4 -.8'/>"
    high = "<key name='home' qpos='0 0 .15 1 0 0 0 0 0 0 0 0 0 0 0'/>"
    robot = load(PLANAR, add_keys(low, high))
    assert robot.stance.how == "its keyframe 'home'"
    chosen = load(PLANAR, add_keys(low, high), stand_key="low")
    assert chosen.stance.how == "its keyframe 'low'"
    assert chosen.standing[2] < robot.standing[2] - 0.01
    assert chosen.fingerprint != robot.fingerprint


def test_a_keyframe_that_does_not_exist_is_an_error(load):
    message = r"tiny has no keyframe 'sit' to stand in; its keyframes: home\. Choose"
    with pytest.raises(InputError, match=message):
        load(TINY, stand_key="sit").stance  # noqa: B018
    with pytest.raises(InputError, match="its keyframes: none"):
        load(PLANAR, stand_key="sit").stance  # noqa: B018


# Robots that do not stand


OFF_BALANCE = r'(size=".03 .04 .05")', r'\1 pos=".01 0 0"'


def test_servos_that_are_too_soft_are_the_reason(load):
    stance = load(BIPED, OFF_BALANCE, ('kp="10" kv=".3"', 'kp=".03" kv=".01"')).stance
    assert not stance.stands
    assert re.fullmatch(
        r"its servos are too soft to hold it upright; \d+ times as stiff, it stands in "
        r"its keyframe 'stand'",
        stance.how,
    )
    stiff = re.search(r"\d+", stance.how).group()
    stiffer = 'kp="10"', f'kp="{0.03 * int(stiff)}"'
    assert load(BIPED, OFF_BALANCE, stiffer).stance.stands


def test_a_robot_that_no_stiffness_helps_falls_over(load):
    """Its feet are points below its trunk."""
    points = 'size=".1 .03 .01"', 'size=".001 .001 .01"'
    stance = load(BIPED, OFF_BALANCE, points).stance
    assert not stance.stands
    assert stance.how == "it falls over in every posture tried, a search included"


def test_a_robot_that_diverges_does_not_stand(tiny):
    model = tiny.model.__copy__()
    model.dof_damping[6] = -1e4
    state, targets = tiny.standing[None], tiny.standing_targets[None]
    held = hold(model, state, targets, seconds=1.0, floor=0.0)
    assert held.failed.all()
    np.testing.assert_array_equal(held.qpos, state)


@pytest.mark.parametrize(
    "ground",
    [
        '<geom type="plane" size="0 0 .1"/><geom size="1" pos="9 0 0"/>',
        '<geom type="box" size="5 5 .1" pos="0 0 -.1"/>',
    ],
)
def test_ground_other_than_a_plane_is_the_reason(load, ground):
    robot = load(TINY, ('<geom type="plane" size="0 0 .1"/>', ground))
    assert robot.stance.how == "its ground is not one plane"
    assert not robot.stance.stands
    assert robot.scale.length == pytest.approx(load_robot(TINY).scale.length)


# Feet and floor


def test_feet_are_the_geoms_that_touch_the_floor(load):
    """An arm that hangs in the air is no foot, although it is the end of a limb."""
    arm = (
        '<body name="arm" pos="0 0 .1"><joint name="arm"/><geom size=".01" mass=".01"/>'
    )
    servo = (
        r'<position joint="right"/>',
        r'<position joint="right"/><position joint="arm"/>',
    )
    home = r"1.5708 1.5708", "1.5708 1.5708 0"
    last = r"(</body>)(\s*</body>\s*</worldbody>)", rf"\1{arm}</body>\2"
    robot = load(TINY, last, servo, home)
    names = {
        robot.model.body(robot.model.geom_bodyid[geom]).name for geom in robot.feet
    }
    assert names == {"left", "right"}
    assert robot.scale.n_feet == 2 and robot.model.nu == 3


def test_the_user_names_the_feet(load):
    bodies = load(TINY, feet=("left", "right"))
    assert bodies.feet == bodies.stance.feet == (2, 3, 4, 5)
    geoms = load(TINY, feet=("left foot", "right foot"))
    assert geoms.feet == (3, 5) and geoms.stance.stands
    assert geoms.stance.how == "its keyframe 'home'"
    assert len({bodies.fingerprint, geoms.fingerprint}) == 2


def test_a_robot_stands_on_its_feet_alone(load):
    """If only the left leg is a foot, it may not stand on the right one too."""
    assert not load(TINY, feet=("left",)).stance.stands


def test_an_unknown_foot_is_an_error(load):
    message = r"tiny has no geom or body 'paw' .* It has: base, left, left foot"
    with pytest.raises(InputError, match=message):
        load(TINY, feet=("paw",)).feet  # noqa: B018


def test_pairs_are_contacts_with_the_floor(tiny, load):
    """A model may let nothing collide, and list the pairs that do."""
    pairs = "".join(
        f'<pair geom1="floor" geom2="{side} foot"/>' for side in ("left", "right")
    )
    robot = load(
        TINY,
        ("<geom solref", '<geom contype="0" conaffinity="0" solref'),
        ('<geom type="plane"', '<geom name="floor" type="plane"'),
        ("<actuator>", f"<contact>{pairs}</contact><actuator>"),
    )
    assert robot.notes[0].startswith("Warning: its base cannot touch the floor")
    assert robot.stance.how == "its keyframe 'home'"
    np.testing.assert_array_equal(robot.ground_geoms, [3, 5])
    assert robot.feet == (3, 5)
    assert robot.scale == tiny.scale


def test_a_base_that_cannot_collide_is_a_warning(tiny, load):
    hidden = '<geom type="box" contype="0" conaffinity="0"'
    robot = load(TINY, ('<geom type="box"', hidden))
    assert "may sink into it" in robot.notes[0]
    assert tiny.notes == ()


def test_a_floor_that_is_added_touches_every_shape(load):
    """Shapes that are told apart by their bits, as in the collections, touch it too."""
    robot = load(
        TINY,
        (r'<geom type="plane" size="0 0 .1"/>', ""),
        ('<geom type="box"', '<geom contype="4" conaffinity="0" type="box"'),
        ("<geom name=", '<geom contype="0" conaffinity="2" name='),
    )
    assert robot.notes == ("A floor was added.",)
    np.testing.assert_array_equal(robot.ground_geoms, range(1, 6))
    assert robot.stance.how == "its keyframe 'home'"
    assert find_floor(robot.model) == 0


def test_the_floor_may_be_at_any_height(tiny, load):
    high = '<geom type="plane" pos="0 0 .3" size="0 0 .1"/>'
    robot = load(TINY, ('<geom type="plane" size="0 0 .1"/>', high))
    assert robot.stance.how == "its keyframe 'home'"
    assert robot.standing[2] == pytest.approx(tiny.standing[2] + 0.3, abs=2e-3)
    assert robot.scale == tiny.scale
    assert place_on_floor(robot, tiny.standing)[2] == pytest.approx(0.415, abs=1e-6)
    lifted = tiny.standing + 0.1 * (np.arange(9) == 2)
    for each in (robot, tiny):
        assert measure_standing(each, lifted) == pytest.approx(0.105, abs=0.005)


# Bases


def test_a_fixed_base_is_freed_and_its_keyframes_are_left_out(load):
    robot = load(PLANAR, ("<freejoint/>", ""), add_keys("<key/>"))
    assert "Its keyframes no longer fit and were left out." in robot.notes[0]
    assert robot.model.nkey == 0
    assert robot.stance.stands and robot.stance.how == "its zero pose"


def test_a_base_that_moves_in_a_plane_is_an_error(load):
    slides = '<joint name="x" type="slide"/><joint name="z" type="slide"/>'
    change = "<freejoint/>", slides
    with pytest.raises(InputError, match=r"its root body moves by 'x', 'z'\. Replace"):
        load(TINY, change, (KEY.pattern, ""))


# Joints that turn round


def test_joint_ranges_are_a_full_turn_at_most(load):
    wide = 'range="-540 360"'
    robot = load(TINY, ('range="-120 120"', wide))
    middle = 1.5708  # in the keyframe
    np.testing.assert_allclose(
        robot.joint_range, [[middle - np.pi, middle + np.pi]] * 2, rtol=1e-6
    )
    lopsided = load(TINY, ('range="-120 120"', 'range="0 540"'))
    np.testing.assert_allclose(
        lopsided.joint_range, [[0, middle + np.pi]] * 2, rtol=1e-6
    )


def test_joints_that_differ_by_full_turns_are_equal(tiny, load):
    one, other = np.array([[0.1, 6.2]]), np.array([[0.1 + 4 * np.pi, -0.1]])
    free = load(TINY, ('range="-120 120"', 'range="-540 540"'))
    np.testing.assert_allclose(
        free.subtract_joints(one, other), [[0, 6.3 - 2 * np.pi]], atol=1e-12
    )
    np.testing.assert_allclose(tiny.subtract_joints(one, other), one - other)


# Settings


def test_a_stance_can_be_stored(tiny):
    again = Stance.from_settings(tiny.stance.as_settings())
    assert again.as_settings() == tiny.stance.as_settings()
    robot = load_robot(TINY, stance=again)
    assert robot.stance is again
