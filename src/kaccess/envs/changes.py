"""Changes of a robot's compiled model: strength, gains, friction, mass and its place.

The same function makes the one model of fixed conditions, and the model of each robot
whose conditions are drawn.
"""

import math
from dataclasses import dataclass, fields

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.robots import Robot

__all__ = [
    "CHANGED_FIELDS",
    "MODEL_VALUES",
    "TORQUE_LIMITS",
    "ModelValues",
    "change_model",
    "check_torque_limits",
]

TORQUE_LIMITS = ("actuator_forcerange", "jnt_actfrcrange")
"""Fields of the model with torque limits."""

CHANGED_FIELDS = (
    *TORQUE_LIMITS,
    "actuator_gainprm",
    "actuator_biasprm",
    "dof_damping",
    "geom_friction",
    "pair_friction",
    "body_mass",
    "body_inertia",
    "body_ipos",
    "body_subtreemass",
    "body_invweight0",
    "dof_invweight0",
    "dof_M0",
    "actuator_acc0",
    # Where things are in the frame of the centre of mass:
    "bvh_aabb",
    "dof_length",
    "body_sameframe",
    "body_simple",
    "geom_sameframe",
    "site_sameframe",
)
"""Fields of the model that `change_model` may change, apart from gravity."""


@dataclass(frozen=True, kw_only=True)
class ModelValues:
    """Values of the conditions that change the model; see `Conditions`."""

    torque: float
    gain: float
    damping: float
    friction: float | None
    mass: float
    comx: float
    comy: float
    comz: float
    slope: float


MODEL_VALUES = tuple(field.name for field in fields(ModelValues))
"""Names of the conditions that change the model."""


def change_model(robot: Robot, model: mujoco.MjModel, values: ModelValues) -> None:
    """Change a copy of a robot's model in place.

    Raises:
        InputError: If a torque limit is missing.
    """
    if values.torque != 1.0:
        check_torque_limits(robot, "torque")
        model.actuator_forcerange *= values.torque
        model.jnt_actfrcrange *= values.torque
    if values.gain != 1.0:
        model.actuator_gainprm[:, 0] *= values.gain
        model.actuator_biasprm[:, 1] *= values.gain
    if values.damping != 1.0:
        model.actuator_biasprm[:, 2] *= values.damping
        model.dof_damping[6:] *= values.damping
    if values.friction is not None:
        model.geom_friction[:, 0] = values.friction
        model.pair_friction[:, :2] = values.friction
    shift = np.array([values.comx, values.comy, values.comz])
    if values.mass != 1.0 or shift.any():
        _change_mass(model, values.mass, shift)
    if values.slope:
        _tilt_gravity(model, math.radians(values.slope))


def check_torque_limits(robot: Robot, name: str) -> None:
    """Raise `InputError` if an actuator has no torque limit that `name` could scale."""
    model = robot.model
    joints = model.actuator_trnid[:, 0]
    limited = model.actuator_forcelimited | model.jnt_actfrclimited[joints]
    if not limited.all():
        joint = robot.joint_names[int(np.argmin(limited))]
        raise InputError(
            f"`{name}` scales the torque limits of {robot.name}, but the actuator of "
            f"joint {joint!r} has none. Add a `forcerange` to it in the model."
        )


def _change_mass(model: mujoco.MjModel, factor: float, shift: np.ndarray) -> None:
    base = model.jnt_bodyid[0]
    body = model.body_weldid == base
    if factor != 1.0:
        model.body_mass[body] *= factor
        model.body_inertia[body] *= factor
    if shift.any():
        model.body_ipos[base] += shift
        _separate_frames(model, base)
    # Update constants that depend on mass. MuJoCo does not update `meaninertia`.
    mujoco.mj_setConst(model, mujoco.MjData(model))
    model.stat.meaninertia = model.dof_M0.mean()


def _separate_frames(model: mujoco.MjModel, base: int) -> None:
    """Let the centre of mass move alone: MuJoCo skips frames that were the same."""
    model.body_sameframe[base] = 0
    model.body_simple[base] = 0
    model.geom_sameframe[model.geom_bodyid == base] = 0
    model.site_sameframe[model.site_bodyid == base] = 0


def _tilt_gravity(model: mujoco.MjModel, angle: float) -> None:
    """Turn gravity about y: this is the same as a floor that rises along x."""
    x, y, z = model.opt.gravity
    cosine, sine = math.cos(angle), math.sin(angle)
    model.opt.gravity[:] = cosine * x + sine * z, y, cosine * z - sine * x
