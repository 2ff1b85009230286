"""A batch of robots that play postures the way the firmware moves: in eased steps."""

import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import EngineConfig
from kaccess.deploy.angles import Angles
from kaccess.envs.robots_batch import RobotsBatch
from kaccess.robots import Robot

__all__ = ["Player", "measure_move"]

_RATE = 100.0  # [Hz], of new targets
_HEIGHT_TOL = 0.010  # [m], of standing, as in the task
_UPRIGHT = np.cos(np.deg2rad(15.0))  # the same
_SLOWEST = 60.0  # [deg/s], of first moves


def measure_move(start: Array | IntArray, end: Array | IntArray, speed: float) -> Array:
    """Return the time of eased moves between angles, (..., 8) [deg], at a speed."""
    return np.asarray(np.abs(end - start).max(axis=-1) / speed)


class Player:
    """n robots of one model, each with a command of its own.

    Args:
        robot: Robot to simulate.
        qpos: (n, nq) states at rest.
        speed: Mean speed of the joint that has the longest way [deg/s].
        engine: Engine, which sets the threads.
    """

    def __init__(
        self,
        robot: Robot,
        qpos: Array,
        *,
        speed: float,
        engine: EngineConfig | None = None,
    ) -> None:
        self.robot, self.speed, self._angles = robot, speed, Angles(robot)
        self._batch = RobotsBatch(
            robot, len(qpos), control_rate=_RATE, engine=engine or EngineConfig()
        )
        self._batch.reset(qpos)
        self.degrees = self._angles.to_degrees(robot.get_joints(qpos)).astype(float)

    def move(
        self, target: Array | IntArray, hold: Array, *, speed: float | None = None
    ) -> None:
        """Move each robot to whole degrees, (n, 8), and hold it for a time, (n,) [s].

        All robots take the time of the slowest one; the others hold for longer.
        """
        start = self.degrees
        seconds = measure_move(start, target, speed or self.speed)
        n_steps = int(np.ceil((seconds + hold).max() * _RATE))
        for step in range(1, n_steps + 1):
            done = np.clip(step / _RATE / np.maximum(seconds, 1e-9), 0.0, 1.0)
            left = (1 + np.cos(np.pi * done[:, None])) / 2
            angles = np.trunc(target + left * (start - target))
            actions = self.robot.to_actions(self._angles.to_radians(angles))
            self._batch.step(actions)
        self.degrees = np.array(target, float)

    def move_slowly(self, target: Array | IntArray, hold: float) -> None:
        """Move all robots to the same angles, (8,) [deg], as a first move."""
        n = len(self._batch)
        self.move(
            np.tile(target.astype(float), (n, 1)), np.full(n, hold), speed=_SLOWEST
        )

    @property
    def qpos(self) -> Array:
        """States of the robots, (n, nq)."""
        return self._batch.qpos

    @property
    def gravity(self) -> Array:
        """Gravity in the body frames, (n, 3)."""
        return self._batch.readings.gravity.copy()

    @property
    def stands(self) -> BoolArray:
        """Which robots stand, (n,)."""
        now = self._batch.readings
        high = np.abs(now.height - now.standing_height) < _HEIGHT_TOL
        return np.asarray(high & (-now.gravity[:, 2] > _UPRIGHT) & ~now.body_touches)
