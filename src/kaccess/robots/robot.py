"""Properties of a robot, read from its compiled MuJoCo model.

A robot is a model with one floating base and position actuators on its joints. All
stages read timestep, gains, torque limits, friction and joint ranges from the model, so
they always use the same values.
"""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray

__all__ = ["Robot"]

# Prefixes of arrays of MjModel that do not affect motion: names, colours, sensors.
_NO_PHYSICS = ("cam_", "key_", "light_", "mat_", "name", "sensor_", "skin_", "tex_")
_STANDING_KEYS = ("stand", "standing", "home")
_SCALAR_JOINTS = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot and its ground.

    Args:
        name: Name in the registry, or path of the MJCF file.
        model: Compiled model, including the ground.
        drop_height: Height of the base at the start of a drop; high enough not to touch
            the ground in any orientation [m].
    """

    name: str
    model: mujoco.MjModel
    drop_height: float

    def __post_init__(self) -> None:
        _check_floating_base(self)
        _check_actuators(self)
        _check_ranges(self)
        _check_ground(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Robot":
        """Return the robot itself: it never changes, and Gymnasium copies arguments."""
        return self

    @property
    def timestep(self) -> float:
        """Physics step [s]."""
        return float(self.model.opt.timestep)

    @cached_property
    def joint_adr(self) -> IntArray:
        """(nu,) address in qpos of the joint of each actuator."""
        return np.asarray(self.model.jnt_qposadr[self.model.actuator_trnid[:, 0]])

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Name of the joint of each actuator."""
        joints = self.model.actuator_trnid[:, 0]
        return tuple(self.model.joint(int(joint)).name for joint in joints)

    @cached_property
    def joint_range(self) -> Array:
        """(nu, 2) lowest and highest target of each joint [rad]; +-pi if unlimited."""
        model, joints = self.model, self.model.actuator_trnid[:, 0]
        free = np.full((model.nu, 2), [-np.pi, np.pi])
        joint = np.where(model.jnt_limited[joints, None], model.jnt_range[joints], free)
        limited = model.actuator_ctrllimited[:, None]
        ctrl = np.where(limited, model.actuator_ctrlrange, joint)
        return np.stack(
            [np.maximum(joint, ctrl)[:, 0], np.minimum(joint, ctrl)[:, 1]], axis=1
        )

    @cached_property
    def keyframes(self) -> dict[str, Any]:
        """Named keyframes, with their `qpos` and `ctrl`."""
        keys = [self.model.key(key) for key in range(self.model.nkey)]
        return {key.name: key for key in keys if key.name}

    @cached_property
    def standing(self) -> Array:
        """(nq,) standing state: keyframe `stand`, `standing` or `home`, else qpos0."""
        for name in _STANDING_KEYS:
            if name in self.keyframes:
                return np.array(self.keyframes[name].qpos)
        return np.array(self.model.qpos0)

    def get_joints(self, qpos: Array) -> Array:
        """Return the positions of the actuated joints, (n, nu), in states (n, nq)."""
        return qpos[:, self.joint_adr]

    def to_actions(self, joints: Array) -> Array:
        """Return joint positions as actions: -1 to 1 over the range of each joint."""
        low, high = self.joint_range.T
        return np.asarray((2 * joints - low - high) / (high - low))

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Names of parts that can touch the ground: of the geom, else of its body."""
        return tuple(dict.fromkeys(self._part_of_geom[self._is_robot_geom]))

    @cached_property
    def _part_of_geom(self) -> np.ndarray:
        geoms = [self.model.geom(geom) for geom in range(self.model.ngeom)]
        bodies = [self.model.body(geom.bodyid[0]) for geom in geoms]
        return np.array(
            [
                geom.name or body.name or f"body {body.id}"
                for geom, body in zip(geoms, bodies, strict=True)
            ]
        )

    @cached_property
    def _is_robot_geom(self) -> BoolArray:
        """(ngeom,) whether a geom belongs to the robot and can collide."""
        model = self.model
        moves = model.body_rootid[model.geom_bodyid] == model.jnt_bodyid[0]
        collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
        return np.asarray(moves & collides)

    def find_contacts(self, qpos: Array) -> tuple[BoolArray, BoolArray]:
        """Return the contacts in the states `qpos`, (n, nq).

        Returns:
            `(ground, itself)`: (n, n_parts) whether a part touches the ground, and (n,)
            whether parts of the robot touch each other.
        """
        ground = np.zeros((len(qpos), len(self.parts)), bool)
        itself = np.zeros(len(qpos), bool)
        data = mujoco.MjData(self.model)
        column = {part: index for index, part in enumerate(self.parts)}
        for row, state in enumerate(qpos):
            data.qpos[:] = state
            mujoco.mj_fwdPosition(self.model, data)
            geoms = data.contact.geom
            own = self._is_robot_geom[geoms]
            itself[row] = own.all(axis=1).any()
            touching = geoms[own & ~own[:, ::-1]]
            ground[row, [column[part] for part in self._part_of_geom[touching]]] = True
        return ground, itself

    @cached_property
    def fingerprint(self) -> str:
        """Hash of all model data that affects a simulation or its goal."""
        fields = {"standing": self.standing}
        for name in dir(self.model):
            value = getattr(self.model, name)
            ignored = name.startswith(("_", *_NO_PHYSICS)) or name.endswith("rgba")
            if isinstance(value, np.ndarray) and not ignored:
                fields[name] = _forget_paths(name, value)
        for name in dir(self.model.opt):
            value = getattr(self.model.opt, name)
            if isinstance(value, np.ndarray | int | float):
                fields[f"opt.{name}"] = np.asarray(value)
        digest = hashlib.sha256()
        for name in sorted(fields):
            digest.update(f"{name} {fields[name].shape} ".encode())
            digest.update(fields[name].tobytes())
        return digest.hexdigest()


def _forget_paths(name: str, value: np.ndarray) -> np.ndarray:
    """Return a field of a model without traces of where its files are.

    Fields such as `mesh_pathadr` are offsets into the text of all file paths, so they
    change with the lengths of the paths; -1 means that there is no file.
    """
    return np.minimum(value, 0) if name.endswith("_pathadr") else value


def _check_floating_base(robot: Robot) -> None:
    types = robot.model.jnt_type
    free = np.flatnonzero(types == mujoco.mjtJoint.mjJNT_FREE)
    if len(free) != 1:
        raise InputError(
            f"{robot.name} must have one free joint (its floating base), but has "
            f"{len(free)} free joints. Give its root body a <freejoint/>, and remove "
            "loose objects."
        )
    if free[0] != 0:
        raise InputError(
            f"The free joint of {robot.name} must be its first joint, but is joint "
            f"{free[0]}. Move the robot to the top of the worldbody."
        )


def _check_actuators(robot: Robot) -> None:
    model = robot.model
    if model.nu == 0:
        raise InputError(
            f"{robot.name} has no position actuators, but transitions need joint "
            "targets. Add <actuator><position joint=... kp=.../></actuator>."
        )
    is_position = _is_position_actuator(model)
    if not is_position.all():
        first = int(np.argmin(is_position))
        name = model.actuator(first).name or f"number {first}"
        raise InputError(
            f"{robot.name} must have position actuators only (each on a hinge or "
            f"slide, gear 1, no time constant), but {np.sum(~is_position)} of "
            f"{model.nu} are of another kind, the first {name!r}. Replace them with "
            "<position joint=... kp=.../>."
        )


def _is_position_actuator(model: mujoco.MjModel) -> BoolArray:
    """Return whether each actuator is a plain position actuator, (nu,)."""
    joints = np.maximum(model.actuator_trnid[:, 0], 0)
    return np.asarray(
        (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT)
        & np.isin(model.jnt_type[joints], _SCALAR_JOINTS)
        & (model.actuator_dyntype == mujoco.mjtDyn.mjDYN_NONE)
        & (model.actuator_gear[:, 0] == 1.0)
        & (model.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED)
        & (model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE)
        & (model.actuator_gainprm[:, 0] > 0)
        & (model.actuator_biasprm[:, 1] == -model.actuator_gainprm[:, 0])
    )


def _check_ranges(robot: Robot) -> None:
    low, high = robot.joint_range.T
    if not (low < high).all():
        name = robot.joint_names[int(np.argmin(low < high))]
        raise InputError(
            f"{robot.name}: the control range of joint {name!r} does not overlap its "
            "joint range. Make `ctrlrange` and `range` agree, or use `inheritrange`."
        )


def _check_ground(robot: Robot) -> None:
    is_ground = robot.model.geom_bodyid == 0
    collides = (robot.model.geom_contype != 0) | (robot.model.geom_conaffinity != 0)
    if not (is_ground & collides).any():
        raise InputError(
            f"{robot.name} has no ground. Add <geom type='plane' size='0 0 .05'/> to "
            "its worldbody, or give a scene file that contains robot and ground."
        )
