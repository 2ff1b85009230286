"""What a learning task is: what a robot sees, what it earns, when it has done it.

A task is one file with its numbers on top. It is written for n robots at once: `judge`
is a compiled loop over rows that writes each reward term and keeps what must be
remembered between steps. Nothing in it knows MuJoCo or Gymnasium.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.envs.readings import Readings
from kaccess.robots import Robot

__all__ = ["CONTROL_RATE", "GYRO_RANGE", "Task"]

CONTROL_RATE = 25.0  # [Hz], of the policy: the paper, section II-E

GYRO_RANGE = 34.9  # [rad/s], 2000 deg/s: full scale of Bittle's MPU6050
_JOINT_SLACK = 0.1  # of its range, by which a joint may be pushed beyond it [-]


@dataclass(frozen=True, kw_only=True)
class Task(ABC):
    """A learning task, the same for every robot."""

    control_rate: float = CONTROL_RATE
    """Actions per second; must divide the rate of the physics [Hz]. The paper's."""
    low_pass: float = 0.4
    """Share of the old target in the new one [-], in training and test alike."""
    episode_steps: int = 300
    """Actions in an episode, which ends by truncation only. The paper's."""

    name: ClassVar[str]
    """What it is called on the command line."""
    terms: ClassVar[tuple[str, ...]]
    """Names of the reward terms."""
    memory: ClassVar[tuple[str, ...]] = ()
    """Names of what is remembered of a robot between steps; all 0 at its start."""
    return_steps: ClassVar[int] = 4
    """Steps of the returns it is learned from by default, more if waiting costs little.
    """
    to_stand: ClassVar[bool] = False
    """Whether its goal is to stand, so that routes to standing lead there."""
    motion: ClassVar[str] = ""
    """What one success is called, such as `A backflip`; by default the task's name."""
    paper_figure: ClassVar[str] = ""
    """The paper's figure of its learning curves; empty if the paper has none."""

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

    @abstractmethod
    def judge(self, now: Readings, rows: IntArray, memory: Array, terms: Array) -> None:
        """Write the reward terms of some robots, and what is to be remembered.

        Args:
            now: Readings of n robots.
            rows: The robots to judge.
            memory: (n, len(self.memory)) what was remembered, to be updated.
            terms: (n, len(self.terms)) to be filled in; their sum is the reward.
        """

    @abstractmethod
    def success(self, memory: Array) -> tuple[BoolArray, BoolArray]:
        """Return who has done it, strictly and loosely, (n,) each, from (n, m)."""

    def qualifies(self, qpos: Array) -> BoolArray:
        """Return which states, (n, nq), an episode may start in, (n,): here all."""
        return np.ones(len(qpos), bool)

    def observe(self, now: Readings) -> Array:
        """Return what robots see, (n, d): gravity, angular velocity, joint positions.

        The paper, section II-E. All in the body frame, in SI units.
        """
        return np.concatenate([now.gravity, now.angular_velocity, now.joints], axis=1)

    def posture(self, obs: Array, n_joints: int) -> tuple[Array, Array]:
        """Return gravity, (n, 3), and joints, (n, nu), of what robots see, (n, d)."""
        return obs[:, :3], obs[:, 6 : 6 + n_joints]

    def observation_range(self, robot: Robot) -> Array:
        """Return the least and most of each thing seen, (d, 2); beyond, it is cut."""
        low, high = robot.joint_range.T
        slack = _JOINT_SLACK * (high - low)
        joints = np.stack([low - slack, high + slack], axis=1)
        gyro = [[-GYRO_RANGE, GYRO_RANGE]] * 3
        return np.concatenate([[[-1.0, 1.0]] * 3, gyro, joints])
