"""What PyBullet needs to know of a robot, read off its compiled MuJoCo model.

The result is plain arrays, which a worker process can be sent. Bodies become links of
one multibody. Each joint has a link of its own, whose origin is on the joint's axis; a
body without joints is a link on a fixed joint; a body whose geoms do not all collide
alike gets massless links fixed to its own for the others.

Armature. Bullet has none, and a light link cannot do without: the shank of Bittle has
3e-6 kg m^2 about its knee, the armature adds 2e-4, and without it the PD law at 300 Hz
blows up. Added to the links' inertia, it would give the standing robot three times the
pitch inertia it has. So each joint gets what the armature stands for: a rotor on the
parent's side, geared up by `GEAR`, with 1 / `GEAR`^2 of that inertia. Accelerations
under random torques are then MuJoCo's but for about 1 / `GEAR`. It costs most of the
time, and buys agreement with MuJoCo on 96 % of pairs of Bittle's poses rather than 94 %
(benchmarks/bullet_agreement.py).

Damping. The same rotor makes it implicit, as MuJoCo's integrators do: to solve
(M + h D) dv = h (f - D v) is to add h D to the armature. So are the velocity gains of
actuators, if the model's integrator is `implicit` or `implicitfast`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines.bullet.checks import check_features
from kaccess.engines.bullet.contact import (
    Surface,
    correction,
    describe_ground,
    describe_surface,
    split_alike,
    which_collide,
    with_friction,
)

__all__ = ["GEAR", "Actuators", "BulletModel", "Link", "Vector", "describe"]

# Turns of a rotor for one of its joint. At 1e6, Bullet takes small rotors for nothing.
GEAR = 1e4

_IMPLICIT = (
    mujoco.mjtIntegrator.mjINT_IMPLICIT,
    mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
)
Vector = tuple[float, ...]
_ORIGIN: Vector = (0.0, 0.0, 0.0)
_UPRIGHT: Vector = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link of the multibody, and how it hangs on its parent.

    Args:
        body: The MuJoCo body it belongs to.
        parent: Index of the parent's link; -1 is the base.
        pos: (3,) origin in the parent's frame.
        quat: (4,) orientation in the parent's frame.
        joint: Index of its joint, the free one not counted; -1 if fixed.
        slides: Whether that joint is a slide.
        axis: (3,) of the joint.
        mass: [kg]
        inertia: (3,) principal moments [kg m^2].
        ipos: (3,) centre of mass.
        iquat: (4,) orientation of the principal axes.
        surface: Index of its surface; -1 if it cannot touch anything.
        is_rotor: Whether it stands for the armature of its joint.
    """

    body: int
    parent: int
    pos: Vector = _ORIGIN
    quat: Vector = _UPRIGHT
    joint: int = -1
    slides: bool = False
    axis: Vector = _ORIGIN
    mass: float = 0.0
    inertia: Vector = _ORIGIN
    ipos: Vector = _ORIGIN
    iquat: Vector = _UPRIGHT
    surface: int = -1
    is_rotor: bool = False


@dataclass(frozen=True)
class Actuators:
    """Position actuators: clip(gain * ctrl + bias . (1, q, v)), summed up by joint."""

    joint: IntArray
    gain: Array
    bias: Array
    ctrl_range: Array
    force_range: Array
    joint_force_range: Array

    def force(self, ctrl: Array, q: Array, v: Array) -> Array:
        """Return the force of the actuators on each joint, (nj,)."""
        constant, of_position, of_velocity = self.bias
        each = self.gain * np.clip(ctrl, *self.ctrl_range) + constant
        each += of_position * q[self.joint] + of_velocity * v[self.joint]
        each = np.clip(each, *self.force_range)
        total = np.bincount(self.joint, each, minlength=len(q))
        return np.asarray(np.clip(total, *self.joint_force_range))


@dataclass(frozen=True, kw_only=True)
class BulletModel:
    """A robot on its ground, as PyBullet takes it. Joints leave out the free one.

    Args:
        timestep: Physics step [s].
        gravity: (3,) [m/s^2].
        has_round_cone: Whether friction is the same in all directions.
        contact_correction: Share of a contact's depth that a step corrects.
        limit_correction: Share of a joint's excess that a step corrects.
        base: The body with the free joint.
        links: All others.
        surfaces: What can touch something; those that move come first.
        n_moving: How many of them move.
        collides: (n, n) which surfaces can touch.
        joint_ref: (nj,) joint positions in the model's zero pose.
        joint_range: (nj, 2) limits relative to that; lower above upper if unlimited.
        dry_friction: (nj,) of the joints.
        passive: (3, nj) c, k and d of the joints' own force, c - k q - d v.
        actuators: Force law of the actuators.
    """

    timestep: float
    gravity: Array
    has_round_cone: bool
    contact_correction: float
    limit_correction: float
    base: Link
    links: tuple[Link, ...]
    surfaces: tuple[Surface, ...]
    n_moving: int
    collides: BoolArray
    joint_ref: Array
    joint_range: Array
    dry_friction: Array
    passive: Array
    actuators: Actuators

    def joint_force(self, ctrl: Array, q: Array, v: Array) -> Array:
        """Return the force on each joint, (nj,), at positions q and velocities v."""
        constant, stiffness, damping = self.passive
        own = constant - stiffness * q - damping * v
        return np.asarray(self.actuators.force(ctrl, q, v) + own)


def describe(model: mujoco.MjModel, name: str) -> BulletModel:
    """Return a compiled model as PyBullet takes it.

    Raises:
        InputError: If it has a feature that cannot be carried over.
    """
    check_features(model, name)
    base, links, moving = _describe_links(model)
    surfaces = moving + describe_ground(model)
    collides = which_collide(model, surfaces)
    solid = [geom for surface in surfaces for geom in surface.geoms]
    limited = np.flatnonzero(model.jnt_limited[1:]) + 1
    joint_range = np.tile([1.0, -1.0], (model.njnt - 1, 1))
    joint_range[limited - 1] = model.jnt_range[limited] - model.qpos0[6 + limited, None]
    return BulletModel(
        timestep=float(model.opt.timestep),
        gravity=np.array(model.opt.gravity),
        has_round_cone=bool(model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC),
        contact_correction=correction(
            model, model.geom_solref[solid], model.geom_solimp[solid]
        ),
        limit_correction=correction(
            model, model.jnt_solref[limited], model.jnt_solimp[limited]
        ),
        base=base,
        links=(*links, *_rotors(model, links)),
        surfaces=with_friction(
            model, name, surfaces, collides=collides, n_moving=len(moving)
        ),
        n_moving=len(moving),
        collides=collides,
        joint_ref=np.array(model.qpos0[7:]),
        joint_range=joint_range,
        dry_friction=np.array(model.dof_frictionloss[6:]),
        passive=np.stack(
            [
                model.jnt_stiffness[1:] * model.qpos_spring[7:],
                model.jnt_stiffness[1:],
                model.dof_damping[6:],
            ]
        ),
        actuators=_describe_actuators(model),
    )


def _describe_links(model: mujoco.MjModel) -> tuple[Link, list[Link], list[Surface]]:
    """Return the base, all other links but the rotors, and the surfaces of both."""
    root = int(model.jnt_bodyid[0])
    base = _with_inertia(Link(body=root, parent=-1), model, np.zeros(3))
    links: list[Link] = []
    surfaces: list[Surface] = []
    link_of = {root: -1}
    origin: dict[int, Array] = {root: np.zeros(3)}  # of bodies, in their links' frames
    for body in np.flatnonzero(model.body_rootid == root).tolist():
        if body != root:
            parent = int(model.body_parentid[body])
            place = origin[parent] + model.body_pos[body]
            chain, origin[body] = _joint_links(
                model, body, link_of[parent], place, len(links)
            )
            links += chain
            link_of[body] = len(links) - 1
        for index, geoms in enumerate(split_alike(model, body)):
            surfaces.append(describe_surface(model, geoms, origin[body]))
            number = len(surfaces) - 1
            if index > 0:
                links.append(Link(body=body, parent=link_of[body], surface=number))
            elif body == root:
                base = replace(base, surface=number)
            else:
                links[-1] = replace(links[-1], surface=number)
    return base, links, surfaces


def _joint_links(
    model: mujoco.MjModel, body: int, parent: int, place: Array, n_before: int
) -> tuple[list[Link], Array]:
    """Return a body's links, and its origin in the frame of the last one.

    There is one link for each joint, or one that is fixed.

    Args:
        model: The compiled model.
        body: The body.
        parent: Its parent's link.
        place: (3,) its origin in that link's frame.
        n_before: Links there are already.
    """
    quat, offset = np.array(model.body_quat[body]), np.zeros(3)
    chain: list[Link] = []
    for joint in range(*_joints_of(model, body)):
        place = place + _rotate(quat, model.jnt_pos[joint] - offset)
        offset = np.array(model.jnt_pos[joint])
        link = Link(
            body=body,
            parent=n_before + len(chain) - 1 if chain else parent,
            pos=_vector(place),
            quat=_vector(quat),
            joint=joint - 1,
            slides=bool(model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE),
            axis=_vector(model.jnt_axis[joint]),
        )
        chain.append(link)
        place, quat = np.zeros(3), np.array(_UPRIGHT)
    if not chain:
        fixed = Link(body=body, parent=parent, pos=_vector(place), quat=_vector(quat))
        chain = [fixed]
    chain[-1] = _with_inertia(chain[-1], model, -offset)
    return chain, -offset


def _joints_of(model: mujoco.MjModel, body: int) -> tuple[int, int]:
    first = int(model.body_jntadr[body])
    return first, first + int(model.body_jntnum[body])


def _with_inertia(link: Link, model: mujoco.MjModel, body_origin: Array) -> Link:
    """Give a link its body's mass, at the body's origin in the link's frame."""
    return replace(
        link,
        mass=float(model.body_mass[link.body]),
        inertia=_vector(model.body_inertia[link.body]),
        ipos=_vector(body_origin + model.body_ipos[link.body]),
        iquat=_vector(model.body_iquat[link.body]),
    )


def _vector(values: Array) -> Vector:
    return tuple(values.tolist())


def _rotate(quat: Array, vector: Array) -> Array:
    turned = np.zeros(3)
    mujoco.mju_rotVecQuat(turned, vector, quat)
    return turned


def _rotors(model: mujoco.MjModel, links: list[Link]) -> Iterator[Link]:
    """Yield the rotors of those links whose joints have armature or damping."""
    reflected = _reflected_inertia(model) / GEAR**2
    for link in links:
        if link.joint < 0 or reflected[link.joint] <= 0:
            continue
        yield replace(
            link,
            slides=False,  # a slide's too spins in place, or it would travel far
            mass=0.0,
            inertia=(float(reflected[link.joint]),) * 3,
            ipos=_ORIGIN,
            iquat=_UPRIGHT,
            surface=-1,
            is_rotor=True,
        )


def _reflected_inertia(model: mujoco.MjModel) -> Array:
    """Return armature and what implicit damping adds to it, (nj,) [kg m^2 or kg]."""
    damping = np.maximum(model.dof_damping[6:], 0.0)
    if model.opt.integrator in _IMPLICIT:
        gain = np.maximum(-model.actuator_biasprm[:, 2], 0.0)
        joint = model.actuator_trnid[:, 0] - 1
        damping = damping + np.bincount(joint, gain, minlength=len(damping))
    return np.asarray(model.dof_armature[6:] + model.opt.timestep * damping)


def _describe_actuators(model: mujoco.MjModel) -> Actuators:
    def limits(limited: Array, values: Array) -> Array:
        return np.where(limited[:, None], values, [-np.inf, np.inf]).T

    return Actuators(
        joint=model.actuator_trnid[:, 0] - 1,
        gain=np.array(model.actuator_gainprm[:, 0]),
        bias=np.array(model.actuator_biasprm[:, :3].T),
        ctrl_range=limits(model.actuator_ctrllimited, model.actuator_ctrlrange),
        force_range=limits(model.actuator_forcelimited, model.actuator_forcerange),
        joint_force_range=limits(
            model.jnt_actfrclimited[1:], model.jnt_actfrcrange[1:]
        ),
    )
