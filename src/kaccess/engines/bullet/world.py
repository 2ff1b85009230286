"""One robot in one PyBullet world.

Between steps, Bullet stores more than positions and velocities: contact points, their
order, and pairs that are close. So each simulation starts in a new world, and its
result depends on its start only. For Bittle a new world takes 7 ms, and the mean
simulation 190 ms.

The solver is iterative. A contact on a light link transfers only a little of a rotor's
momentum in each iteration, so many iterations are needed. Compared with 4000, half a
second of Bittle's motion has a mean error of 0.005 rad with 50 iterations, 0.0006 with
200 and 0.0002 with 500.
"""

import os
import sys
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain, combinations, product
from typing import Any

import numpy as np

from kaccess.base.types import Array
from kaccess.engines.bullet.contact import Shape, Surface
from kaccess.engines.bullet.model import GEAR, BulletModel, Link, Vector

__all__ = ["World", "import_pybullet"]

_N_ITERATIONS = 500
_TILT, _N_TILTS = 0.002, 8  # [rad]: 0.1 mm at the end of Bittle
_NO_LIMIT = 1e10  # speed or force; Bullet has lower limits by default


def import_pybullet() -> Any:  # noqa: ANN401 - PyBullet has no types
    """Return the module, and hide the line it prints at the first import."""
    try:
        with _silence_stderr("pybullet" not in sys.modules):
            import pybullet
    except ImportError as error:
        raise ImportError(
            "The 'bullet' engine needs PyBullet, which is not installed. Run `pip "
            "install 'kaccess[bullet]'`, or choose the 'mujoco' engine."
        ) from error
    return pybullet


@contextmanager
def _silence_stderr(is_silent: bool) -> Iterator[None]:
    """Discard what C code writes to stderr."""
    if not is_silent:
        yield
        return
    saved, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)


class _Client:
    """PyBullet's functions and constants, bound to one simulation."""

    def __init__(self) -> None:
        self._pybullet = import_pybullet()
        self._id = self._pybullet.connect(self._pybullet.DIRECT)
        weakref.finalize(self, self._pybullet.disconnect, self._id)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - PyBullet has no types
        attribute = getattr(self._pybullet, name)
        if callable(attribute):
            attribute = partial(attribute, physicsClientId=self._id)
        setattr(self, name, attribute)  # the next access is fast
        return attribute


class World:
    """A robot and its ground in a PyBullet world.

    Args:
        model: Robot, converted for PyBullet.

    Attributes:
        body: PyBullet's index of the robot.
        link_index: PyBullet's index of each link of the model.
        ground: PyBullet's indices of the bodies that do not move.
    """

    def __init__(self, model: BulletModel) -> None:
        self.model = model
        self.bullet = _Client()
        self.reset(np.array([0, 0, 0, 1, 0, 0, 0, *model.joint_ref], float))

    def reset(self, qpos: Array) -> None:
        """Make a new world, with the robot at rest at `qpos`, (nq,)."""
        self.bullet.resetSimulation()
        self._set_parameters()
        self.body = self._make_robot()
        self.link_index = self._find_links()
        self.ground = [
            self.bullet.createMultiBody(0, self._make_shape(surface))
            for surface in self.model.surfaces[self.model.n_moving :]
        ]
        self._set_dynamics()
        self._set_contacts()
        self._make_gears()
        self._place(qpos)
        self._find_contacts(qpos)

    def step(self, force: Array) -> None:
        """Advance by one step with a constant force at each joint, (nj,)."""
        self.bullet.setJointMotorControlArray(
            self.body,
            self._driven,
            self.bullet.TORQUE_CONTROL,
            forces=force * self._leverage,
        )
        self.bullet.stepSimulation()

    def read_state(self) -> tuple[Array, Array]:
        """Return qpos, (nq,), and qvel, (nv,), in MuJoCo's convention.

        Bullet's base frame is at the centre of mass, along the principal axes.
        """
        centre, (x, y, z, w) = self.bullet.getBasePositionAndOrientation(self.body)
        linear, angular = self.bullet.getBaseVelocity(self.body)
        quat = _multiply((w, x, y, z), _inverse(self.model.base.iquat))
        offset = _rotate(quat, self.model.base.ipos)
        pos = [c - o for c, o in zip(centre, offset, strict=True)]
        vel = [v - s for v, s in zip(linear, _cross(angular, offset), strict=True)]
        joints = self.bullet.getJointStates(self.body, self._joints)
        qpos = np.array([*pos, *quat, *(joint[0] for joint in joints)])
        qpos[7:] += self.model.joint_ref
        spin = _rotate(_inverse(quat), angular)
        return qpos, np.array([*vel, *spin, *(joint[1] for joint in joints)])

    def _set_parameters(self) -> None:
        self.bullet.setGravity(*self.model.gravity)
        self.bullet.setPhysicsEngineParameter(
            fixedTimeStep=self.model.timestep,
            numSubSteps=0,
            numSolverIterations=_N_ITERATIONS,
            contactERP=self.model.contact_correction,
            erp=self.model.limit_correction,
            enableConeFriction=int(self.model.has_round_cone),
            deterministicOverlappingPairs=1,
        )

    def _make_robot(self) -> int:
        base, links = self.model.base, self.model.links
        return int(
            self.bullet.createMultiBody(
                baseMass=base.mass,
                baseCollisionShapeIndex=self._make_link_shape(base),
                baseInertialFramePosition=base.ipos,
                baseInertialFrameOrientation=_xyzw(base.iquat),
                linkMasses=[link.mass for link in links],
                linkCollisionShapeIndices=[self._make_link_shape(ln) for ln in links],
                linkVisualShapeIndices=[-1 for _ in links],
                linkPositions=[link.pos for link in links],
                linkOrientations=[_xyzw(link.quat) for link in links],
                linkInertialFramePositions=[link.ipos for link in links],
                linkInertialFrameOrientations=[_xyzw(link.iquat) for link in links],
                linkParentIndices=[link.parent + 1 for link in links],  # 0: the base
                linkJointTypes=[self._get_joint_type(link) for link in links],
                linkJointAxis=[link.axis for link in links],
                flags=self.bullet.URDF_USE_SELF_COLLISION
                | self.bullet.URDF_USE_SELF_COLLISION_INCLUDE_PARENT,
            )
        )

    def _get_joint_type(self, link: Link) -> int:
        if link.joint < 0:
            return int(self.bullet.JOINT_FIXED)
        kind = "JOINT_PRISMATIC" if link.slides else "JOINT_REVOLUTE"
        return int(getattr(self.bullet, kind))

    def _find_links(self) -> list[int]:
        """Return Bullet's index of each link.

        Bullet sorts links depth first, and names the joint of link i `joint<i + 1>`.
        """
        names = [
            self.bullet.getJointInfo(self.body, index)[1].decode()
            for index in range(len(self.model.links))
        ]
        return [names.index(f"joint{i + 1}") for i in range(len(names))]

    def _make_link_shape(self, link: Link) -> int:
        if link.surface < 0:
            return -1
        return self._make_shape(self.model.surfaces[link.surface])

    def _make_shape(self, surface: Surface) -> int:
        shapes = surface.shapes
        if len(shapes) == 1:
            return self._make_single_shape(shapes[0])
        return int(
            self.bullet.createCollisionShapeArray(
                shapeTypes=[self._get_shape_type(shape) for shape in shapes],
                halfExtents=[shape.size.tolist() for shape in shapes],
                radii=[shape.size[0] for shape in shapes],
                lengths=[2 * shape.size[1] for shape in shapes],
                collisionFramePositions=[shape.pos.tolist() for shape in shapes],
                collisionFrameOrientations=[_xyzw(shape.quat) for shape in shapes],
            )
        )

    def _make_single_shape(self, shape: Shape) -> int:
        """Make a shape on its own; planes and hulls cannot be part of a compound."""
        vertices = [] if shape.vertices is None else shape.vertices.tolist()
        return int(
            self.bullet.createCollisionShape(
                self._get_shape_type(shape),
                halfExtents=shape.size,
                radius=shape.size[0],
                height=2 * shape.size[1],
                vertices=vertices,
                collisionFramePosition=shape.pos,
                collisionFrameOrientation=_xyzw(shape.quat),
            )
        )

    def _get_shape_type(self, shape: Shape) -> int:
        kind = "mesh" if shape.kind == "hull" else shape.kind
        return int(getattr(self.bullet, f"GEOM_{kind.upper()}"))

    def _set_dynamics(self) -> None:
        """Set options that `createMultiBody` lacks, and turn off Bullet's damping.

        This takes two calls: given options of the body, Bullet ignores those of a link.
        """
        self.bullet.changeDynamics(
            self.body,
            -1,
            linearDamping=0.0,
            angularDamping=0.0,
            maxJointVelocity=_NO_LIMIT,
            activationState=self.bullet.ACTIVATION_STATE_DISABLE_SLEEPING,
        )
        links = [(-1, self.model.base)]
        links += zip(self.link_index, self.model.links, strict=True)
        for index, link in links:
            self.bullet.changeDynamics(
                self.body, index, localInertiaDiagonal=link.inertia
            )
            if link.joint >= 0:
                self._set_joint(index, link)

    def _set_joint(self, index: int, link: Link) -> None:
        """Set a joint's limits and friction, which replaces Bullet's default motor."""
        friction = 0.0 if link.is_rotor else self.model.dry_friction[link.joint]
        self.bullet.setJointMotorControl2(
            self.body, index, self.bullet.VELOCITY_CONTROL, force=friction
        )
        lower, upper = self.model.joint_range[link.joint]
        if not link.is_rotor and lower <= upper:
            self.bullet.changeDynamics(
                self.body,
                index,
                jointLowerLimit=lower,
                jointUpperLimit=upper,
                jointLimitForce=_NO_LIMIT,
            )

    def _set_contacts(self) -> None:
        """Set the friction of surfaces, and which pairs can touch."""
        places = self.find_surfaces()
        n_moving = self.model.n_moving
        for (body, link), surface in zip(places, self.model.surfaces, strict=True):
            self.bullet.changeDynamics(
                body,
                link,
                lateralFriction=surface.friction,
                restitution=0.0,
            )
        on_ground = product(range(n_moving), range(n_moving, len(places)))
        for a, b in chain(combinations(range(n_moving), 2), on_ground):
            self.bullet.setCollisionFilterPair(
                *(places[a][0], places[b][0], places[a][1], places[b][1]),
                enableCollision=int(self.model.collides[a, b]),
            )

    def find_surfaces(self) -> list[tuple[int, int]]:
        """Return PyBullet's indices of the body and link of each surface."""
        where = {self.model.base.surface: -1}
        for index, link in zip(self.link_index, self.model.links, strict=True):
            where.setdefault(link.surface, index)
        moving = [(self.body, where[s]) for s in range(self.model.n_moving)]
        return moving + [(ground, -1) for ground in self.ground]

    def _make_gears(self) -> None:
        """Couple rotors to their joints, and store which link drives which joint."""
        n_joints = len(self.model.joint_ref)
        self._joints = [-1] * n_joints
        self._driven = [-1] * n_joints
        self._leverage = np.ones(n_joints)
        for index, link in zip(self.link_index, self.model.links, strict=True):
            if link.joint >= 0 and not link.is_rotor:
                self._joints[link.joint] = self._driven[link.joint] = index
        for index, link in zip(self.link_index, self.model.links, strict=True):
            if link.is_rotor:
                self._make_gear(index, self._joints[link.joint], link.axis)
                self._driven[link.joint] = index
                self._leverage[link.joint] = 1 / GEAR

    def _make_gear(self, rotor: int, joint: int, axis: Vector) -> None:
        zero = [0.0, 0.0, 0.0]
        gear = self.bullet.createConstraint(
            *(self.body, rotor, self.body, joint),
            *(self.bullet.JOINT_GEAR, axis, zero, zero),
        )
        self.bullet.changeConstraint(gear, gearRatio=-GEAR, maxForce=_NO_LIMIT, erp=0.0)

    def _find_contacts(self, qpos: Array) -> None:
        """Let Bullet find all contact points of a robot that lies on the ground.

        One search finds only the deepest point of each pair of shapes, and Bullet keeps
        it for later steps. A box would rock until all four points are found. Tilting
        the robot a little in several directions finds them all before it moves.
        """
        centre, attitude = self.bullet.getBasePositionAndOrientation(self.body)
        below = [qpos[0], qpos[1], 0.0]
        above = [c - b for c, b in zip(centre, below, strict=True)]
        for angle in np.linspace(0.0, 2 * np.pi, _N_TILTS, endpoint=False):
            x, y = np.sin(_TILT / 2) * np.cos(angle), np.sin(_TILT / 2) * np.sin(angle)
            tilt = [x, y, 0.0, np.cos(_TILT / 2)]
            place = self.bullet.multiplyTransforms(below, tilt, above, attitude)
            self.bullet.resetBasePositionAndOrientation(self.body, *place)
            self.bullet.performCollisionDetection()
        self.bullet.resetBasePositionAndOrientation(self.body, centre, attitude)

    def _place(self, qpos: Array) -> None:
        x, y, z = qpos[:3].tolist()
        quat = tuple((qpos[3:7] / np.linalg.norm(qpos[3:7])).tolist())
        offset = _rotate(quat, self.model.base.ipos)
        self.bullet.resetBasePositionAndOrientation(
            self.body,
            [x + offset[0], y + offset[1], z + offset[2]],
            _xyzw(_multiply(quat, self.model.base.iquat)),
        )
        relative = qpos[7:] - self.model.joint_ref
        for index, position in zip(self._joints, relative, strict=True):
            self.bullet.resetJointState(self.body, index, position, 0.0)


def _xyzw(quat: Iterable[float]) -> Vector:
    """Return a quaternion in Bullet's order, x-y-z-w."""
    w, x, y, z = quat
    return x, y, z, w


# Plain floats: NumPy takes ten times as long for one quaternion.


def _inverse(quat: Vector) -> Vector:
    w, x, y, z = quat
    return w, -x, -y, -z


def _multiply(a: Vector, b: Vector) -> Vector:
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def _cross(a: Vector, b: Vector) -> Vector:
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def _rotate(quat: Vector, vector: Vector) -> Vector:
    return _multiply(_multiply(quat, (0.0, *vector)), _inverse(quat))[1:]
