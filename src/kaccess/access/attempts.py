"""Attempts: what robots have already tried, so that none runs in circles."""

from dataclasses import dataclass

import numpy as np

from kaccess.base.types import Array, IntArray

__all__ = ["Attempts"]

_N_KEPT = 8  # last attempts of a robot


@dataclass(frozen=True)
class Attempts:
    """The last commands of n robots, and the postures in which they were given.

    Args:
        postures: (n, k, 3 + nu) gravity vectors and joint positions.
        commands: (n, k) numbers of the commands; -1 where there is none.
        n_made: (n,) number of attempts since the start.
    """

    postures: Array
    commands: IntArray
    n_made: IntArray

    @classmethod
    def none(cls, n: int, n_joints: int) -> "Attempts":
        """Return those of n robots that have not tried anything yet."""
        return cls(
            np.zeros((n, _N_KEPT, 3 + n_joints)),
            np.full((n, _N_KEPT), -1),
            np.zeros(n, np.int64),
        )

    def __getitem__(self, rows: IntArray) -> "Attempts":
        return Attempts(self.postures[rows], self.commands[rows], self.n_made[rows])

    def add(
        self, rows: IntArray, gravity: Array, joints: Array, command: IntArray
    ) -> None:
        """Remember the commands of some robots; the oldest ones are forgotten."""
        place = self.n_made[rows] % _N_KEPT
        self.postures[rows, place] = np.concatenate([gravity, joints], axis=1)
        self.commands[rows, place] = command
        self.n_made[rows] += 1

    def forget(self, rows: IntArray) -> None:
        """Forget all attempts of some robots."""
        self.commands[rows], self.n_made[rows] = -1, 0
