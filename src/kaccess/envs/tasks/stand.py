"""Stand still: the smallest task. It starts from poses that are the right way up.

Success is the same as in `fall_recovery`: the robot stands.
"""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import ForBittle
from kaccess.envs.kernels import rbf, square_distance, square_norm, square_tilt
from kaccess.envs.readings import Readings
from kaccess.envs.standing import Standing, StandingTask, count_standing

__all__ = ["Reward", "Stand"]


class Reward(NamedTuple):
    """Weights [-] and kernels of the reward terms, in the style of Table I; ours."""

    posture: float = 0.5
    posture_kernel: float = ForBittle(-1.0, "1/rad^2 over joints")
    orientation: float = 0.3
    orientation_kernel: float = -5.0  # [-]
    stillness: float = 0.2
    stillness_kernel: float = ForBittle(-0.05, "s^2/rad^2 over joints")


@dataclass(frozen=True, kw_only=True)
class Stand(StandingTask):
    """Take the standing pose and keep it."""

    episode_steps: int = 100
    """Actions in an episode: 4 s, twice the time to get up from a crouch."""
    reward: Reward = field(default_factory=Reward)
    """Weights and kernels of the reward."""

    name: ClassVar[str] = "stand"
    terms: ClassVar[tuple[str, ...]] = ("posture", "orientation", "stillness")

    def judge(self, now: Readings, rows: IntArray, memory: Array, terms: Array) -> None:
        """Reward the joints of the standing pose, an upright body, and rest."""
        _judge(now, rows, memory, terms, self.reward, self.standing)

    def qualifies(self, qpos: Array) -> BoolArray:
        """Return which states are tilted by less than 60 degrees."""
        return np.asarray(gravity_in_body(qpos[:, 3:7])[:, 2] < -0.5)


@compiled
def _judge(
    now: Readings,
    rows: IntArray,
    memory: Array,
    terms: Array,
    w: Reward,
    standing: Standing,
) -> None:
    for i in rows:
        posture = square_distance(now.joints[i], now.standing_joints)
        speed = square_norm(now.joint_velocity[i])
        terms[i, 0] = w.posture * rbf(posture, w.posture_kernel)
        terms[i, 1] = w.orientation * rbf(
            square_tilt(now.gravity[i]), w.orientation_kernel
        )
        terms[i, 2] = w.stillness * rbf(speed, w.stillness_kernel)
    count_standing(now, rows, standing, memory)
