"""The `bullet` engine compared with MuJoCo: the same robot, and the same motion."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

pytest.importorskip("pybullet", reason="PyBullet is not installed")

from kaccess import load_robot
from kaccess.engines.bullet import BulletEngine
from kaccess.engines.bullet.contact import derive_correction
from kaccess.engines.bullet.model import describe_robot
from kaccess.engines.bullet.world import World
from kaccess.robots import Robot
from tests.conftest import TINY
from tests.engines.drops import find_target, random_motions

pytestmark = pytest.mark.bullet

ZOO = Path(__file__).parent / "zoo.xml"


@pytest.fixture(scope="module", params=["bittle", str(TINY), str(ZOO)])
def robot(request):
    return load_robot(request.param)


def make_world(robot):
    return World(describe_robot(robot.model, robot.name))


def draw_states(robot, n, *, height, spread, seed=0):
    """Draw states with joints around those of the model's zero pose."""
    rng = np.random.default_rng(seed)
    qpos = np.repeat(robot.model.qpos0[None], n, axis=0)
    qpos[:, 2] = height
    qpos[:, 3:7] = rng.normal(size=(n, 4))
    qpos[:, 3:7] /= np.linalg.norm(qpos[:, 3:7], axis=1, keepdims=True)
    qpos[:, 7:] += spread * rng.normal(size=qpos[:, 7:].shape)
    return qpos


def rotate(quat, vectors):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, np.asarray(quat, float))
    return vectors @ matrix.reshape(3, 3).T


def find_geoms(world):
    """Return the positions of a robot's geoms, (3,), by their index."""
    model, bullet = world.model, world.bullet
    indices = [-1, *world.link_index]
    places = {}
    for index, link in zip(indices, (model.base, *model.links), strict=True):
        if link.surface < 0:
            continue
        if index < 0:
            qpos, _ = world.read_state()
            origin, quat = qpos[:3], qpos[3:7]
        else:
            origin, (x, y, z, w) = bullet.getLinkState(
                world.body, index, computeForwardKinematics=1
            )[4:6]
            quat = (w, x, y, z)
        surface = model.surfaces[link.surface]
        for geom, shape in zip(surface.geoms, surface.shapes, strict=True):
            places[geom] = origin + rotate(quat, shape.pos)
    return places


def test_geoms_are_where_they_are_in_mujoco(robot):
    world, data = make_world(robot), mujoco.MjData(robot.model)
    for qpos in draw_states(robot, 5, height=1.0, spread=0.5):
        world.reset(qpos)
        data.qpos[:] = qpos
        mujoco.mj_kinematics(robot.model, data)
        places = find_geoms(world)
        assert len(places) == robot._is_robot_geom.sum()
        for geom, place in places.items():
            np.testing.assert_allclose(place, data.geom_xpos[geom], atol=1e-6)


def test_geoms_have_the_same_size_as_in_mujoco(robot):
    """In many orientations, each body is as far from the floor as in MuJoCo."""
    world, data = make_world(robot), mujoco.MjData(robot.model)
    floor = world.model.surfaces[world.model.n_moving].geoms[0]
    for qpos in draw_states(robot, 10, height=1.0, spread=0.5):
        world.reset(qpos)
        data.qpos[:] = qpos
        mujoco.mj_kinematics(robot.model, data)
        for place, surface in zip(
            world.find_surfaces(), world.model.surfaces, strict=True
        ):
            if place[0] != world.body:
                continue
            closest = world.bullet.getClosestPoints(
                world.body, world.ground[0], 5.0, linkIndexA=place[1]
            )
            expected = min(
                mujoco.mj_geomDistance(robot.model, data, geom, floor, 5.0, None)
                for geom in surface.geoms
            )
            distance = min(point[8] for point in closest)
            slack = {"hull": 1e-3, "cylinder": 5e-4}.get(surface.shapes[0].kind, 1e-9)
            assert distance == pytest.approx(expected, abs=1.01 * slack)


def test_a_state_is_read_as_it_was_set(robot):
    world = make_world(robot)
    for qpos in draw_states(robot, 5, height=1.0, spread=0.5):
        world.reset(qpos)
        got, qvel = world.read_state()
        got[3:7] *= np.sign(got[3:7] @ qpos[3:7])
        np.testing.assert_allclose(got, qpos, atol=1e-12)
        np.testing.assert_array_equal(qvel, 0.0)


def test_motion_in_the_air_is_the_same_as_in_mujoco(robot):
    """This tests masses, inertias, armature, damping, springs and actuators."""
    model, data = robot.model, mujoco.MjData(robot.model)
    world, rng = make_world(robot), np.random.default_rng(1)
    starts = draw_states(robot, 5, height=5.0, spread=0.03)
    for qpos in starts:
        targets = robot.get_joints(qpos[None])[0] + rng.uniform(-0.3, 0.3, model.nu)
        targets = np.clip(targets, *0.5 * robot.joint_range.T)  # away from the limits
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.ctrl[:] = qpos, targets
        world.reset(qpos)
        got, qvel = qpos, np.zeros(model.nv)
        speed = np.zeros(model.nv)
        for _ in range(30):
            mujoco.mj_step(model, data)
            world.step(world.model.compute_force(targets, got[7:], qvel[6:]))
            got, qvel = world.read_state()
            speed = np.maximum(speed, np.abs(data.qvel))
        assert data.ncon == 0
        scale = np.repeat([speed[:3].max(), speed[3:6].max(), 1], [3, 3, model.nv - 6])
        scale[6:] = speed[6:].max()
        np.testing.assert_array_less(np.abs(qvel - data.qvel) / scale, 1e-3)


def find_all_contacts(model):
    """Return the friction of all pairs of geoms that can touch in MuJoCo."""
    model = model.__copy__()
    # With a large margin all spheres are in contact; boxes are not.
    model.geom_type[model.geom_type > 1] = mujoco.mjtGeom.mjGEOM_SPHERE
    model.geom_margin[:] = model.body_margin[:] = 10.0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_MIDPHASE
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_collision(model, data)
    return {
        tuple(sorted(contact.geom.tolist())): contact.friction[0]
        for contact in data.contact
    }


def test_the_same_geoms_can_touch_as_in_mujoco(robot):
    model = describe_robot(robot.model, robot.name)
    allowed = {
        tuple(sorted((geom, other)))
        for a, surface in enumerate(model.surfaces)
        for b, another in enumerate(model.surfaces)
        for geom in surface.geoms
        for other in another.geoms
        if a < b and model.collides[a, b]
    }
    assert allowed == find_all_contacts(robot.model).keys()


def test_combined_friction_is_the_same_as_in_mujoco(robot):
    model = describe_robot(robot.model, robot.name)
    factor = {g: s.friction for s in model.surfaces for g in s.geoms}
    ground = {g for s in model.surfaces[model.n_moving :] for g in s.geoms}
    for (geom, other), friction in find_all_contacts(robot.model).items():
        if {geom, other} & ground or robot.name == "bittle":
            assert factor[geom] * factor[other] == pytest.approx(friction)


def test_the_same_bodies_touch_as_in_mujoco(robot):
    """Both find parts that overlap deeply, and neither finds parts that are apart.

    This also tests the sizes and positions of shapes.
    """
    world, data = make_world(robot), mujoco.MjData(robot.model)
    links = [world.model.base, *world.model.links]
    body_of = {
        (world.body, index): link.body
        for index, link in zip([-1, *world.link_index], links, strict=True)
    }
    n_deep = 0
    for qpos in draw_states(robot, 40, height=0.05, spread=1.0, seed=2):
        world.reset(qpos)
        data.qpos[:] = qpos
        mujoco.mj_fwdPosition(robot.model, data)
        bullet = find_touching(world, body_of, slack=-5e-4)
        expected = find_touching_in_mujoco(robot.model, data, slack=-5e-4)
        assert expected <= find_touching(world, body_of, slack=1e-4)
        assert bullet <= find_touching_in_mujoco(robot.model, data, slack=1e-4)
        n_deep += len(expected)
    assert n_deep > 40


def find_touching(world, body_of, *, slack):
    world.bullet.performCollisionDetection()
    return {
        tuple(sorted((body_of.get((c[1], c[3]), 0), body_of.get((c[2], c[4]), 0))))
        for c in world.bullet.getContactPoints()
        if c[8] < slack
    }


def find_touching_in_mujoco(model, data, *, slack):
    bodies = model.body_weldid[model.geom_bodyid]
    own = np.where(bodies > 0, model.geom_bodyid, 0)
    return {
        tuple(sorted(own[contact.geom].tolist()))
        for contact in data.contact
        if contact.dist < slack
    }


def test_a_joint_stops_at_its_limit(tiny):
    model = tiny.model.__copy__()
    model.jnt_range[1:] = -0.3, 0.3  # the actuators have a wider range
    robot = Robot("narrow", model, tiny.drop_height)
    qpos, targets = model.qpos0[None].copy(), np.full((1, 2), 1.0)
    qpos[0, 2] = 0.2
    settled = BulletEngine(robot, n_processes=1).settle(qpos, targets, time_limit=2.0)
    np.testing.assert_allclose(settled.qpos[0, 7:], 0.3, atol=0.01)


def test_dry_friction_holds_a_joint(tiny):
    model = tiny.model.__copy__()
    model.dof_frictionloss[6:] = 5.0  # more than the actuators' force
    robot = Robot("stiff", model, tiny.drop_height)
    qpos, targets = model.qpos0[None].copy(), np.full((1, 2), 1.0)
    settled = BulletEngine(robot, n_processes=1).settle(qpos, targets, time_limit=1.0)
    np.testing.assert_allclose(settled.qpos[0, 7:], 0.0, atol=1e-3)


def test_the_correction_follows_from_solref(bittle):
    # 0.01 s, critically damped, impedance 0.95: k = 11080 / s^2, b = 210.5 / s.
    share = derive_correction(
        bittle.model, np.array([[0.01, 1.0]]), np.array([[0.9, 0.95]])
    )
    assert share == pytest.approx(36.93 / (36.93 + 210.5), rel=1e-3)
    direct = derive_correction(
        bittle.model, np.array([[-10000.0, -200.0]]), np.array([[0.9, 0.95]])
    )
    assert direct == pytest.approx(share, rel=1e-3)


def test_a_step_corrects_that_share_of_the_depth(tiny):
    world = make_world(tiny)
    qpos = tiny.standing.copy()
    qpos[2] -= 1e-3  # into the floor
    world.reset(qpos)
    world.step(np.zeros(2))
    risen = world.read_state()[0][2] - qpos[2]
    assert risen == pytest.approx(1e-3 * world.model.contact_correction, rel=0.05)


def test_motions_equal_a_plain_loop_bit_for_bit(tiny):
    """New targets every ten steps, those at the end of these steps."""
    qpos, motion = random_motions(tiny, 2)
    got = BulletEngine(tiny, n_processes=1).settle(qpos, motion, time_limit=0.1)
    world, model = make_world(tiny), describe_robot(tiny.model, tiny.name)
    for row, n_moving in enumerate(motion.count_steps(tiny.timestep)):
        state, speed = qpos[row], np.zeros(tiny.model.nv)
        world.reset(state)
        for step in range(n_moving + round(0.1 / tiny.timestep)):
            if step % 10 == 0:
                until = (step + 10) * tiny.timestep
                target = find_target(motion.points[row], motion.times[row], until)
            world.step(model.compute_force(target, state[7:], speed[6:]))
            state, speed = world.read_state()
        np.testing.assert_array_equal(got.qpos[row], state)
    assert np.isinf(got.time).all()  # the quiet window does not fit in the limit
