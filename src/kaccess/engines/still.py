"""When a robot counts as static, for engines that record its velocities."""

import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import StillConfig

__all__ = ["count_quiet", "is_quiet"]


def is_quiet(qvel: Array, still: StillConfig) -> BoolArray:
    """Return whether all velocities, (..., nv), are below the limits, (...)."""
    linear, angular, joints = qvel[..., :3], qvel[..., 3:6], qvel[..., 6:]
    with np.errstate(over="ignore"):  # just before a simulation diverges
        return np.asarray(
            ((linear**2).sum(axis=-1) < still.linear_velocity**2)
            & ((angular**2).sum(axis=-1) < still.angular_velocity**2)
            & (np.abs(joints) < still.joint_velocity).all(axis=-1)
        )


def count_quiet(quiet: BoolArray, before: IntArray) -> IntArray:
    """Return the number of quiet states in a row up to each step, (b, steps).

    Args:
        quiet: (b, steps) whether a state is quiet.
        before: (b,) number of quiet states in a row before the first step.
    """
    steps = np.arange(1, quiet.shape[1] + 1)
    last_moving = np.where(quiet, -before[:, None], steps)
    return np.asarray(steps - np.maximum.accumulate(last_moving, axis=1))
