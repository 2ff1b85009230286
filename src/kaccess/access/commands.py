"""Commands: what a robot can be told to do in a resting pose.

A command is a posture to go to: the joints of a pose, or the standing targets. Or it is
a *skill*, a few postures one after the other, without rest in between. Its targets move
in straight lines from the robot's joints to the first posture, and on to the next ones.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines.motion import Motion

__all__ = ["Commands"]


@dataclass(frozen=True)
class Commands:
    """Commands of one robot.

    Args:
        postures: (m, k, nu) joint targets; shorter commands repeat their last posture.
        seconds: (m, k) time of the way to each posture [s]; 0 where targets jump.
    """

    postures: Array
    seconds: Array

    @classmethod
    def to(cls, joints: Array, move_time: float = 0.0) -> "Commands":
        """Return commands to go to postures, (m, nu), each within some time [s]."""
        return cls(joints[:, None], np.full((len(joints), 1), move_time))

    def __len__(self) -> int:
        return len(self.postures)

    @property
    def is_skill(self) -> BoolArray:
        """Return which commands go through several postures, (m,)."""
        return np.asarray((self.seconds[:, 1:] > 0).any(axis=1))

    def __getitem__(self, which: slice | IntArray) -> "Commands":
        return Commands(self.postures[which], self.seconds[which])

    def __add__(self, more: "Commands") -> "Commands":
        k = max(self.postures.shape[1], more.postures.shape[1])
        both = [each._pad(k) for each in (self, more)]
        return Commands(
            np.concatenate([each.postures for each in both]),
            np.concatenate([each.seconds for each in both]),
        )

    def _pad(self, k: int) -> "Commands":
        """Return commands of k postures: the last one is repeated, at once."""
        extra = k - self.postures.shape[1]
        last = np.repeat(self.postures[:, -1:], extra, axis=1)
        at_once = np.zeros((len(self), extra))
        return Commands(
            np.concatenate([self.postures, last], axis=1),
            np.concatenate([self.seconds, at_once], axis=1),
        )

    def start(self, command: IntArray, joints: Array) -> Motion:
        """Return the motion of robots that begin a command.

        Args:
            command: (b,) numbers of commands.
            joints: (b, nu) joint positions of the robots.
        """
        postures, seconds = self.postures[command], self.seconds[command]
        zero = np.zeros((len(command), 1))
        return Motion(
            np.concatenate([joints[:, None], postures], axis=1),
            np.concatenate([zero, seconds.cumsum(axis=1)], axis=1),
        )
