"""Conditions other than in the study: weak motors, ice, a load, a slope, a delay.

Poses, times and starts belong to the robot of the study. Conditions keep the robot's
shape, and so its starts, and change the physics.
"""

import math
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.config import NOMINAL
from kaccess.envs.rest import settle_standing
from kaccess.envs.task import Task
from kaccess.robots import Robot

__all__ = ["Conditions"]


_MAX_VALUE = 1000.0  # [-], limit of factors and friction, against typing errors
_MAX_SLOPE = 45.0  # [deg]
_MAX_DELAY = 1.0  # [s]
_MIN_HEIGHT = 0.8  # [-], of the nominal standing height; below, legs gave way
_MAX_TILT = math.radians(25)  # [rad], from the nominal standing attitude


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Differences from the physics of the study; by default none."""

    torque: float = 1.0
    """Factor on the torque limits of the actuators [-]."""
    friction: float | None = None
    """Sliding friction of every contact [-]; None keeps the model's."""
    mass: float = 1.0
    """Factor on mass and inertia of the body [-]; 1.5 adds a payload of half its mass.
    The body is everything that moves with the floating base."""
    slope: float = 0.0
    """Slope of the floor, which rises along x [deg]. Starts get random headings."""
    delay: float = 0.0
    """Delay of commands, a whole number of control periods [s]."""
    filter: float | None = None
    """Weight of the old joint targets in the new ones [-]; None keeps the task's, with
    0 there is no filter."""

    def __post_init__(self) -> None:
        for name in ("torque", "friction", "mass"):
            value = getattr(self, name)
            if value is not None and not 0 < value < _MAX_VALUE:
                raise InputError(
                    f"`{name}` must be positive and below {_MAX_VALUE:g}, got {value}."
                )
        if self.filter is not None and not 0 <= self.filter < 1:
            raise InputError(f"`filter` must lie in [0, 1), got {self.filter}.")
        limits = {"slope": (_MAX_SLOPE, "deg"), "delay": (_MAX_DELAY, "s")}
        for name, (limit, unit) in limits.items():
            if not 0 <= getattr(self, name) <= limit:
                raise InputError(
                    f"`{name}` must lie in [0, {limit:g}] {unit}, got "
                    f"{getattr(self, name)}."
                )

    @property
    def text(self) -> str:
        """The conditions as text, such as `torque=0.6,delay=0.04`; empty if nominal."""
        values = {field: getattr(self, field.name) for field in fields(self)}
        return ",".join(
            f"{field.name}={repr(float(value)).removesuffix('.0')}"
            for field, value in values.items()
            if value != field.default
        )

    @classmethod
    def parse(cls, text: str) -> "Conditions":
        """Return the conditions in a text; both `nominal` and "" mean no difference."""
        values: dict[str, float] = {}
        parts = [] if text.strip() in ("", NOMINAL) else text.split(",")
        for part in parts:
            name, _, number = (each.strip() for each in part.partition("="))
            _check_name(name, text)
            if name in values:
                raise InputError(
                    f"Condition {name!r} must appear once, got it twice in {text!r}."
                )
            values[name] = _parse_number(name, number)
        return cls(**values)

    @classmethod
    def of(cls, conditions: "Conditions | str | None") -> "Conditions":
        """Return the conditions given, those in a text, or nominal ones for None."""
        if isinstance(conditions, Conditions):
            return conditions
        return cls.parse(conditions or "")

    def apply_to(self, robot: Robot) -> Robot:
        """Return the robot under these conditions; its shape stays the same.

        Raises:
            InputError: If a torque limit is missing, or the robot can no longer stand.
        """
        if replace(self, delay=0.0, filter=None) == Conditions():
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
        name = f"{robot.name} under {self.text}"
        changed = replace(robot, name=name, model=model, known_stance=robot.stance)
        _check_standing(robot, changed)
        return changed

    def adapt(self, task: Task) -> Task:
        """Return a task under these conditions: with their filter of joint targets."""
        return task if self.filter is None else replace(task, low_pass=self.filter)

    def count_delay_steps(self, control_rate: float) -> int:
        """Return the delay of commands in control steps, at a control rate [Hz]."""
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
        f"Unknown condition {name!r} in {text!r}: must be one of "
        f"{', '.join(known)}.{hint} Write conditions like torque=0.6,delay=0.04."
    )


def _parse_number(name: str, number: str) -> float:
    try:
        return float(number)
    except ValueError:
        raise InputError(
            f"`{name}` must be a number, got {number!r}. Write it like torque=0.6."
        ) from None


def _scale_torque(robot: Robot, model: mujoco.MjModel, factor: float) -> None:
    """Scale the torque limits of actuators, and those of their joints."""
    joints = model.actuator_trnid[:, 0]
    limited = model.actuator_forcelimited | model.jnt_actfrclimited[joints]
    if not limited.all():
        joint = robot.joint_names[int(np.argmin(limited))]
        raise InputError(
            f"`torque` scales the torque limits of {robot.name}, but the actuator of "
            f"joint {joint!r} has none. Add a `forcerange` to it in the model."
        )
    model.actuator_forcerange *= factor
    model.jnt_actfrcrange *= factor


def _scale_mass(model: mujoco.MjModel, factor: float) -> None:
    body = model.body_weldid == model.jnt_bodyid[0]
    model.body_mass[body] *= factor
    model.body_inertia[body] *= factor
    # Update constants that depend on mass. MuJoCo does not update `meaninertia`.
    mujoco.mj_setConst(model, mujoco.MjData(model))
    model.stat.meaninertia = model.dof_M0.mean()


def _tilt_gravity(model: mujoco.MjModel, angle: float) -> None:
    """Turn gravity about y: this is the same as a floor that rises along x."""
    x, y, z = model.opt.gravity
    cosine, sine = math.cos(angle), math.sin(angle)
    model.opt.gravity[:] = cosine * x + sine * z, y, cosine * z - sine * x


def _check_standing(nominal: Robot, changed: Robot) -> None:
    """Raise `InputError` if a robot no longer stands under its conditions."""
    before, now = settle_standing(nominal), settle_standing(changed)
    if before is None:
        return  # it never stood: `RobotsBatch` raises an error of its own
    if (
        now is None
        or now.height < _MIN_HEIGHT * before.height
        or now.z_axis @ before.z_axis < math.cos(_MAX_TILT)
    ):
        raise InputError(
            f"{changed.name} cannot hold its standing pose: it slides, tips over or "
            "gives way. Make the conditions milder."
        )
