"""Properties of a robot, read from its compiled MuJoCo model.

A robot is a model with one floating base and a servo (a position actuator) on each of
its actuated joints. All stages read timestep, gains, torque limits, friction and joint
ranges from the model, so they always use the same values.
"""

import hashlib
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import TEST_SECONDS, RobotConfig, Scale
from kaccess.config.scale import round_to_digits
from kaccess.robots.contacts import (
    find_collision_margins,
    find_floor,
    find_ground,
    find_limbs,
    find_movable,
    is_collider,
)
from kaccess.robots.servos import is_servo
from kaccess.robots.stance import (
    Stance,
    find_stance,
    measure_standing,
    reference_key,
)

__all__ = ["Robot"]

# Prefixes of arrays of MjModel that do not affect motion: names, colours, sensors.
_NO_PHYSICS = ("cam_", "key_", "light_", "mat_", "name", "sensor_", "skin_", "tex_")
# Bittle in its standing pose: height of its centre of mass [m], and its mass [kg].
_BITTLE_HEIGHT, _BITTLE_MASS = 0.0785, 0.2735
_FULL_TURN = 2 * np.pi  # [rad]
_LEAST_HEIGHT = 1e-3  # [m], of a centre of mass, against models without geoms


@dataclass(frozen=True, eq=False)
class Robot:
    """A robot and its ground.

    Args:
        name: Name in the registry, or of the model.
        model: Compiled model, including the ground.
        drop_height: Height of the base at the start of a drop; high enough not to touch
            the ground in any orientation [m].
        source: What `load_robot` loads it from: name in the registry, or path.
        config: What the user has set about the model.
        notes: What was changed or found when it was loaded, one sentence each.
        known_stance: How it stands, if that is known already; else it is found.
    """

    name: str
    model: mujoco.MjModel
    drop_height: float
    source: str = ""
    config: RobotConfig = field(default_factory=RobotConfig)
    notes: tuple[str, ...] = ()
    known_stance: Stance | None = None

    def __post_init__(self) -> None:
        _check_floating_base(self)
        _check_actuators(self)
        _check_ranges(self)
        _check_ground(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Robot":
        """Return the robot itself: it never changes, and Gymnasium copies arguments."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs to have the same robot."""
        state = {each.name: self.__dict__[each.name] for each in fields(self)}
        return state | {"known_stance": self.__dict__.get("stance", self.known_stance)}

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
        """(nu, 2) lowest and highest target of each joint [rad].

        It is a full turn at most: about 0 if a joint is unlimited, about the joint
        position of the keyframe if its range is wider.
        """
        model, joints = self.model, self.model.actuator_trnid[:, 0]
        free = np.full((model.nu, 2), [-np.pi, np.pi])
        joint = np.where(model.jnt_limited[joints, None], model.jnt_range[joints], free)
        wide = (np.ptp(joint, axis=1) > _FULL_TURN) & self._turns_round
        middle = self._reference_qpos[self.joint_adr][wide]
        joint[wide, 0] = np.maximum(joint[wide, 0], middle - np.pi)
        joint[wide, 1] = np.minimum(joint[wide, 1], middle + np.pi)
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
    def stance(self) -> Stance:
        """How the robot stands; looked for when first asked for."""
        return self.known_stance or find_stance(self)

    @property
    def standing(self) -> Array:
        """(nq,) standing state."""
        return self.stance.qpos.copy()

    @property
    def standing_targets(self) -> Array:
        """(nu,) joint targets that hold the standing state [rad]."""
        return self.stance.targets.copy()

    @cached_property
    def scale(self) -> Scale:
        """How large the robot is, compared with Bittle."""
        n_feet = len(np.unique(find_limbs(self.model, np.array(self.feet, int))))
        return self._make_scale(self.stance.qpos, n_feet)

    @property
    def test_seconds(self) -> float:
        """Time that it has to get up in each test [s]."""
        return self.config.test_time or self.scale.fit(TEST_SECONDS)

    @cached_property
    def rough_scale(self) -> Scale:
        """The same, before it is known how the robot stands."""
        return self._make_scale(self._reference_qpos, Scale().n_feet)

    def _make_scale(self, qpos: Array, n_feet: int) -> Scale:
        height = max(measure_standing(self, qpos), _LEAST_HEIGHT)
        mass = mujoco.mj_getTotalmass(self.model)
        return Scale(
            length=round_to_digits(height / _BITTLE_HEIGHT),
            mass=round_to_digits(mass / _BITTLE_MASS),
            n_joints=self.model.nu,
            n_feet=n_feet,
        )

    @cached_property
    def _reference_qpos(self) -> Array:
        """State from which the standing pose is looked for."""
        key = reference_key(self)
        return np.array(self.model.qpos0 if key is None else self.model.key_qpos[key])

    @cached_property
    def feet(self) -> tuple[int, ...]:
        """Geoms of the feet: those given, else those that touch the floor standing."""
        return self.stance.feet if self.given_feet is None else self.given_feet

    @cached_property
    def given_feet(self) -> tuple[int, ...] | None:
        """Geoms of the feet that the user has named, or of bodies; None if none."""
        if not self.config.feet:
            return None
        return tuple(
            geom for name in self.config.feet for geom in _find_geoms(self, name)
        )

    @cached_property
    def ground_geoms(self) -> IntArray:
        """Geoms of the robot that can touch the floor, ascending."""
        floor = find_floor(self.model)
        if floor is None:
            return np.flatnonzero(self._is_robot_geom)
        return np.flatnonzero(find_collision_margins(self.model, floor) >= 0)

    def get_joints(self, qpos: Array) -> Array:
        """Return the positions of the actuated joints, (n, nu), in states (n, nq)."""
        return qpos[:, self.joint_adr]

    def subtract_joints(self, joints: Array, others: Array) -> Array:
        """Return differences of joint positions, (n, nu); full turns do not count."""
        difference = joints - others
        turns = self._turns_round
        if turns.any():
            whole = np.round(difference[:, turns] / _FULL_TURN)
            difference[:, turns] -= _FULL_TURN * whole
        return np.asarray(difference)

    @cached_property
    def _turns_round(self) -> BoolArray:
        """(nu,) whether a joint can turn all the way round."""
        model, joints = self.model, self.model.actuator_trnid[:, 0]
        width = np.ptp(model.jnt_range[joints], axis=1)
        free = (model.jnt_limited[joints] == 0) | (width >= _FULL_TURN)
        return np.asarray(
            free & (model.jnt_type[joints] == mujoco.mjtJoint.mjJNT_HINGE)
        )

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
        return np.asarray(find_movable(self.model) & is_collider(self.model))

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
        fields = {"standing": self._reference_qpos, **_describe_choices(self.config)}
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


def _describe_choices(config: RobotConfig) -> dict[str, np.ndarray]:
    """Return what the user has set about the goal, for the fingerprint."""
    choices = {}
    if config.feet:
        choices["feet"] = np.frombuffer("\n".join(config.feet).encode(), np.uint8)
    if config.test_time:
        choices["test_time"] = np.array(config.test_time)
    return choices


def _find_geoms(robot: Robot, name: str) -> list[int]:
    """Return the geoms of a foot: the geom with that name, or those of the body."""
    model = robot.model
    geoms = robot.ground_geoms
    found = [
        int(geom)
        for geom in geoms
        if name in (model.geom(geom).name, model.body(model.geom_bodyid[geom]).name)
    ]
    if not found:
        known = ", ".join(robot.parts)
        raise InputError(
            f"{robot.name} has no geom or body {name!r} that can touch the floor, to "
            f"be a foot. It has: {known}."
        )
    return found


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
    is_position = is_servo(model)
    if not is_position.all():
        first = int(np.argmin(is_position))
        name = model.actuator(first).name or f"number {first}"
        raise InputError(
            f"{robot.name} must have position actuators only (each on a hinge or "
            f"slide, gear 1, no time constant), but {np.sum(~is_position)} of "
            f"{model.nu} are of another kind, the first {name!r}. Replace them with "
            "<position joint=... kp=.../>."
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
    if not len(find_ground(robot.model)):
        raise InputError(
            f"{robot.name} has no ground. Add <geom type='plane' size='0 0 .05'/> to "
            "its worldbody, or give a scene file that contains robot and ground."
        )
