"""Fall recovery: from any pose to standing, as in the paper, section II-E.

The reward is Table I of the paper, term by term. The robot has recovered when it has
stood for the last 0.2 s without a break. It stands if its base is within 10 mm of the
standing pose's height at rest, tilted by less than 15 degrees (strict) or 25 degrees
(loose), and its body is off the floor. On a slope, tilt is the angle to the vertical or
to the floor's normal, whichever is smaller.
"""

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray
from kaccess.config import ForBittle
from kaccess.envs.kernels import (
    as_number,
    count_true,
    negate,
    rbf,
    square,
    square_distance,
    square_norm,
    square_tilt,
)
from kaccess.envs.readings import Readings
from kaccess.envs.standing import Standing, StandingTask, count_standing

__all__ = ["FallRecovery", "TableI"]


class TableI(NamedTuple):
    """Weights [-] and kernels of the reward terms: the paper, Table I.

    The paper's kernels are right for Bittle; a task scales them to its robot.
    """

    height: float = 0.667
    height_kernel: float = ForBittle(-2000.0, "1/m^2")
    orientation: float = 0.333
    orientation_kernel: float = -5.0  # [-]
    angular_velocity: float = 0.067
    angular_velocity_kernel: float = ForBittle(-0.05, "s^2/rad^2")
    torque: float = 0.067
    torque_kernel: float = ForBittle(-5.0, "1/(N m)^2 over joints")
    joint_velocity: float = 0.067
    joint_velocity_kernel: float = ForBittle(-0.05, "s^2/rad^2 over joints")
    body_off_ground: float = 0.067
    foot_contact: float = 0.033
    contact_per_foot: float = ForBittle(0.3, "1 per foot")  # in c_f
    foot_lift: float = 0.067
    foot_lift_kernel: float = ForBittle(-100.0, "1/m^2 over feet")
    jump: float = 0.033
    jump_kernel: float = ForBittle(-100.0, "1/m^2")
    action_difference: float = 0.033
    action_difference_kernel: float = ForBittle(-1.0, "1/rad^2 over joints")


@dataclass(frozen=True, kw_only=True)
class FallRecovery(StandingTask):
    """Get up from any pose, and stand."""

    reward: TableI = field(default_factory=TableI)
    """Weights and kernels of the reward."""

    name: ClassVar[str] = "fall-recovery"
    motion: ClassVar[str] = "A recovery"
    paper_figure: ClassVar[str] = "the paper's Fig. 9"
    terms: ClassVar[tuple[str, ...]] = (
        "height",
        "orientation",
        "angular_velocity",
        "torque",
        "joint_velocity",
        "contact",
        "foot_lift",
        "jump",
        "action_difference",
    )

    def judge(self, now: Readings, rows: IntArray, memory: Array, terms: Array) -> None:
        """Compute the terms of Table I, and count the steps for which robots stand."""
        _judge(now, rows, memory, terms, self.reward, self.standing)


@compiled
def _judge(
    now: Readings,
    rows: IntArray,
    memory: Array,
    terms: Array,
    w: TableI,
    standing: Standing,
) -> None:
    for i in rows:
        height_error = now.height[i] - now.standing_height
        c_b = as_number(negate(now.body_touches[i]))
        c_f = w.contact_per_foot * count_true(now.foot_touches[i])
        lift = square_norm(now.foot_distance[i])
        action = square_distance(now.target[i], now.joints[i])

        terms[i, 0] = w.height * rbf(square(height_error), w.height_kernel)
        terms[i, 1] = w.orientation * rbf(
            square_tilt(now.gravity[i]), w.orientation_kernel
        )
        terms[i, 2] = w.angular_velocity * rbf(
            square_norm(now.angular_velocity[i]), w.angular_velocity_kernel
        )
        terms[i, 3] = w.torque * rbf(square_norm(now.torque[i]), w.torque_kernel)
        terms[i, 4] = w.joint_velocity * rbf(
            square_norm(now.joint_velocity[i]), w.joint_velocity_kernel
        )
        terms[i, 5] = w.body_off_ground * c_b + w.foot_contact * c_f
        terms[i, 6] = w.foot_lift * rbf(lift, w.foot_lift_kernel)
        terms[i, 7] = w.jump * rbf(square(now.distance[i]), w.jump_kernel)
        terms[i, 8] = w.action_difference * rbf(action, w.action_difference_kernel)
    count_standing(now, rows, standing, memory)
