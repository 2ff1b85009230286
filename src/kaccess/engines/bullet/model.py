"""A robot's compiled MuJoCo model, converted for PyBullet.

The result is plain arrays, which can be sent to a worker process. Bodies become links
of one multibody. Each joint has its own link, whose origin is on the joint's axis. A
body without joints is a link on a fixed joint. A body whose geoms differ in collision
settings gets additional massless links, fixed to its own.

Armature. Bullet has none, but a light link needs it: the shank of Bittle has 3e-6
kg m^2 about its knee, the armature adds 2e-4, and without it the PD control at 300 Hz
is unstable. Added to the inertia of the links, it would triple the pitch inertia of the
standing robot. So each joint gets a rotor, as in a real servo: it belongs to the
parent, turns `GEAR` times as fast, and has 1 / `GEAR`^2 of that inertia. Accelerations
under random torques then equal MuJoCo's up to about 1 / `GEAR`. Rotors take most of the
time; with them, PyBullet agrees with MuJoCo on 96 % of pairs of Bittle's poses, without
on 94 % (benchmarks/bullet_agreement.py).

Damping. The rotor also makes damping implicit, as in MuJoCo's integrators: solving
(M + h D) dv = h (f - D v) is the same as adding h D to the armature. This includes the
velocity gains of actuators if the integrator is `implicit` or `implicitfast`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines.bullet.checks import check_features
from kaccess.engines.bullet.contact import (
    Surface,
    add_friction,
    derive_correction,
    describe_ground,
    describe_surface,
    find_colliding,
    group_geoms,
)

__all__ = ["GEAR", "Actuators", "BulletModel", "Link", "Vector", "describe_robot"]

# Turns of a rotor per turn of its joint. At 1e6, Bullet ignores small rotors.
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
    """A link of the multibody, and how it is attached to its parent.

    Args:
        body: Index of its MuJoCo body.
        parent: Index of the parent's link; -1 is the base.
        pos: (3,) origin in the parent's frame.
        quat: (4,) orientation in the parent's frame.
        joint: Index of its joint, without the free joint; -1 if fixed.
        slides: Whether that joint is a slide.
        axis: (3,) axis of the joint.
        mass: Mass [kg].
        inertia: (3,) principal moments [kg m^2].
        ipos: (3,) centre of mass.
        iquat: (4,) orientation of the principal axes.
        surface: Index of its surface; -1 if it cannot collide.
        is_rotor: Whether it represents the armature of its joint.
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
    """Position actuators: clip(gain * ctrl + bias . (1, q, v)), summed per joint."""

    joint: IntArray
    gain: Array
    bias: Array
    ctrl_range: Array
    force_range: Array
    joint_force_range: Array

    def compute_each(self, ctrl: Array, q: Array, v: Array) -> Array:
        """Return the force of each actuator, (..., nu)."""
        constant, of_position, of_velocity = self.bias
        each = self.gain * np.clip(ctrl, *self.ctrl_range) + constant
        each += of_position * q[..., self.joint] + of_velocity * v[..., self.joint]
        return np.asarray(np.clip(each, *self.force_range))

    def compute_force(self, ctrl: Array, q: Array, v: Array) -> Array:
        """Return the force of the actuators on each joint, (..., nj)."""
        each = self.compute_each(ctrl, q, v)
        total = each @ (self.joint[:, None] == np.arange(q.shape[-1]))
        return np.asarray(np.clip(total, *self.joint_force_range))


@dataclass(frozen=True, kw_only=True)
class BulletModel:
    """A robot and its ground, for PyBullet; nj counts all joints but the free one.

    Args:
        timestep: Physics step [s].
        gravity: (3,) gravity [m/s^2].
        has_round_cone: Whether friction is the same in all directions.
        contact_correction: Share of a contact's depth that one step corrects.
        limit_correction: Share of a joint's limit violation that one step corrects.
        base: Link with the free joint.
        links: All other links.
        surfaces: Surfaces that can collide; those that move come first.
        n_moving: Number of surfaces that move.
        collides: (n, n) whether two surfaces can touch.
        joint_ref: (nj,) joint positions in the model's zero pose.
        joint_range: (nj, 2) limits relative to that; lower above upper if unlimited.
        dry_friction: (nj,) dry friction of the joints.
        passive: (3, nj) c, k and d of the joints' passive force, c - k q - d v.
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

    def compute_force(self, ctrl: Array, q: Array, v: Array) -> Array:
        """Return the force on each joint, (..., nj), at positions q, velocities v."""
        constant, stiffness, damping = self.passive
        passive = constant - stiffness * q - damping * v
        return np.asarray(self.actuators.compute_force(ctrl, q, v) + passive)


def describe_robot(model: mujoco.MjModel, name: str) -> BulletModel:
    """Convert a compiled model for PyBullet.

    Raises:
        InputError: If it has a feature that PyBullet does not support.
    """
    check_features(model, name)
    base, links, moving = _describe_links(model)
    surfaces = moving + describe_ground(model)
    collides = find_colliding(model, surfaces)
    solid = [geom for surface in surfaces for geom in surface.geoms]
    limited = np.flatnonzero(model.jnt_limited[1:]) + 1
    return BulletModel(
        timestep=float(model.opt.timestep),
        gravity=np.array(model.opt.gravity),
        has_round_cone=bool(model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC),
        contact_correction=derive_correction(
            model, model.geom_solref[solid], model.geom_solimp[solid]
        ),
        limit_correction=derive_correction(
            model, model.jnt_solref[limited], model.jnt_solimp[limited]
        ),
        base=base,
        links=(*links, *_make_rotors(model, links)),
        surfaces=add_friction(
            model, name, surfaces, collides=collides, n_moving=len(moving)
        ),
        n_moving=len(moving),
        collides=collides,
        joint_ref=np.array(model.qpos0[7:]),
        joint_range=_describe_ranges(model, limited),
        dry_friction=np.array(model.dof_frictionloss[6:]),
        passive=_describe_passive(model),
        actuators=_describe_actuators(model),
    )


def _describe_ranges(model: mujoco.MjModel, limited: IntArray) -> Array:
    """Return the limits of all joints, (nj, 2); lower above upper if unlimited."""
    ranges = np.tile([1.0, -1.0], (model.njnt - 1, 1))
    ranges[limited - 1] = model.jnt_range[limited] - model.qpos0[6 + limited, None]
    return ranges


def _describe_passive(model: mujoco.MjModel) -> Array:
    stiffness = model.jnt_stiffness[1:]
    return np.stack(
        [stiffness * model.qpos_spring[7:], stiffness, model.dof_damping[6:]]
    )


def _describe_links(model: mujoco.MjModel) -> tuple[Link, list[Link], list[Surface]]:
    """Return the base, all other links except rotors, and their surfaces."""
    root = int(model.jnt_bodyid[0])
    base = _add_inertia(Link(body=root, parent=-1), model, np.zeros(3))
    links: list[Link] = []
    surfaces: list[Surface] = []
    link_of = {root: -1}
    origin: dict[int, Array] = {root: np.zeros(3)}  # of a body, in its link's frame
    for body in np.flatnonzero(model.body_rootid == root).tolist():
        if body != root:
            parent = int(model.body_parentid[body])
            place = origin[parent] + model.body_pos[body]
            chain, origin[body] = _make_joint_links(
                model, body, link_of[parent], place, len(links)
            )
            links += chain
            link_of[body] = len(links) - 1
        for index, geoms in enumerate(group_geoms(model, body)):
            surfaces.append(describe_surface(model, geoms, origin[body]))
            number = len(surfaces) - 1
            if index > 0:
                links.append(Link(body=body, parent=link_of[body], surface=number))
            elif body == root:
                base = replace(base, surface=number)
            else:
                links[-1] = replace(links[-1], surface=number)
    return base, links, surfaces


def _make_joint_links(
    model: mujoco.MjModel, body: int, parent: int, place: Array, n_before: int
) -> tuple[list[Link], Array]:
    """Return the links of a body, and its origin in the frame of the last link.

    There is one link per joint, or a fixed one if there is no joint.

    Args:
        model: Compiled model.
        body: Index of the body.
        parent: Index of its parent's link.
        place: (3,) origin of the body in that link's frame.
        n_before: Number of links made before.
    """
    quat, offset = np.array(model.body_quat[body]), np.zeros(3)
    chain: list[Link] = []
    for joint in range(*_find_joints(model, body)):
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
    chain[-1] = _add_inertia(chain[-1], model, -offset)
    return chain, -offset


def _find_joints(model: mujoco.MjModel, body: int) -> tuple[int, int]:
    first = int(model.body_jntadr[body])
    return first, first + int(model.body_jntnum[body])


def _add_inertia(link: Link, model: mujoco.MjModel, body_origin: Array) -> Link:
    """Return a link with its body's mass and inertia.

    Args:
        link: Link.
        model: Compiled model.
        body_origin: (3,) origin of the body in the link's frame.
    """
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
    rotated = np.zeros(3)
    mujoco.mju_rotVecQuat(rotated, vector, quat)
    return rotated


def _make_rotors(model: mujoco.MjModel, links: list[Link]) -> Iterator[Link]:
    """Yield a rotor for each link whose joint has armature or damping."""
    reflected = _compute_reflected_inertia(model) / GEAR**2
    for link in links:
        if link.joint < 0 or reflected[link.joint] <= 0:
            continue
        yield replace(
            link,
            slides=False,  # the rotor of a slide spins too: else it would travel far
            mass=0.0,
            inertia=(float(reflected[link.joint]),) * 3,
            ipos=_ORIGIN,
            iquat=_UPRIGHT,
            surface=-1,
            is_rotor=True,
        )


def _compute_reflected_inertia(model: mujoco.MjModel) -> Array:
    """Return armature plus implicit damping of joints, (nj,) [kg m^2 or kg]."""
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
