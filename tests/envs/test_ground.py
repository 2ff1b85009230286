import mujoco
import numpy as np
import pytest

from kaccess import InputError, load_robot
from kaccess.config import RobotConfig
from kaccess.envs.ground import find_shapes, measure_clearances
from kaccess.robots.stance import Stance

SHAPES = {
    "sphere": "type='sphere' size='.03'",
    "capsule": "type='capsule' size='.02 .05'",
    "ellipsoid": "type='ellipsoid' size='.02 .04 .06'",
    "cylinder": "type='cylinder' size='.03 .05'",
    "box": "type='box' size='.02 .03 .05'",
    "mesh": "type='mesh' mesh='wedge'",
}
SCENE = """
<mujoco>
  <asset><mesh name="wedge" vertex="0 0 0  .1 0 0  0 .08 0  0 0 .06  .1 0 .03"/></asset>
  <worldbody>
    {ground}
    <body name="base" pos="0 0 .5">
      <freejoint/>
      <geom name="base" {shape} mass="1"/>
      <body name="arm" pos=".3 0 0">
        <joint name="arm" axis="0 1 0"/>
        <geom type="sphere" size=".01" mass=".1"/>
        <body name="lamp" pos=".1 0 0"><geom type="sphere" size=".01" mass=".1"/></body>
      </body>
      <body name="leg" pos="-.3 0 0">
        <joint name="leg" axis="0 1 0"/>
        <geom type="sphere" size=".01" mass=".1"/>
        <geom type="sphere" size=".02" contype="0" conaffinity="0" mass=".1"/>
      </body>
    </body>
  </worldbody>
  <actuator><position joint="arm"/><position joint="leg"/></actuator>
</mujoco>
"""
FLYING = Stance(np.array([0, 0, 1, 1, 0, 0, 0, 0, 0.0]), np.zeros(2), (), "as given")
FLAT = "<geom name='floor' type='plane' size='0 0 .1'/>"
SLOPE = (
    "<geom name='floor' type='plane' size='0 0 .1' pos='.1 .2 -.3' euler='10 20 0'/>"
)


@pytest.fixture
def make(tmp_path):
    def build(shape="sphere", ground=FLAT, feet=()):
        path = tmp_path / "robot.xml"
        path.write_text(SCENE.format(shape=SHAPES[shape], ground=ground))
        return load_robot(path, RobotConfig(feet=feet), stance=FLYING)

    return build


def measure(robot, data):
    shapes = find_shapes(robot)
    gaps = np.empty(len(shapes.geom))
    measure_clearances(shapes, data.geom_xpos, data.geom_xmat, gaps)
    return shapes, gaps


@pytest.mark.parametrize("ground", [FLAT, SLOPE])
@pytest.mark.parametrize("shape", SHAPES)
def test_distances_equal_those_of_mujoco(make, shape, ground):
    robot = make(shape, ground)
    model, data = robot.model, mujoco.MjData(robot.model)
    rng = np.random.default_rng(0)
    for _ in range(20):
        data.qpos[:3] = rng.uniform([-1, -1, 1], [1, 1, 3])
        data.qpos[3:] = rng.normal(size=model.nq - 3)
        mujoco.mj_normalizeQuat(model, data.qpos)
        mujoco.mj_forward(model, data)
        shapes, gaps = measure(robot, data)
        floor = model.geom("floor").id
        expected = [
            mujoco.mj_geomDistance(model, data, int(g), floor, 10.0, None)
            for g in shapes.geom
        ]
        np.testing.assert_allclose(gaps, expected, atol=1e-6)


def test_a_shape_inside_the_floor_has_a_negative_distance(bittle):
    data = mujoco.MjData(bittle.model)
    data.qpos[:] = bittle.standing
    data.qpos[2] -= 0.02
    mujoco.mj_kinematics(bittle.model, data)
    assert measure(bittle, data)[1].min() == pytest.approx(-0.02, abs=1e-4)


def test_bittle_has_four_feet_and_one_body(bittle):
    shapes, names = find_shapes(bittle), bittle.model.geom
    feet = [names(int(g)).name for g in shapes.geom[shapes.foot >= 0]]
    assert feet == ["lf_foot", "rf_foot", "rr_foot", "lr_foot"]
    assert shapes.n_feet == 4
    body = {names(int(g)).name for g in shapes.geom[shapes.is_body]}
    assert {"chassis", "head", "tail", "cover", "battery"} < body
    assert not any("thigh" in name or "foot" in name for name in body)


def test_feet_touch_the_floor_in_the_standing_pose(tiny):
    """A leg ends inside its foot, so both of its geoms touch the floor."""
    shapes = find_shapes(tiny)
    np.testing.assert_array_equal(shapes.foot, [-1, 0, 0, 1, 1])
    np.testing.assert_array_equal(shapes.is_body, [True, *[False] * 4])
    assert shapes.n_feet == 2


def test_geoms_of_one_limb_are_one_foot(make):
    """The arm and the lamp that is welded to it are one limb; the leg is another."""
    shapes = find_shapes(make(feet=("arm", "lamp", "leg")))
    np.testing.assert_array_equal(shapes.foot, [-1, 0, 0, 1])
    np.testing.assert_array_equal(shapes.is_body, [True, False, False, False])


def test_a_limb_without_a_foot_is_part_of_the_body(make):
    shapes = find_shapes(make(feet=("leg",)))
    np.testing.assert_array_equal(shapes.foot, [-1, -1, -1, 0])
    np.testing.assert_array_equal(shapes.is_body, [True, True, True, False])


@pytest.mark.parametrize(
    "ground",
    ["<geom type='box' size='1 1 .1'/>", FLAT + "<geom type='sphere' size='1'/>"],
)
def test_a_ground_other_than_one_plane_raises(make, ground):
    with pytest.raises(InputError, match="must stand on one plane"):
        find_shapes(make(ground=ground))
