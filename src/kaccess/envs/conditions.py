"""Conditions harder than those of a study: weak motors, ice, a load, a slope, delay.

Poses, times and starts belong to the robot of the study. Under conditions that robot
keeps its shape, and so its starts, but moves in a harsher world.
"""

import math
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.engines.mujoco import MujocoEngine
from kaccess.envs.ground import find_shapes
from kaccess.robots import Robot

__all__ = ["NOMINAL", "Conditions"]

NOMINAL = "nominal"  # in words: nothing differs from the study

_LARGEST = 1000.0  # of factors and friction [-]: beyond this something is mistyped
_STEEPEST = 45.0  # [deg]
_LATEST = 1.0  # [s]
_STANDING_TIME = 3.0  # [s], by which the standing pose must have settled
_LOWEST = 0.8  # of the nominal standing height [-]: lower, the robot has given way
_TIPPED = math.radians(25)  # [rad], from the standing attitude


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What differs from the world of a study; by default nothing."""

    torque: float = 1.0
    """Factor on the torque limits of the actuators [-]."""
    friction: float | None = None
    """Sliding friction of every contact [-]; None is what the model has."""
    mass: float = 1.0
    """Factor on the mass of the body, which is what moves with the floating base [-];
    1.5 is a payload of half of it. Its inertia grows alike."""
    slope: float = 0.0
    """Slope of the ground, which rises along x [deg]. Starts are turned at random."""
    delay: float = 0.0
    """Time by which commands come late, a whole number of control periods [s]."""

    def __post_init__(self) -> None:
        for name in ("torque", "friction", "mass"):
            value = getattr(self, name)
            if value is not None and not 0 < value < _LARGEST:
                raise InputError(
                    f"`{name}` must be positive and below {_LARGEST:g}, got {value}."
                )
        for name, most, unit in (("slope", _STEEPEST, "deg"), ("delay", _LATEST, "s")):
            if not 0 <= getattr(self, name) <= most:
                raise InputError(
                    f"`{name}` must lie in [0, {most:g}] {unit}, got "
                    f"{getattr(self, name)}."
                )

    @property
    def text(self) -> str:
        """The compact form, such as `torque=0.6,delay=0.04`; empty if nominal."""
        values = {field: getattr(self, field.name) for field in fields(self)}
        return ",".join(
            f"{field.name}={repr(float(value)).removesuffix('.0')}"
            for field, value in values.items()
            if value != field.default
        )

    @classmethod
    def parse(cls, text: str) -> "Conditions":
        """Return the conditions that `text` writes; `nominal` is nothing, in words."""
        values: dict[str, float] = {}
        parts = [] if text.strip() in ("", NOMINAL) else text.split(",")
        for part in parts:
            name, _, number = (each.strip() for each in part.partition("="))
            _check_name(name, text)
            if name in values:
                raise InputError(f"{text!r} names {name!r} twice.")
            values[name] = _parse_number(name, number)
        return cls(**values)

    @classmethod
    def of(cls, conditions: "Conditions | str | None") -> "Conditions":
        """Return conditions, given as such, as text, or not at all."""
        if isinstance(conditions, Conditions):
            return conditions
        return cls.parse(conditions or "")

    def applied_to(self, robot: Robot) -> Robot:
        """Return the robot under these conditions, its shape the same.

        Raises:
            InputError: If it has no torque limits, or cannot stand any more.
        """
        if replace(self, delay=0.0) == Conditions():
            return robot
        model = robot.model.__copy__()
        if self.torque != 1.0:
            _scale_torque(robot, model, self.torque)
        if self.friction is not None:
            model.geom_friction[:, 0] = self.friction
            model.pair_friction[:, :2] = self.friction
        if self.mass != 1.0:
            _scale_mass(model, self.mass)
        if self.slope:
            _tilt_gravity(model, math.radians(self.slope))
        changed = replace(robot, name=f"{robot.name} under {self.text}", model=model)
        _check_standing(robot, changed)
        return changed

    def n_late(self, control_rate: float) -> int:
        """Return by how many commands they come late."""
        n = self.delay * control_rate
        if abs(n - round(n)) > 1e-6:
            raise InputError(
                f"`delay` must be a whole number of control periods of "
                f"{1 / control_rate:g} s, got {self.delay:g} s."
            )
        return round(n)


def _check_name(name: str, text: str) -> None:
    known = [field.name for field in fields(Conditions)]
    if name in known:
        return
    close = get_close_matches(name, known, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InputError(
        f"Unknown condition {name!r} in {text!r}: none of {', '.join(known)}.{hint} "
        "Write it like torque=0.6,delay=0.04."
    )


def _parse_number(name: str, number: str) -> float:
    try:
        return float(number)
    except ValueError:
        raise InputError(
            f"`{name}` must be a number, got {number!r}. Write it like torque=0.6."
        ) from None


def _scale_torque(robot: Robot, model: mujoco.MjModel, factor: float) -> None:
    """Scale the limits of actuators, and those that joints set to them."""
    joints = model.actuator_trnid[:, 0]
    limited = model.actuator_forcelimited | model.jnt_actfrclimited[joints]
    if not limited.all():
        joint = robot.joint_names[int(np.argmin(limited))]
        raise InputError(
            f"`torque` scales the torque limits of {robot.name}, but the actuator of "
            f"joint {joint!r} has none. Give it a `forcerange` in its model."
        )
    model.actuator_forcerange *= factor
    model.jnt_actfrcrange *= factor


def _scale_mass(model: mujoco.MjModel, factor: float) -> None:
    body = model.body_weldid == model.jnt_bodyid[0]
    model.body_mass[body] *= factor
    model.body_inertia[body] *= factor
    # What the compiler derives from masses; the last it leaves to us.
    mujoco.mj_setConst(model, mujoco.MjData(model))
    model.stat.meaninertia = model.dof_M0.mean()


def _tilt_gravity(model: mujoco.MjModel, angle: float) -> None:
    """Turn gravity about y: for all on it, the floor then rises along x."""
    x, y, z = model.opt.gravity
    cosine, sine = math.cos(angle), math.sin(angle)
    model.opt.gravity[:] = cosine * x + sine * z, y, cosine * z - sine * x


def _check_standing(nominal: Robot, changed: Robot) -> None:
    """Raise `InputError` if a robot that stands does not under conditions."""
    before, now = _settle_standing(nominal), _settle_standing(changed)
    if before is None:
        return  # whoever needs it to stand will say so
    (old_height, old_axis), (height, axis) = before, now or (0.0, before[1])
    if height < _LOWEST * old_height or axis @ old_axis < math.cos(_TIPPED):
        raise InputError(
            f"{changed.name} cannot hold its standing pose: it slides, tips over or "
            "gives way. Make the conditions milder."
        )


def _settle_standing(robot: Robot) -> tuple[float, np.ndarray] | None:
    """Return height [m] and z axis, (3,), of the standing pose at rest, if it rests."""
    stand, shapes = robot.standing[None], find_shapes(robot)
    engine = MujocoEngine(robot, n_threads=1, n_slots=1)
    settled = engine.settle(stand, robot.get_joints(stand), time_limit=_STANDING_TIME)
    if not np.isfinite(settled.time[0]):
        return None
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, settled.qpos[0, 3:7])
    height = shapes.up @ (settled.qpos[0, :3] - shapes.floor)
    return float(height), rotation[2::3]
