"""Conditions of each robot: the same for all, or drawn for each robot and episode.

A row of draws has the value of each condition, and what else is random about a robot:
the offsets of its joints, the tilt of its IMU, and a key for noise and jitter.
"""

from collections.abc import Sequence

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.config import Ranges
from kaccess.envs.changes import MODEL_VALUES, ModelValues
from kaccess.envs.conditions import Conditions
from kaccess.robots import Robot

__all__ = ["DRAWN", "Draws"]

_OF_COMMANDS = ("latency", "jitter", "offset", "backlash", "rounding", "sag")
_OF_SENSORS = ("noise", "bias", "drift")
DRAWN = (*MODEL_VALUES, *_OF_COMMANDS, *_OF_SENSORS)
"""Names of the conditions that can be drawn."""

_TEST_KEY = 20_260  # of the streams of robots in tests, which have none of their own


class Draws:
    """Conditions of n robots in their current episodes.

    Args:
        conditions: Conditions; those given are the same for all robots.
        robot: Robot.
        n: Number of robots.
        ranges: What the others are drawn from, with `randomize`.

    Attributes:
        values: (n, len(DRAWN)) value of each condition; NaN is the model's friction.
        offset: (n, nu) offsets of the joints [rad].
        tilt: (n, 3) tilt of the IMU, as a rotation vector in the body frame [rad].
        drift: (n, 3) angular rate that the IMU shows at rest [rad/s].
        key: (n,) keys of the noise.
    """

    def __init__(
        self, conditions: Conditions, robot: Robot, n: int, ranges: Ranges | None = None
    ) -> None:
        nu = robot.model.nu
        given = [getattr(conditions, name) for name in DRAWN]
        fixed = np.array([np.nan if each is None else each for each in given], float)
        self._low, self._high = fixed, fixed.copy()
        if conditions.randomize:
            scaled = robot.scale.fit(ranges or Ranges())
            for i, name in enumerate(DRAWN):
                if name not in conditions.given:
                    self._low[i], self._high[i] = getattr(scaled, name)
        self.values: Array = np.tile(self._low, (n, 1))
        self.offset: Array = np.zeros((n, nu))
        self.tilt: Array = np.zeros((n, 3))
        self.drift: Array = np.zeros((n, 3))
        self.key: IntArray = np.zeros(n, np.int64)

    def __len__(self) -> int:
        return len(self.values)

    def get(self, name: str) -> Array:
        """Return the values of one condition, (n,)."""
        return self.values[:, DRAWN.index(name)]

    @property
    def largest(self) -> dict[str, float]:
        """The largest value of each condition that can be drawn."""
        return dict(zip(DRAWN, self._high.tolist(), strict=True))

    def get_model_values(self, row: int) -> ModelValues:
        """Return what changes the model of one robot."""
        n = len(MODEL_VALUES)
        each = dict(zip(MODEL_VALUES, self.values[row, :n].tolist(), strict=True))
        friction = each["friction"]
        return ModelValues(
            **{**each, "friction": None if np.isnan(friction) else friction}
        )

    def draw(
        self, rows: IntArray, streams: Sequence[np.random.Generator] | None
    ) -> None:
        """Draw the conditions of some robots anew.

        Args:
            rows: (m,) indices of the robots.
            streams: Random stream of each of them; None for a test, in which robot i
                has the same conditions each time.
        """
        for k, row in enumerate(rows.tolist()):
            stream = streams[k] if streams else np.random.default_rng([_TEST_KEY, row])
            self._draw_one(row, stream)

    def _draw_one(self, row: int, stream: np.random.Generator) -> None:
        share = stream.random(len(DRAWN))
        step = DRAWN.index("rounding")
        share[step] = share[step] >= 0.5  # commands are either rounded or not
        self.values[row] = self._low + share * (self._high - self._low)
        value = dict(zip(DRAWN, self.values[row].tolist(), strict=True))
        nu = self.offset.shape[1]
        spread = np.radians(value["offset"])
        self.offset[row] = stream.uniform(-1.0, 1.0, nu) * spread
        angle = stream.uniform(0.0, 2 * np.pi)
        self.tilt[row] = np.radians(value["bias"]) * np.array(
            [np.cos(angle), np.sin(angle), 0.0]
        )
        axis = stream.normal(size=3)
        self.drift[row] = np.radians(value["drift"]) * axis / np.linalg.norm(axis)
        self.key[row] = stream.integers(2**62)

    def get_arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays that make up the state."""
        names = ("values", "offset", "tilt", "drift", "key")
        return {f"drawn_{name}": getattr(self, name) for name in names}
