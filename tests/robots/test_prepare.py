"""What a model lacks is added, and said; what is no robot is refused."""

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.engines import make_engine
from kaccess.robots import load_robot

# Only the soles may touch the floor, as in models for walking.
SOLES = """
<mujoco model="soles">
  <default>
    <geom contype="0" conaffinity="0"/>
    <joint axis="0 1 0" range="-120 120" damping=".05" armature=".001"/>
    <position kp="5" kv=".2"/>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 .1"/>
    <body name="base" pos="0 0 .115">
      <freejoint/>
      <geom {name} type="box" size=".1 .06 .03" mass=".5"/>
      <body pos="0 .08 0">
        <joint name="left"/>
        <geom name="left" type="box" pos="0 0 -.1" size=".06 .02 .015" mass=".05"/>
      </body>
      <body pos="0 -.08 0">
        <joint name="right"/>
        <geom name="right" type="box" pos="0 0 -.1" size=".06 .02 .015" mass=".05"/>
      </body>
    </body>
  </worldbody>
  <actuator> <position joint="left"/> <position joint="right"/> </actuator>
  <contact>
    <pair geom1="floor" geom2="left"/> <pair geom1="floor" geom2="right"/> {pair}
  </contact>
</mujoco>
"""


@pytest.fixture
def load(tmp_path):
    def make(text, name="robot.xml"):
        path = tmp_path / name
        path.write_text(text)
        return load_robot(path)

    return make


def test_a_base_that_touches_only_other_parts_touches_the_floor_too(load):
    pair = '<pair geom1="body" geom2="left"/>'
    robot = load(SOLES.format(name='name="body"', pair=pair))
    assert robot.notes == (
        "The floor now also stops shapes that could touch only each other (1).",
    )
    fallen = robot.standing[None].copy()
    fallen[:, 2:7] = [0.3, 0, 1, 0, 0]  # upside down
    engine = make_engine("mujoco", robot)
    rest = engine.settle(fallen, robot.standing_targets[None], time_limit=3.0).qpos
    assert rest[0, 2] > 0.02  # it lies on its box, which is 30 mm thick


def test_a_base_without_any_contact_is_a_warning(load):
    robot = load(SOLES.format(name="", pair=""))
    assert [note for note in robot.notes if note.startswith("Warning: its base")]


def test_links_of_a_urdf_that_overlap_do_not_push_each_other(load):
    box = (
        "<collision><geometry><box size='.1 .1 .1'/></geometry></collision>"
        "<inertial><mass value='1'/><inertia ixx='.01' iyy='.01' izz='.01' ixy='0' "
        "ixz='0' iyz='0'/></inertial>"
    )
    links = "".join(f"<link name='{name}'>{box}</link>" for name in "abc")
    joint = (
        "<joint name='{0}{1}' type='revolute'><parent link='{0}'/><child link='{1}'/>"
        "<axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='5' velocity='1'/>"
        "</joint>"
    )
    text = (
        f"<robot name='chain'>{links}{joint.format(*'ab')}{joint.format(*'bc')}</robot>"
    )
    robot = load(text, "chain.urdf")
    assert "Parts that overlap in its zero pose do not collide: a and c." in robot.notes
    lifted = robot.standing[None].copy()
    lifted[:, 2] = 1.0
    assert not robot.find_contacts(lifted)[1].any()


def test_a_model_without_joints_is_no_robot(load):
    with pytest.raises(InputError, match="stone has no hinge or slide"):
        load(
            "<mujoco model='stone'><worldbody><body><freejoint/><geom size='.1'/>"
            "</body></worldbody></mujoco>"
        )


def test_a_model_without_shapes_is_refused(load):
    with pytest.raises(InputError, match="ghost has no shapes that can touch"):
        load(
            "<mujoco model='ghost'><worldbody><body><freejoint/>"
            "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
            "<body><joint name='j'/>"
            "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/></body></body>"
            "</worldbody></mujoco>"
        )


def test_an_added_floor_meets_every_bit_of_the_robot(load):
    text = SOLES.format(name="", pair="").replace(
        '<geom name="floor" type="plane" size="0 0 .1"/>', ""
    )
    text = text[: text.index("<contact>")] + "</mujoco>"
    text = text.replace('contype="0" conaffinity="0"', 'contype="4" conaffinity="0"')
    robot = load(text)
    assert "A floor was added." in robot.notes
    assert len(robot.ground_geoms) == 3
    assert robot.stance.stands
    assert np.isclose(robot.standing[2], 0.115, atol=0.01)
