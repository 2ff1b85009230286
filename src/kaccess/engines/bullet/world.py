"""One robot in one PyBullet world, set to a state and stepped.

Bullet keeps more between steps than positions and velocities: contact points, their
order, the pairs that are near one another. So that an episode depends on nothing but
where it starts, each begins in a world built anew; that takes 7 ms for Bittle, against
190 ms for the mean episode.

The solver visits contacts and gears one after the other, many times. A contact on a
light link passes on little of a rotor's momentum at each visit, hence their number.
Against 4000 visits, half a second of Bittle's motion is off by 0.005 rad on average
after 50 visits, 0.0006 after 200 and 0.0002 after 500.
"""

import os
import sys
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from kaccess.base.types import Array
from kaccess.engines.bullet.contact import Shape, Surface
from kaccess.engines.bullet.model import GEAR, BulletModel, Link, Vector

__all__ = ["World", "import_pybullet"]

_N_ITERATIONS = 500
_TILT, _N_TILTS = 0.002, 8  # [rad]: 0.1 mm at the end of Bittle
_NO_LIMIT = 1e10  # for a speed or a force that Bullet would otherwise cap


def import_pybullet() -> Any:  # noqa: ANN401 - PyBullet has no types
    """Return the module, without the line it prints when it is first imported."""
    try:
        with _silent_stderr("pybullet" not in sys.modules):
            import pybullet
    except ImportError as error:
        raise ImportError(
            "The 'bullet' engine needs PyBullet, which is not installed. Run `pip "
            "install 'kaccess[bullet]'`, or choose the 'mujoco' engine."
        ) from error
    return pybullet


@contextmanager
def _silent_stderr(silent: bool) -> Iterator[None]:
    """Send what C code writes to stderr nowhere."""
    if not silent:
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
    """PyBullet's functions and constants, bound to a simulation of its own."""

    def __init__(self) -> None:
        self._pybullet = import_pybullet()
        self._id = self._pybullet.connect(self._pybullet.DIRECT)
        weakref.finalize(self, self._pybullet.disconnect, self._id)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - PyBullet has no types
        attribute = getattr(self._pybullet, name)
        if callable(attribute):
            attribute = partial(attribute, physicsClientId=self._id)
        setattr(self, name, attribute)  # so that the next time is fast
        return attribute


class World:
    """A robot on its ground in a PyBullet world of its own.

    Args:
        model: The robot.

    Attributes:
        body: PyBullet's number of the robot.
        link_index: PyBullet's number of each link of the model.
        ground: PyBullet's numbers of what does not move.
    """

    def __init__(self, model: BulletModel) -> None:
        self.model = model
        self.bullet = _Client()
        self.reset(np.array([0, 0, 0, 1, 0, 0, 0, *model.joint_ref], float))

    def reset(self, qpos: Array) -> None:
        """Build the world anew, with the robot at rest at `qpos`, (nq,)."""
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
        """Advance by one step with a force held at each joint, (nj,)."""
        self.bullet.setJointMotorControlArray(
            self.body,
            self._driven,
            self.bullet.TORQUE_CONTROL,
            forces=force * self._leverage,
        )
        self.bullet.stepSimulation()

    def state(self) -> tuple[Array, Array]:
        """Return qpos, (nq,), and qvel, (nv,), as MuJoCo writes them.

        Bullet's base is the centre of mass of the base, in its principal axes.
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
                linkJointTypes=[self._joint_type(link) for link in links],
                linkJointAxis=[link.axis for link in links],
                flags=self.bullet.URDF_USE_SELF_COLLISION
                | self.bullet.URDF_USE_SELF_COLLISION_INCLUDE_PARENT,
            )
        )

    def _joint_type(self, link: Link) -> int:
        if link.joint < 0:
            return int(self.bullet.JOINT_FIXED)
        kind = "JOINT_PRISMATIC" if link.slides else "JOINT_REVOLUTE"
        return int(getattr(self.bullet, kind))

    def _find_links(self) -> list[int]:
        """Return where each link ended up: Bullet sorts them depth first.

        It calls the joint of link i `joint<i + 1>`.
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
                shapeTypes=[self._shape_type(shape) for shape in shapes],
                halfExtents=[shape.size.tolist() for shape in shapes],
                radii=[shape.size[0] for shape in shapes],
                lengths=[2 * shape.size[1] for shape in shapes],
                collisionFramePositions=[shape.pos.tolist() for shape in shapes],
                collisionFrameOrientations=[_xyzw(shape.quat) for shape in shapes],
            )
        )

    def _make_single_shape(self, shape: Shape) -> int:
        """Make a shape that need not go into a compound, as planes and hulls cannot."""
        vertices = [] if shape.vertices is None else shape.vertices.tolist()
        return int(
            self.bullet.createCollisionShape(
                self._shape_type(shape),
                halfExtents=shape.size,
                radius=shape.size[0],
                height=2 * shape.size[1],
                vertices=vertices,
                collisionFramePosition=shape.pos,
                collisionFrameOrientation=_xyzw(shape.quat),
            )
        )

    def _shape_type(self, shape: Shape) -> int:
        kind = "mesh" if shape.kind == "hull" else shape.kind
        return int(getattr(self.bullet, f"GEOM_{kind.upper()}"))

    def _set_dynamics(self) -> None:
        """Set what `createMultiBody` does not take, and undo Bullet's own damping.

        In two calls: what concerns the whole body makes Bullet forget about the link.
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
        own = not link.is_rotor
        friction = self.model.dry_friction[link.joint] if own else 0.0
        self.bullet.setJointMotorControl2(
            self.body, index, self.bullet.VELOCITY_CONTROL, force=friction
        )
        lower, upper = self.model.joint_range[link.joint]
        if own and lower <= upper:
            self.bullet.changeDynamics(
                self.body,
                index,
                jointLowerLimit=lower,
                jointUpperLimit=upper,
                jointLimitForce=_NO_LIMIT,
            )

    def _set_contacts(self) -> None:
        """Set the friction of surfaces, and which of them can touch."""
        places = self.places()
        for (body, link), surface in zip(places, self.model.surfaces, strict=True):
            self.bullet.changeDynamics(
                body,
                link,
                lateralFriction=surface.friction,
                restitution=0.0,
            )
        for a, b in combinations(range(self.model.n_moving), 2):
            self._allow(places[a], places[b], self.model.collides[a, b])
        for a in range(self.model.n_moving):
            for b in range(self.model.n_moving, len(places)):
                self._allow(places[a], places[b], self.model.collides[a, b])

    def _allow(self, one: tuple[int, int], other: tuple[int, int], may: bool) -> None:
        self.bullet.setCollisionFilterPair(
            one[0], other[0], one[1], other[1], enableCollision=int(may)
        )

    def places(self) -> list[tuple[int, int]]:
        """Return PyBullet's numbers of the body and link of each surface."""
        where = {self.model.base.surface: -1}
        for index, link in zip(self.link_index, self.model.links, strict=True):
            where.setdefault(link.surface, index)
        moving = [(self.body, where[s]) for s in range(self.model.n_moving)]
        return moving + [(ground, -1) for ground in self.ground]

    def _make_gears(self) -> None:
        """Couple rotors to their joints, and note which link drives which joint."""
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

        It finds one for each pair of shapes at a time, the deepest, and remembers it;
        a box would rock until it has its four. Tilted a little this way and that, the
        robot has them all before it moves.
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
    """Return a quaternion in Bullet's order."""
    w, x, y, z = quat
    return x, y, z, w


# Plain floats: for one quaternion, NumPy takes ten times as long.


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
