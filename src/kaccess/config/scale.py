"""Numbers that grow with a robot: each is given for Bittle, and scaled to other robots.

Two robots move alike if lengths are in units of standing height L, times of sqrt(L/g),
angular speeds of sqrt(g/L) and torques of m g L (dynamic similarity). So a number that
is right for Bittle is right for another robot once it is scaled by its unit.
"""

from dataclasses import dataclass, fields, is_dataclass, replace
from math import floor, log10, sqrt
from typing import Any, TypeVar

__all__ = ["ForBittle", "Scale"]

Value = TypeVar("Value")

_N_JOINTS, _N_FEET = 8, 4  # Bittle's
_DIGITS = 3  # of scaled numbers: more would only differ from machine to machine


class ForBittle(float):
    """A number that is right for Bittle, with the unit by which it scales.

    Args:
        value: Value for Bittle.
        unit: Its unit, one of those that `Scale` knows.
    """

    unit: str

    def __new__(cls, value: float, unit: str) -> "ForBittle":
        """Return the number."""
        number = super().__new__(cls, value)
        number.unit = unit
        return number

    def __getnewargs__(self) -> tuple[float, str]:  # type: ignore[override]
        """Return what a copy is made from."""
        return float(self), self.unit


@dataclass(frozen=True)
class Scale:
    """How large a robot is, compared with Bittle.

    Args:
        length: Height of its centre of mass in the standing pose, over Bittle's.
        mass: Its mass over Bittle's.
        n_joints: Number of its actuated joints.
        n_feet: Number of its feet.
    """

    length: float = 1.0
    mass: float = 1.0
    n_joints: int = _N_JOINTS
    n_feet: int = _N_FEET

    def fit(self, value: Value) -> Value:
        """Return a number, or settings with numbers, scaled to the robot.

        Only numbers `ForBittle` are scaled: what a user has set stays as it is.
        """
        if isinstance(value, ForBittle):
            return round_to_digits(value * self._factor(value.unit))  # type: ignore[return-value]
        if isinstance(value, tuple):
            return self._fit_tuple(value)  # type: ignore[return-value]
        if is_dataclass(value) and not isinstance(value, type):
            each: Any = value
            old = {field.name: getattr(each, field.name) for field in fields(each)}
            new = {name: self.fit(number) for name, number in old.items()}
            return replace(each, **new)  # type: ignore[no-any-return]
        return value

    def _fit_tuple(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        new = map(self.fit, values)
        is_named = hasattr(values, "_fields")
        return type(values)(*new) if is_named else tuple(new)

    def _factor(self, unit: str) -> float:
        """Return the factor on numbers of a unit; 1 for Bittle."""
        length, torque = self.length, self.mass * self.length
        per_joint = _N_JOINTS / self.n_joints
        per_foot = _N_FEET / max(self.n_feet, 1)
        return {
            "m": length,
            "s": sqrt(length),
            "m/s": sqrt(length),
            "rad/s": 1 / sqrt(length),
            "1/m^2": 1 / length**2,
            "s^2/rad^2": length,
            # Of a norm over all joints or feet, which grows with their number:
            "rad over joints": sqrt(1 / per_joint),
            "1/rad^2 over joints": per_joint,
            "s^2/rad^2 over joints": length * per_joint,
            "1/(N m)^2 over joints": per_joint / torque**2,
            "1/m^2 over feet": per_foot / length**2,
            "1 per foot": per_foot,
        }[unit]


def round_to_digits(value: float, digits: int = _DIGITS) -> float:
    """Return a number rounded to some significant digits."""
    if value == 0:
        return 0.0
    return round(float(value), digits - 1 - floor(log10(abs(value))))
