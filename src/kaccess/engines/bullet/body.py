"""A robot in a PyBullet world, which it may share with others of its kind."""

from collections.abc import Sequence
from itertools import chain, combinations, product

import numpy as np

from kaccess.base.types import Array
from kaccess.engines.bullet.client import Client
from kaccess.engines.bullet.model import GEAR, BulletModel, Link, Vector
from kaccess.engines.bullet.quaternions import (
    cross,
    inverse,
    multiply,
    rotate,
    to_xyzw,
)
from kaccess.engines.bullet.shapes import make_shape

__all__ = ["Body", "find_contacts"]

_TILT, _N_TILTS = 0.002, 8  # [rad]: 0.1 mm at the end of Bittle
_NO_LIMIT = 1e10  # speed or force; Bullet has lower limits by default


class Body:
    """A robot in a world.

    Args:
        bullet: Simulation.
        model: Robot, converted for PyBullet.
        origin: (2,) where its x = y = 0 is in the world [m].

    Attributes:
        body: PyBullet's index of the robot.
        link_index: PyBullet's index of each link of the model.
        ground: PyBullet's indices of the bodies that do not move.
    """

    body: int
    link_index: list[int]
    ground: Sequence[int]

    def __init__(
        self, bullet: Client, model: BulletModel, origin: tuple[float, float] = (0, 0)
    ) -> None:
        self.bullet, self.model = bullet, model
        self._origin = (*origin, 0.0)

    def make(self) -> None:
        """Make the robot in a new simulation."""
        self.body = self._make_robot()
        self.link_index = self._find_links()

    def put_on(self, ground: Sequence[int]) -> None:
        """Set everything that PyBullet can set only after the robot was made."""
        self.ground = ground
        self._set_dynamics()
        self._set_contacts()
        self._make_gears()

    def push(self, force: Array) -> None:
        """Set the force at each joint, (nj,), for the next step."""
        self.bullet.setJointMotorControlArray(
            self.body,
            self._driven,
            self.bullet.TORQUE_CONTROL,
            forces=force * self._leverage,
        )

    def place(self, qpos: Array) -> None:
        """Put the robot into a state, (nq,)."""
        quat, offset = self._find_centre(qpos)
        at = np.add(qpos[:3], self._origin).tolist()
        self._below = [at[0], at[1], 0.0]
        self.bullet.resetBasePositionAndOrientation(
            self.body,
            [a + o for a, o in zip(at, offset, strict=True)],
            to_xyzw(multiply(quat, self.model.base.iquat)),
        )
        relative = qpos[7:] - self.model.joint_ref
        for index, position in zip(self._joints, relative, strict=True):
            self.bullet.resetJointState(self.body, index, position, 0.0)

    def set_velocity(self, qpos: Array, qvel: Array) -> None:
        """Set the velocity, (nv,), of a robot that was placed at `qpos`, (nq,)."""
        quat, offset = self._find_centre(qpos)
        spin = rotate(quat, tuple(qvel[3:6].tolist()))
        swing = cross(spin, offset)
        linear = [v + s for v, s in zip(qvel[:3].tolist(), swing, strict=True)]
        self.bullet.resetBaseVelocity(self.body, linear, spin)
        relative, reset = qpos[7:] - self.model.joint_ref, self.bullet.resetJointState
        for joint, speed in enumerate(qvel[6:].tolist()):
            link, rotor = self._joints[joint], self._driven[joint]
            reset(self.body, link, relative[joint], speed)
            if rotor != link:
                reset(self.body, rotor, 0.0, GEAR * speed)

    def _find_centre(self, qpos: Array) -> tuple[Vector, Vector]:
        """Return the base's attitude, and its centre of mass relative to its origin."""
        quat = tuple((qpos[3:7] / np.linalg.norm(qpos[3:7])).tolist())
        return quat, rotate(quat, self.model.base.ipos)

    def tilt(self, turn: Vector, centre: Vector, attitude: Vector) -> None:
        """Tilt the robot about the point of the ground below the place of its base.

        Args:
            turn: Quaternion x-y-z-w of the tilt.
            centre: Centre of mass of the base before the tilt.
            attitude: Quaternion x-y-z-w of the base before the tilt.
        """
        above = [c - b for c, b in zip(centre, self._below, strict=True)]
        place = self.bullet.multiplyTransforms(self._below, turn, above, attitude)
        self.bullet.resetBasePositionAndOrientation(self.body, *place)

    def read_state(self) -> tuple[Array, Array]:
        """Return qpos, (nq,), and qvel, (nv,), in MuJoCo's convention.

        Bullet's base frame is at the centre of mass, along the principal axes.
        """
        centre, (x, y, z, w) = self.bullet.getBasePositionAndOrientation(self.body)
        linear, angular = self.bullet.getBaseVelocity(self.body)
        quat = multiply((w, x, y, z), inverse(self.model.base.iquat))
        offset = rotate(quat, self.model.base.ipos)
        pos = [c - o - a for c, o, a in zip(centre, offset, self._origin, strict=True)]
        vel = [v - s for v, s in zip(linear, cross(angular, offset), strict=True)]
        joints = self.bullet.getJointStates(self.body, self._joints)
        qpos = np.array([*pos, *quat, *(joint[0] for joint in joints)])
        qpos[7:] += self.model.joint_ref
        spin = rotate(inverse(quat), angular)
        return qpos, np.array([*vel, *spin, *(joint[1] for joint in joints)])

    def read_joints(self) -> list[tuple[float, float]]:
        """Return position, relative to `joint_ref`, and velocity of each joint."""
        states = self.bullet.getJointStates(self.body, self._joints)
        return [state[:2] for state in states]

    def find_surfaces(self) -> list[tuple[int, int]]:
        """Return PyBullet's indices of the body and link of each surface."""
        where = {self.model.base.surface: -1}
        for index, link in zip(self.link_index, self.model.links, strict=True):
            where.setdefault(link.surface, index)
        moving = [(self.body, where[s]) for s in range(self.model.n_moving)]
        return moving + [(ground, -1) for ground in self.ground]

    def _make_robot(self) -> int:
        base, links = self.model.base, self.model.links
        return int(
            self.bullet.createMultiBody(
                basePosition=self._origin,  # robots in one place would all be pairs
                baseMass=base.mass,
                baseCollisionShapeIndex=self._make_link_shape(base),
                baseInertialFramePosition=base.ipos,
                baseInertialFrameOrientation=to_xyzw(base.iquat),
                linkMasses=[link.mass for link in links],
                linkCollisionShapeIndices=[self._make_link_shape(ln) for ln in links],
                linkVisualShapeIndices=[-1 for _ in links],
                linkPositions=[link.pos for link in links],
                linkOrientations=[to_xyzw(link.quat) for link in links],
                linkInertialFramePositions=[link.ipos for link in links],
                linkInertialFrameOrientations=[to_xyzw(link.iquat) for link in links],
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
        return make_shape(self.bullet, self.model.surfaces[link.surface])

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


def find_contacts(bodies: Sequence[Body]) -> None:
    """Let Bullet find all contact points of robots of a world that lie on the ground.

    One search finds only the deepest point of each pair of shapes, and Bullet keeps it
    for later steps. A box would rock until all four points are found. Tilting robots a
    little in several directions finds them all before they move.
    """
    if not bodies:
        return
    bullet = bodies[0].bullet
    places = [bullet.getBasePositionAndOrientation(each.body) for each in bodies]
    for angle in np.linspace(0.0, 2 * np.pi, _N_TILTS, endpoint=False):
        x, y = np.sin(_TILT / 2) * np.cos(angle), np.sin(_TILT / 2) * np.sin(angle)
        turn = x, y, 0.0, np.cos(_TILT / 2)
        for each, (centre, attitude) in zip(bodies, places, strict=True):
            each.tilt(turn, centre, attitude)
        bullet.performCollisionDetection()
    for each, place in zip(bodies, places, strict=True):
        bullet.resetBasePositionAndOrientation(each.body, *place)
