"""When a robot stands, and the base class of tasks whose goal is to stand."""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import ForBittle
from kaccess.envs.kernels import both, count_steps, is_upright, negate
from kaccess.envs.readings import Readings
from kaccess.envs.task import Task

__all__ = ["Standing", "StandingTask", "count_standing", "is_standing"]


class Standing(NamedTuple):
    """When a robot counts as standing. The paper does not say; these limits are ours.

    Attributes:
        height_tol: Largest difference from the standing height [m].
        strict_tilt: Largest tilt of the body for strict success [rad].
        loose_tilt: Largest tilt of the body for loose success [rad].
        hold_time: Time for which the robot must stand without a break [s].
    """

    height_tol: float = ForBittle(0.010, "m")
    strict_tilt: float = math.radians(15)
    loose_tilt: float = math.radians(25)
    hold_time: float = ForBittle(0.2, "s")


@dataclass(frozen=True, kw_only=True)
class StandingTask(Task):
    """A task that succeeds when the robot stands."""

    standing: Standing = field(default_factory=Standing)
    """When the robot counts as standing."""

    memory: ClassVar[tuple[str, ...]] = ("steps_standing", "steps_standing_loosely")
    to_stand: ClassVar[bool] = True

    def has_succeeded(self, memory: Array) -> tuple[BoolArray, BoolArray]:
        """Return which robots have stood for long enough, up to now."""
        is_held = memory >= round(self.standing.hold_time * self.control_rate)
        return is_held[:, 0], is_held[:, 1]


@compiled
def is_standing(now: Readings, i: int, height_tol: float, max_tilt: float) -> bool:
    """Return whether robot i is high enough, upright, and has its body off the floor.

    Args:
        now: Readings of the robots.
        i: Index of the robot.
        height_tol: Largest difference from the standing height [m].
        max_tilt: Largest tilt of the body [rad].
    """
    is_high = abs(now.height[i] - now.standing_height) < height_tol
    is_level = is_upright(now, i, max_tilt)
    return both(both(is_high, is_level), negate(now.body_touches[i]))


@compiled
def count_standing(
    now: Readings, rows: IntArray, standing: Standing, memory: Array
) -> None:
    """Update the steps for which robots have stood, strictly and loosely.

    Args:
        now: Readings of n robots.
        rows: Indices of the robots to update.
        standing: When a robot counts as standing.
        memory: (n, 2) steps of standing, strictly and loosely, to be updated.
    """
    for i in rows:
        strict = is_standing(now, i, standing.height_tol, standing.strict_tilt)
        loose = is_standing(now, i, standing.height_tol, standing.loose_tilt)
        memory[i, 0] = count_steps(memory[i, 0], strict)
        memory[i, 1] = count_steps(memory[i, 1], loose)
