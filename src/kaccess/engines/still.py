"""When a robot counts as static, for engines that record its velocities."""

import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import StillConfig

__all__ = ["is_quiet", "quiet_runs"]


def is_quiet(qvel: Array, still: StillConfig) -> BoolArray:
    """Return which velocities, (..., nv), are those of a robot at rest."""
    linear, angular, joints = qvel[..., :3], qvel[..., 3:6], qvel[..., 6:]
    with np.errstate(over="ignore"):  # on its way to breaking down, it is not at rest
        return np.asarray(
            ((linear**2).sum(axis=-1) < still.linear_velocity**2)
            & ((angular**2).sum(axis=-1) < still.angular_velocity**2)
            & (np.abs(joints) < still.joint_velocity).all(axis=-1)
        )


def quiet_runs(quiet: BoolArray, before: IntArray) -> IntArray:
    """Return how many quiet states in a row end at each step.

    Args:
        quiet: (b, steps) whether a state is quiet.
        before: (b,) quiet states in a row that led up to the first step.
    """
    steps = np.arange(1, quiet.shape[1] + 1)
    last_moving = np.where(quiet, -before[:, None], steps)
    return np.asarray(steps - np.maximum.accumulate(last_moving, axis=1))
