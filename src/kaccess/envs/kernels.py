"""Compiled building blocks of rewards: the paper's RBF kernel, tilt, counts.

A task that is written with them alone, without branches, runs on a GPU as it is:
`kaccess.gpu.on_tensors` replaces each of them by one on tensors of all robots at once.
"""

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, BoolArray
from kaccess.envs.readings import Readings

__all__ = [
    "as_number",
    "both",
    "count_steps",
    "count_true",
    "is_upright",
    "larger",
    "negate",
    "rbf",
    "smaller",
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
def larger(x: float, y: float) -> float:
    """Return the larger of two numbers."""
    return max(x, y)


@compiled
def smaller(x: float, y: float) -> float:
    """Return the smaller of two numbers."""
    return min(x, y)


@compiled
def both(x: bool, y: bool) -> bool:
    """Return whether both hold."""
    return x and y


@compiled
def negate(x: bool) -> bool:
    """Return whether it does not hold."""
    return not x


@compiled
def as_number(x: bool) -> float:
    """Return 1 if it holds, else 0."""
    return 1.0 if x else 0.0


@compiled
def count_true(x: BoolArray) -> float:
    """Return how many entries of a vector hold."""
    total = 0.0
    for j in range(len(x)):
        if x[j]:
            total += 1.0
    return total


@compiled
def is_upright(now: Readings, i: int, max_tilt: float) -> bool:
    """Return whether the body of robot i is tilted by less than `max_tilt` [rad].

    Tilt is the angle of the body's z axis to the vertical or to the floor's normal,
    whichever is smaller: on a slope, a body may be level or parallel to the floor.
    """
    cosine: float = np.cos(max_tilt)
    return larger(-now.gravity[i, 2], now.floor_cosine[i]) > cosine


@compiled
def count_steps(n_before: float, holds: bool) -> float:
    """Return the number of consecutive steps in which a condition has held."""
    return (n_before + 1.0) * as_number(holds)
