"""The guided warm-up: actions of learners before their first update."""

from collections.abc import Mapping

import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.guide import Guide

__all__ = ["GuidedWarmUp"]


class GuidedWarmUp:
    """Actions of the warm-up: some robots follow the guide, the others act at random.

    Noise is added to the guide's actions, so that learners see varied motions. The
    robots of a learner have different amplitudes, because some get-ups tolerate hardly
    any noise.

    Args:
        guide: Guide for as many robots as there are `rows`.
        rows: Indices of the robots that follow it, those of each learner in a block.
        n_each: Robots of each learner.
    """

    def __init__(self, guide: Guide, rows: IntArray, *, n_each: int = 1) -> None:
        self._guide, self._rows = guide, rows
        shares = (np.arange(n_each) + 1) / n_each
        amplitudes = guide.noise * shares**2  # squared: many robots with little noise
        self._noise = np.tile(amplitudes, len(rows) // n_each)[:, None]

    def act(self, obs: Array, random: Array, began: BoolArray) -> Array:
        """Return the actions of all robots, (n, nu).

        Args:
            obs: (n, d) observations.
            random: (n, nu) random actions in [-1, 1].
            began: (n,) whether a new episode has just begun.
        """
        actions, rows = random.copy(), self._rows
        guided = self._guide.act(obs[rows], began[rows])
        actions[rows] = np.clip(guided + self._noise * random[rows], -1.0, 1.0)
        return actions

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state that the next actions depend on."""
        return self._guide.get_state()

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from what `get_state` returned."""
        self._guide.set_state(state)
