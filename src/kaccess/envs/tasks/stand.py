"""Stand still: the smallest task, from poses that are the right way up.

It has stood if it stands as after a fall: see `fall_recovery`.
"""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.envs.kernels import count, rbf, square_distance, square_norm, stands
from kaccess.envs.readings import Readings
from kaccess.envs.task import Task
from kaccess.envs.tasks.fall_recovery import Standing

__all__ = ["Reward", "Stand"]


class Reward(NamedTuple):
    """Weights [-] and kernels, in the manner of the paper's Table I; ours."""

    posture: float = 0.5
    posture_kernel: float = -1.0  # [1/rad^2]
    orientation: float = 0.3
    orientation_kernel: float = -5.0  # [-]
    stillness: float = 0.2
    stillness_kernel: float = -0.05  # [s^2/rad^2]


@dataclass(frozen=True, kw_only=True)
class Stand(Task):
    """Take the standing pose and keep it."""

    episode_steps: int = 100
    """Actions in an episode: 4 s, twice what it takes to get up from a crouch."""
    reward: Reward = field(default_factory=Reward)
    """Weights and kernels of the reward."""
    standing: Standing = field(default_factory=Standing)
    """When it stands."""

    name: ClassVar[str] = "stand"
    terms: ClassVar[tuple[str, ...]] = ("posture", "orientation", "stillness")
    memory: ClassVar[tuple[str, ...]] = ("steps_standing", "steps_standing_loosely")
    to_stand: ClassVar[bool] = True

    def judge(self, now: Readings, rows: IntArray, memory: Array, terms: Array) -> None:
        """Reward the joints of the standing pose, an upright body, and rest."""
        _judge(now, rows, memory, terms, self.reward, self.standing)

    def success(self, memory: Array) -> tuple[BoolArray, BoolArray]:
        """Return who has stood for long enough, up to now."""
        held = memory >= round(self.standing.hold_time * self.control_rate)
        return held[:, 0], held[:, 1]

    def qualifies(self, qpos: Array) -> BoolArray:
        """Return which states are tilted by less than 60 degrees."""
        return np.asarray(gravity_in_body(qpos[:, 3:7])[:, 2] < -0.5)


_DOWN = np.array([0.0, 0.0, -1.0])


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
        tilt = square_distance(now.gravity[i], _DOWN)
        speed = square_norm(now.joint_velocity[i])
        terms[i, 0] = w.posture * rbf(posture, w.posture_kernel)
        terms[i, 1] = w.orientation * rbf(tilt, w.orientation_kernel)
        terms[i, 2] = w.stillness * rbf(speed, w.stillness_kernel)

        strict = stands(now, i, standing.height_tol, standing.strict_tilt)
        loose = stands(now, i, standing.height_tol, standing.loose_tilt)
        memory[i, 0] = count(memory[i, 0], strict)
        memory[i, 1] = count(memory[i, 1], loose)
