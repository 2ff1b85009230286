"""Compiled building blocks of rewards: the paper's RBF kernel, tilt, counts."""

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array
from kaccess.envs.readings import Readings

__all__ = [
    "count_steps",
    "is_upright",
    "rbf",
    "square",
    "square_distance",
    "square_norm",
    "square_tilt",
]

_DOWN = np.array([0.0, 0.0, -1.0])


@compiled
def rbf(squared_error: float, alpha: float) -> float:
    """Return exp(alpha |x - y|^2), given |x - y|^2: 1 on target, 0 far away."""
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
def square_tilt(gravity: Array) -> float:
    """Return the squared distance of gravity in the body frame from (0, 0, -1)."""
    return square_distance(gravity, _DOWN)


@compiled
def is_upright(now: Readings, i: int, max_tilt: float) -> bool:
    """Return whether the body of robot i is tilted by less than `max_tilt` [rad].

    Tilt is the angle of the body's z axis to the vertical or to the floor's normal,
    whichever is smaller: on a slope, a body may be level or parallel to the floor.
    """
    return bool(max(-now.gravity[i, 2], now.floor_cosine[i]) > np.cos(max_tilt))


@compiled
def count_steps(n_before: float, holds: bool) -> float:
    """Return the number of consecutive steps in which a condition has held."""
    return n_before + 1.0 if holds else 0.0
