"""What the science needs to know of a robot, read off its compiled MuJoCo model.

A robot is a model with one floating base, whose joints are driven by position
actuators. Timestep, gains, torque limits, friction and joint ranges are the model's:
every stage reads them here and cannot drift apart from the others.
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

# Arrays of MjModel that name, show or sense things but move nothing.
_NO_PHYSICS = ("cam_", "key_", "light_", "mat_", "name", "sensor_", "skin_", "tex_")
_STANDING_KEYS = ("stand", "standing", "home")
_SCALAR_JOINTS = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


@dataclass(frozen=True, eq=False)
class Robot:
    """One robot on its ground.

    Args:
        name: Its name in the registry, or the path of its MJCF file.
        model: The compiled model, ground included.
        drop_height: Height of the base at which any attitude clears the ground [m].
    """

    name: str
    model: mujoco.MjModel
    drop_height: float

    def __post_init__(self) -> None:
        _check_floating_base(self)
        _check_position_actuators(self)
        _check_ground(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Robot":
        """Return itself, for it never changes. Gymnasium copies what it is given."""
        return self

    @property
    def timestep(self) -> float:
        """Physics step [s]."""
        return float(self.model.opt.timestep)

    @cached_property
    def joint_adr(self) -> IntArray:
        """Address in qpos of the joint of each actuator, (nu,)."""
        return np.asarray(self.model.jnt_qposadr[self.model.actuator_trnid[:, 0]])

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Name of the joint of each actuator."""
        joints = self.model.actuator_trnid[:, 0]
        return tuple(self.model.joint(int(joint)).name for joint in joints)

    @cached_property
    def joint_range(self) -> Array:
        """Lowest and highest target of each joint, (nu, 2) [rad]; +-pi if unlimited."""
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
        """State in which it stands, (nq,): the keyframe of that name, or qpos0."""
        for name in _STANDING_KEYS:
            if name in self.keyframes:
                return np.array(self.keyframes[name].qpos)
        return np.array(self.model.qpos0)

    def get_joints(self, qpos: Array) -> Array:
        """Return the actuated joint positions, (n, nu), of states (n, nq)."""
        return qpos[:, self.joint_adr]

    def to_actions(self, joints: Array) -> Array:
        """Return the actions, -1 to 1 over each range, that command joint positions."""
        low, high = self.joint_range.T
        return np.asarray((2 * joints - low - high) / (high - low))

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """Names of what can touch the ground: a geom's, or else its body's."""
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
        """Whether a geom moves with the base and can collide, (ngeom,)."""
        model = self.model
        moves = model.body_rootid[model.geom_bodyid] == model.jnt_bodyid[0]
        collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
        return np.asarray(moves & collides)

    def find_contacts(self, qpos: Array) -> tuple[BoolArray, BoolArray]:
        """Return what touches what in the states `qpos`, (n, nq).

        Returns:
            `(ground, itself)`: (n, n_parts), whether a part touches the ground; (n,),
            whether parts of the robot touch one another.
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
        """Hash of everything in the model that can change a simulation or its goal."""
        fields = {"standing": self.standing}
        for name in dir(self.model):
            value = getattr(self.model, name)
            shown = name.startswith(("_", *_NO_PHYSICS)) or name.endswith("rgba")
            if isinstance(value, np.ndarray) and not shown:
                fields[name] = value
        for name in dir(self.model.opt):
            value = getattr(self.model.opt, name)
            if isinstance(value, np.ndarray | int | float):
                fields[f"opt.{name}"] = np.asarray(value)
        digest = hashlib.sha256()
        for name in sorted(fields):
            digest.update(f"{name} {fields[name].shape} ".encode())
            digest.update(fields[name].tobytes())
        return digest.hexdigest()


def _check_floating_base(robot: Robot) -> None:
    types = robot.model.jnt_type
    free = np.flatnonzero(types == mujoco.mjtJoint.mjJNT_FREE)
    if len(free) != 1 or free[0] != 0:
        found = f"{len(free)} free joints" if len(free) != 1 else "it further down"
        raise InputError(
            f"{robot.name} must have one free joint, the first of its joints (its "
            f"floating base), but has {found}. Give its root body a <freejoint/> and "
            "take loose objects out."
        )


def _check_position_actuators(robot: Robot) -> None:
    model = robot.model
    if model.nu == 0:
        raise InputError(
            f"{robot.name} has no position actuators: transitions are moves to joint "
            "targets. Add <actuator><position joint=... kp=.../></actuator>."
        )
    joints = np.maximum(model.actuator_trnid[:, 0], 0)
    is_position = (
        (model.actuator_trntype == mujoco.mjtTrn.mjTRN_JOINT)
        & np.isin(model.jnt_type[joints], _SCALAR_JOINTS)
        & (model.actuator_dyntype == mujoco.mjtDyn.mjDYN_NONE)
        & (model.actuator_gear[:, 0] == 1.0)
        & (model.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED)
        & (model.actuator_biastype == mujoco.mjtBias.mjBIAS_AFFINE)
        & (model.actuator_gainprm[:, 0] > 0)
        & (model.actuator_biasprm[:, 1] == -model.actuator_gainprm[:, 0])
    )
    if not is_position.all():
        first = int(np.argmin(is_position))
        name = model.actuator(first).name or f"number {first}"
        raise InputError(
            f"{robot.name} must have position actuators only (each on a hinge or "
            f"slide, gear 1, no time constant), but {np.sum(~is_position)} of "
            f"{model.nu} are of another kind, the first {name!r}. Replace them with "
            "<position joint=... kp=.../>."
        )
    low, high = robot.joint_range.T
    if not (low < high).all():
        name = robot.joint_names[int(np.argmin(low < high))]
        raise InputError(
            f"{robot.name}: the control range of joint {name!r} does not overlap its "
            "joint range. Make `ctrlrange` and `range` agree, or use inheritrange."
        )


def _check_ground(robot: Robot) -> None:
    is_ground = robot.model.geom_bodyid == 0
    collides = (robot.model.geom_contype != 0) | (robot.model.geom_conaffinity != 0)
    if not (is_ground & collides).any():
        raise InputError(
            f"{robot.name} has no ground to lie on. Add <geom type='plane' "
            "size='0 0 .05'/> to its worldbody, or give a scene file that includes it."
        )
