"""Features of a MuJoCo model that PyBullet does not support."""

from collections.abc import Iterator

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import BoolArray

__all__ = ["GEOM_KINDS", "check_features", "is_solid"]

GEOM_KINDS = {
    mujoco.mjtGeom.mjGEOM_PLANE: "plane",
    mujoco.mjtGeom.mjGEOM_SPHERE: "sphere",
    mujoco.mjtGeom.mjGEOM_CAPSULE: "capsule",
    mujoco.mjtGeom.mjGEOM_CYLINDER: "cylinder",
    mujoco.mjtGeom.mjGEOM_BOX: "box",
    mujoco.mjtGeom.mjGEOM_ELLIPSOID: "hull",
    mujoco.mjtGeom.mjGEOM_MESH: "hull",
}
_PHYSICS_FLAGS = (
    mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
    | mujoco.mjtDisableBit.mjDSBL_LIMIT
    | mujoco.mjtDisableBit.mjDSBL_CONTACT
    | mujoco.mjtDisableBit.mjDSBL_SPRING
    | mujoco.mjtDisableBit.mjDSBL_DAMPER
    | mujoco.mjtDisableBit.mjDSBL_GRAVITY
    | mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL
    | mujoco.mjtDisableBit.mjDSBL_ACTUATION
)


def check_features(model: mujoco.MjModel, name: str) -> None:
    """Raise `InputError` for the first feature that PyBullet does not support."""
    for feature, remedy in _find_unsupported(model):
        raise InputError(
            f"{name} has {feature}, which the 'bullet' engine does not support. Either "
            f"{remedy}, or choose the 'mujoco' engine."
        )


def is_solid(model: mujoco.MjModel) -> BoolArray:
    """Return whether each geom can collide, (ngeom,)."""
    return np.asarray((model.geom_contype != 0) | (model.geom_conaffinity != 0))


def _find_unsupported(model: mujoco.MjModel) -> Iterator[tuple[str, str]]:
    """Yield each unsupported feature, and its remedy."""
    yield from _check_geoms(model)
    yield from _check_joints(model)
    yield from _check_elements(model)
    yield from _check_forces(model)


def _check_geoms(model: mujoco.MjModel) -> Iterator[tuple[str, str]]:
    for geom in np.flatnonzero(is_solid(model)).tolist():
        kind = mujoco.mjtGeom(int(model.geom_type[geom]))
        if kind not in GEOM_KINDS:
            what = kind.name.removeprefix("mjGEOM_").lower()
            label = model.geom(geom).name or f"number {geom}"
            yield f"the {what} geom {label!r}", "replace it with primitives or a mesh"


def _check_joints(model: mujoco.MjModel) -> Iterator[tuple[str, str]]:
    for joint in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_BALL).tolist():
        label = model.joint(joint).name or f"number {joint}"
        yield f"the ball joint {label!r}", "replace it with hinges"
    if model.dof_damping[:6].any() or model.dof_armature[:6].any():
        yield "damping or armature on its free joint", "write it as <freejoint/>"
    moves = model.body_weldid > 0
    if (model.body_rootid[moves] != model.jnt_bodyid[0]).any():
        yield "moving bodies beside the robot", "remove them"


def _check_elements(model: mujoco.MjModel) -> Iterator[tuple[str, str]]:
    counts = {
        "equality constraints": model.neq,
        "tendons": model.ntendon,
        "flexes": model.nflex,
        "explicit contact pairs": model.npair,
        "mocap bodies": model.nmocap,
        "plugins": model.nplugin,
    }
    for feature, count in counts.items():
        if count:
            yield feature, "remove them"


def _check_forces(model: mujoco.MjModel) -> Iterator[tuple[str, str]]:
    if model.opt.density or model.opt.viscosity or model.body_gravcomp.any():
        yield "fluid forces or gravity compensation", "set them to zero"
    nonlinear = (
        *(model.jnt_stiffnesspoly, model.dof_dampingpoly),
        *(model.actuator_damping, model.actuator_dampingpoly, model.actuator_delay),
    )
    if any(values.any() for values in nonlinear):
        yield (
            "polynomial springs or dampers, or actuators with damping or delay",
            "make them linear and immediate",
        )
    if model.opt.disableflags & _PHYSICS_FLAGS:
        yield "parts of the physics disabled in <option><flag>", "enable them"
