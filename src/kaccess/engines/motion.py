"""Motions: joint targets that move in straight lines from posture to posture."""

from dataclasses import dataclass

import numpy as np

from kaccess.base.types import Array, IntArray

__all__ = ["TARGET_STEPS", "Motion", "as_motion"]

TARGET_STEPS = 10  # physics steps between two targets of a motion


@dataclass(frozen=True)
class Motion:
    """Targets of b robots over time; the last ones are held.

    Args:
        points: (b, k, nu) joint targets; those between two points lie on a line.
        times: (b, k) when each point is reached [s], in ascending order; the first 0.
    """

    points: Array
    times: Array

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, rows: IntArray | slice) -> "Motion":
        return Motion(self.points[rows], self.times[rows])

    def count_steps(self, timestep: float) -> IntArray:
        """Return for how many physics steps the targets move, (b,)."""
        steps = np.ceil(self.times[:, -1] / timestep - 1e-6)  # 1e-6: rounding
        return np.asarray(steps.astype(np.int64))

    def at(self, rows: IntArray, seconds: Array) -> Array:
        """Return the targets of some robots, each at its own time [s], (len(rows), nu).

        Args:
            rows: Robots.
            seconds: (len(rows),) times since the start of the motion [s].
        """
        times, last = self.times[rows], self.times.shape[1] - 1
        before = (times <= seconds[:, None]).sum(axis=1) - 1
        after = np.minimum(before + 1, last)
        each = np.arange(len(rows))
        began, ends = times[each, before], times[each, after]
        span = np.where(ends > began, ends - began, 1.0)
        share = ((seconds - began) / span * (ends > began))[:, None]
        low, high = self.points[rows, before], self.points[rows, after]
        return np.asarray(low + share * (high - low))


def as_motion(targets: Array | Motion) -> Motion:
    """Return a motion as it is; targets, (b, nu), as one that holds them."""
    if isinstance(targets, Motion):
        return targets
    return Motion(targets[:, None], np.zeros((len(targets), 1)))
