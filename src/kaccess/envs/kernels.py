"""What rewards are made of, compiled: the paper's kernel, and what standing means."""

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array
from kaccess.envs.readings import Readings

__all__ = [
    "count",
    "rbf",
    "square",
    "square_distance",
    "square_norm",
    "stands",
    "upright",
]


@compiled
def rbf(squared_error: float, alpha: float) -> float:
    """Return exp(alpha |x - y|^2), from the square: 1 on target, 0 far away."""
    return float(np.exp(alpha * squared_error))


@compiled
def square(x: float) -> float:
    """Return x^2."""
    return x * x


@compiled
def square_norm(x: Array) -> float:
    """Return |x|^2 of a vector."""
    total = 0.0
    for j in range(len(x)):
        total += x[j] * x[j]
    return total


@compiled
def square_distance(x: Array, y: Array) -> float:
    """Return |x - y|^2 of two vectors."""
    total = 0.0
    for j in range(len(x)):
        total += (x[j] - y[j]) * (x[j] - y[j])
    return total


@compiled
def upright(now: Readings, i: int, tilt: float) -> bool:
    """Return whether the body of robot i is tilted by less than `tilt` [rad].

    Its tilt is the angle between its z axis and the vertical, or the normal of the
    floor, whichever is less: on a slope, a body may be level or square to the ground.
    """
    return bool(max(-now.gravity[i, 2], now.square[i]) > np.cos(tilt))


@compiled
def stands(now: Readings, i: int, height_tol: float, tilt: float) -> bool:
    """Return whether robot i stands: high enough, upright and with its body off ground.

    Args:
        now: The readings.
        i: Which robot.
        height_tol: Largest difference to the standing height [m].
        tilt: Largest tilt of the body [rad].
    """
    return bool(
        abs(now.height[i] - now.standing_height) < height_tol
        and upright(now, i, tilt)
        and not now.body_touches[i]
    )


@compiled
def count(before: float, holds: bool) -> float:
    """Return for how many steps on end something holds, given for how many it did."""
    return before + 1.0 if holds else 0.0
