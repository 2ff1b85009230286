"""Get up with another reward than the paper's: does what holds for one hold for both?

Few terms, in the manner of get-up tasks of other frameworks: being upright pays at
once, being high in proportion and the more, the more upright the robot is. The posture
of standing and rest pay only while it stands, loosely. Starts and success are those of
`fall_recovery`.
"""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray
from kaccess.config import ForBittle
from kaccess.envs.kernels import (
    as_number,
    rbf,
    smaller,
    square_distance,
    square_norm,
    square_tilt,
)
from kaccess.envs.readings import Readings
from kaccess.envs.standing import Standing, StandingTask, count_standing, is_standing

__all__ = ["GetUp", "Reward"]


class Reward(NamedTuple):
    """Weights [-] and kernels of the reward terms; ours."""

    orientation: float = 0.3
    orientation_kernel: float = -2.0  # [-]
    height: float = 0.3
    posture: float = 0.3
    posture_kernel: float = ForBittle(-0.5, "1/rad^2 over joints")
    stillness: float = 0.1
    stillness_kernel: float = ForBittle(-0.05, "s^2/rad^2 over joints")


@dataclass(frozen=True, kw_only=True)
class GetUp(StandingTask):
    """Get up from any pose, and stand; paid by a few plain terms."""

    reward: Reward = field(default_factory=Reward)
    """Weights and kernels of the reward."""

    name: ClassVar[str] = "get-up"
    motion: ClassVar[str] = "A get-up"
    terms: ClassVar[tuple[str, ...]] = (
        "orientation",
        "height",
        "posture",
        "stillness",
    )

    def judge(self, now: Readings, rows: IntArray, memory: Array, terms: Array) -> None:
        """Reward an upright body at its height; there, the standing joints and rest."""
        _judge(now, rows, memory, terms, self.reward, self.standing)


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
        is_up = is_standing(now, i, standing.height_tol, standing.loose_tilt)
        posture = square_distance(now.joints[i], now.standing_joints)
        speed = square_norm(now.joint_velocity[i])
        upright = rbf(square_tilt(now.gravity[i]), w.orientation_kernel)
        high = smaller(now.height[i] / now.standing_height, 1.0)
        terms[i, 0] = w.orientation * upright
        terms[i, 1] = w.height * high * upright
        terms[i, 2] = w.posture * as_number(is_up) * rbf(posture, w.posture_kernel)
        terms[i, 3] = w.stillness * as_number(is_up) * rbf(speed, w.stillness_kernel)
    count_standing(now, rows, standing, memory)
