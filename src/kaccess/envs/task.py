"""The base class of learning tasks: observations, rewards and success.

A task is one file with its numbers on top. It handles n robots at once: `judge` is a
compiled loop over robots that writes each reward term and updates the values remembered
between steps. A task knows nothing of MuJoCo or Gymnasium.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import ForBittle
from kaccess.envs.readings import Readings
from kaccess.robots import Robot

__all__ = ["CONTROL_RATE", "GYRO_RANGE", "Task"]

# Of the policy: the paper, section II-E.
CONTROL_RATE: float = ForBittle(25.0, "Hz")

GYRO_RANGE = 34.9  # [rad/s], 2000 deg/s: full scale of Bittle's MPU6050
_RATE_TOL = 1e-6  # [-], rounding error of a ratio of rates
_JOINT_SLACK = 0.1  # [-], largest overshoot of a joint, as a share of its range


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """A learning task, the same for every robot."""

    control_rate: float = CONTROL_RATE
    """Actions per second [Hz]; must divide the rate of the physics. By default 25, as
    in the paper, or what is nearest to it."""
    low_pass: float = 0.4
    """Weight of the old target in the new one, in training and in tests [-]."""
    episode_steps: int = 300
    """Actions in an episode, which ends only by truncation. As in the paper."""

    name: ClassVar[str]
    """Name on the command line; the file's name, with hyphens."""
    terms: ClassVar[tuple[str, ...]]
    """Names of the reward terms."""
    memory: ClassVar[tuple[str, ...]] = ()
    """Names of the values remembered between steps; all 0 when an episode starts."""
    return_steps: ClassVar[int] = 4
    """Default number of steps in a return; use more if rewards are delayed."""
    to_stand: ClassVar[bool] = False
    """Whether the goal is to stand; then the guide needs no skill."""
    motion: ClassVar[str] = ""
    """Name of one success, such as `A backflip`; by default the task's name."""
    paper_figure: ClassVar[str] = ""
    """The paper's figure with its learning curves; empty if there is none."""

    def __post_init__(self) -> None:
        if not self.control_rate > 0:
            raise InputError(
                f"`control_rate` must be positive, got {self.control_rate}."
            )
        if not 0 <= self.low_pass < 1:
            raise InputError(f"`low_pass` must lie in [0, 1), got {self.low_pass}.")
        if self.episode_steps < 1:
            raise InputError(
                f"`episode_steps` must be at least 1, got {self.episode_steps}."
            )

    def fit_to(self, robot: Robot) -> Self:
        """Return the task with its default numbers scaled to a robot.

        Numbers that the user has set stay as they are.
        """
        rate = self.control_rate
        if isinstance(rate, ForBittle):
            rate = _find_nearest_rate(rate, robot.timestep)
        return robot.scale.fit(replace(self, control_rate=rate))

    @abstractmethod
    def judge(self, now: Readings, rows: IntArray, memory: Array, terms: Array) -> None:
        """Compute the reward terms of some robots, and update their memory.

        Args:
            now: Readings of n robots.
            rows: Indices of the robots to judge.
            memory: (n, len(self.memory)) values remembered, to be updated.
            terms: (n, len(self.terms)) reward terms, to be written to; the reward is
                their sum.
        """

    @abstractmethod
    def has_succeeded(self, memory: Array) -> tuple[BoolArray, BoolArray]:
        """Return which robots have succeeded, strictly and loosely, (n,) each.

        Args:
            memory: (n, len(self.memory)) values remembered.
        """

    def qualifies(self, qpos: Array) -> BoolArray:
        """Return which states, (n, nq), an episode may start in, (n,); here all."""
        return np.ones(len(qpos), bool)

    def observe(self, now: Readings) -> Array:
        """Return observations, (n, d): gravity, angular velocity and joint positions.

        As in the paper, section II-E: in the body frame, in SI units.
        """
        return np.concatenate([now.gravity, now.angular_velocity, now.joints], axis=1)

    def read_posture(self, obs: Array, n_joints: int) -> tuple[Array, Array]:
        """Return gravity, (n, 3), and joints, (n, nu), of observations, (n, d)."""
        return obs[:, :3], obs[:, 6 : 6 + n_joints]

    def get_observation_range(self, robot: Robot) -> Array:
        """Return limits of the observations, (d, 2); values beyond are clipped."""
        low, high = robot.joint_range.T
        slack = _JOINT_SLACK * (high - low)
        joints = np.stack([low - slack, high + slack], axis=1)
        gyro = [[-GYRO_RANGE, GYRO_RANGE]] * 3
        return np.concatenate([[[-1.0, 1.0]] * 3, gyro, joints])


def _find_nearest_rate(rate: float, timestep: float) -> float:
    """Return the rate [Hz] nearest to `rate` that divides the rate of the physics."""
    ratio = 1.0 / (rate * timestep)
    n_substeps = max(1, round(ratio))
    is_exact = abs(ratio - n_substeps) < _RATE_TOL * ratio
    return float(rate) if is_exact else 1.0 / (n_substeps * timestep)
