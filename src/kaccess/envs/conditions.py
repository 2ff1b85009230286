"""Conditions other than in the study: weak motors, ice, a load, a slope, latency.

Poses, times and starts belong to the robot of the study. Conditions keep the robot's
shape, and so its starts, and change its physics, its commands or its sensors. With
`randomize`, each robot draws conditions of its own in each episode.
"""

import math
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, get_args

from kaccess.base.errors import InputError
from kaccess.config import NOMINAL, ObserveName
from kaccess.config.checks import check_choice
from kaccess.envs.changes import MODEL_VALUES, ModelValues, change_model
from kaccess.envs.rest import settle_standing
from kaccess.envs.task import Task
from kaccess.robots import Robot

__all__ = ["Conditions"]


_MIN_HEIGHT = 0.8  # [-], of the nominal standing height; below, legs gave way
_MAX_TILT = math.radians(25)  # [rad], from the nominal standing attitude

_MAX_VALUE = 1000.0  # [-], limit of factors and friction, against typing errors
_FACTORS = ("torque", "friction", "mass", "gain", "damping")
_SHARES = ("filter", "sag")
_RANGES = {  # least and largest value, and the unit
    "slope": (0.0, 45.0, "deg"),
    "delay": (0.0, 1.0, "s"),
    "comx": (-10.0, 10.0, "m"),
    "comy": (-10.0, 10.0, "m"),
    "comz": (-10.0, 10.0, "m"),
    "latency": (0.0, 1.0, "s"),
    "jitter": (0.0, 1.0, "s"),
    "offset": (0.0, 45.0, "deg"),
    "backlash": (0.0, 45.0, "deg"),
    "rounding": (0.0, 45.0, "deg"),
    "noise": (0.0, 100.0, "times Bittle's"),
    "bias": (0.0, 45.0, "deg"),
    "drift": (0.0, 1000.0, "deg/s"),
}
_WIRE = ("latency", "jitter", "offset", "backlash", "sag", "rounding")
_SENSE = ("offset", "noise", "bias", "drift")


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
    """Delay of commands, a whole number of control periods [s]. Policies observe the
    commands that are on their way."""
    filter: float | None = None
    """Weight of the old joint targets in the new ones [-]; None keeps the task's, with
    0 there is no filter."""
    gain: float = 1.0
    """Factor on the position gains of the actuators [-]."""
    damping: float = 1.0
    """Factor on their velocity gains and on the damping of joints [-]."""
    comx: float = 0.0
    """Shift of the body's centre of mass forwards [m]."""
    comy: float = 0.0
    """The same to the left [m]."""
    comz: float = 0.0
    """The same upwards [m]."""
    latency: float = 0.0
    """Time until a command reaches the motors [s], on a grid of a quarter of a control
    period. Unlike `delay`, policies do not see what is on its way."""
    jitter: float = 0.0
    """Largest difference of a command's latency from the mean, drawn anew for each [s].
    A command that a later one has overtaken is dropped."""
    offset: float = 0.0
    """Largest offset of a joint's zero, drawn for each joint [deg]. Both the motor and
    the reported joint position have it."""
    backlash: float = 0.0
    """Play of the gears [deg]: a joint that turns back first crosses it."""
    rounding: float = 0.0
    """Commands are rounded to multiples of this [deg]."""
    sag: float = 0.0
    """Share of torque and speed that is lost with all motors at full load, because the
    battery's voltage falls [-]."""
    noise: float = 0.0
    """Noise of all sensors, as a multiple of Bittle's (`config.SensorNoise`) [-]."""
    bias: float = 0.0
    """Tilt of the IMU on the body, about a random horizontal axis [deg]."""
    drift: float = 0.0
    """Angular rate that the gyroscope shows at rest, about a random axis [deg/s]."""
    randomize: float = 0
    """1: draw all conditions that are not given, except `delay` and `filter`, for each
    robot and episode, from `config.Ranges`."""
    observe: ObserveName = "joints"
    """What policies observe: joints (gravity, angular velocity, joint positions), imu
    (no joint positions, but the last commands), history (both, of four steps)."""

    def __post_init__(self) -> None:
        for name in _FACTORS:
            value = getattr(self, name)
            if value is not None and not 0 < value < _MAX_VALUE:
                raise InputError(
                    f"`{name}` must be positive and below {_MAX_VALUE:g}, got {value}."
                )
        for name in _SHARES:
            value = getattr(self, name)
            if value is not None and not 0 <= value < 1:
                raise InputError(f"`{name}` must lie in [0, 1), got {value}.")
        for name, (least, most, unit) in _RANGES.items():
            if not least <= getattr(self, name) <= most:
                raise InputError(
                    f"`{name}` must lie in [{least:g}, {most:g}] {unit}, got "
                    f"{getattr(self, name)}."
                )
        if self.randomize not in (0, 1):
            raise InputError(f"`randomize` must be 0 or 1, got {self.randomize}.")
        check_choice(observe=(self.observe, get_args(ObserveName)))

    @property
    def given(self) -> frozenset[str]:
        """Names of the conditions that differ from the nominal ones."""
        each = fields(self)
        return frozenset(f.name for f in each if getattr(self, f.name) != f.default)

    @property
    def is_drawn(self) -> bool:
        """Whether robots differ, so that something is drawn in each episode."""
        return bool(self.randomize) or not self.given.isdisjoint({*_WIRE, *_SENSE})

    @property
    def is_sloped(self) -> bool:
        """Whether the floor may have a slope, so that headings matter."""
        return bool(self.slope or self.randomize)

    @property
    def text(self) -> str:
        """The conditions as text, such as `torque=0.6,delay=0.04`; empty if nominal."""
        values = {field: getattr(self, field.name) for field in fields(self)}
        return ",".join(
            f"{field.name}={_write(value)}"
            for field, value in values.items()
            if value != field.default
        )

    @classmethod
    def parse(cls, text: str) -> "Conditions":
        """Return the conditions in a text; both `nominal` and "" mean no difference."""
        values: dict[str, Any] = {}
        parts = [] if text.strip() in ("", NOMINAL) else text.split(",")
        for part in parts:
            name, _, number = (each.strip() for each in part.partition("="))
            _check_name(name, text)
            if name in values:
                raise InputError(
                    f"Condition {name!r} must appear once, got it twice in {text!r}."
                )
            values[name] = number if name == "observe" else _parse(name, number)
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
        if self.given.isdisjoint(MODEL_VALUES):
            return robot
        model = robot.model.__copy__()
        values = {name: getattr(self, name) for name in MODEL_VALUES}
        change_model(robot, model, ModelValues(**values))
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


def _write(value: float | str) -> str:
    """Return a value as text, a whole number without a point."""
    return value if isinstance(value, str) else repr(float(value)).removesuffix(".0")


def _parse(name: str, number: str) -> float:
    try:
        return float(number)
    except ValueError:
        raise InputError(
            f"`{name}` must be a number, got {number!r}. Write it like torque=0.6."
        ) from None


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
