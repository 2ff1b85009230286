"""Backflips, one after the other. The paper gives no recipe for them; this is ours.

Turning backwards (the nose goes up: about -y) pays where it goes further than it has
since the robot last stood, beyond a quarter of a turn: rocking earns nothing. Turning
in the air pays by the square of the angle, likewise: one large hop more than many small
ones. A robot that falls over sideways loses what turning has paid since it last stood:
else half a turn backwards and a roll to the feet would pay as well as a flip. Each turn
landed pays once more. Lying costs nothing: where it does, a search that climbs this
reward finds no flip, and else it does.
Little is paid for standing upright: the standing pose is the good start from which the
most can be earned, as the paper's second principle asks for.

A turn is landed when the robot, having turned backwards by a full turn since it last
stood, is upright on its feet for 0.08 s: tilted by less than 25 degrees, body off the
ground, at least half of its feet on it. So short, since flips follow upon flips. Loose
success is one turn landed. Strict success is one of which at least a quarter was turned
in the air: a flip, not a roll.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.rotations import gravity_in_body, roll_pitch
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.envs.kernels import (
    count,
    rbf,
    square,
    square_distance,
    square_norm,
    upright,
)
from kaccess.envs.readings import Readings
from kaccess.envs.task import Task

__all__ = ["Backflip", "Landing", "Reward"]


class Reward(NamedTuple):
    """Weights [-], paces and kernels of the reward terms; kernels as in Table I."""

    turn: float = 8.0  # for each full turn
    flight: float = 20.0  # for a full turn in the air; a quarter of it for half a turn
    landed: float = 20.0  # for each turn
    height: float = 0.02
    height_kernel: float = -2000.0  # [1/m^2]
    orientation: float = 0.02
    orientation_kernel: float = -5.0  # [-]
    straight: float = 0.05
    straight_kernel: float = -0.05  # [s^2/rad^2], on roll and yaw rates
    torque: float = 0.02
    torque_kernel: float = -5.0  # [1/(N m)^2]
    action_difference: float = 0.01
    action_difference_kernel: float = -1.0  # [1/rad^2]


class Landing(NamedTuple):
    """When a robot is in the air, and when a turn is landed."""

    airborne: float = 0.005  # [m], distance of all parts from the ground
    tilt: float = math.radians(25)  # [rad]
    hold_time: float = 0.08  # [s]
    air_angle: float = math.pi / 2  # [rad], turned in the air: strict success


_MAX_ROLL = math.radians(60)  # [rad], of starts: the paper, section III-E
_SIDEWAYS = math.sin(_MAX_ROLL)  # of gravity along y, beyond which it has fallen over
_DOWN = np.array([0.0, 0.0, -1.0])
_FULL_TURN = 2 * math.pi  # [rad]
_UNPAID = _FULL_TURN / 4  # [rad], of a turn: from here there is no rocking back
_OVER = 7.2  # [rad], up to which a turn pays: flips that land go beyond a full one


@dataclass(frozen=True, kw_only=True)
class Backflip(Task):
    """Turn over backwards, land, and do it again."""

    reward: Reward = field(default_factory=Reward)
    """Weights and kernels of the reward."""
    landing: Landing = field(default_factory=Landing)
    """When a turn is landed."""

    name: ClassVar[str] = "backflip"
    motion: ClassVar[str] = "A backflip"
    paper_figure: ClassVar[str] = "Fig. 10"
    terms: ClassVar[tuple[str, ...]] = (
        "turn",
        "flight",
        "landed",
        "lost",
        "height",
        "orientation",
        "straight",
        "torque",
        "action_difference",
    )
    return_steps: ClassVar[int] = 8
    memory: ClassVar[tuple[str, ...]] = (
        "angle",  # [rad], turned backwards since it last stood
        "air_angle",  # [rad], of that in the air
        "steps_on_feet",
        "turns",  # landed
        "flips",  # landed, turned partly in the air
        "furthest",  # [rad], that the angle has been since it last stood
        "furthest_air",  # [rad], likewise in the air
    )

    def judge(self, now: Readings, rows: IntArray, memory: Array, terms: Array) -> None:
        """Reward turning backwards, and count the turns that are landed."""
        hold = round(self.landing.hold_time * self.control_rate)
        _judge(now, rows, memory, terms, self.reward, self.landing, hold)

    def success(self, memory: Array) -> tuple[BoolArray, BoolArray]:
        """Return who has landed a flip, and who has landed a turn of any kind."""
        return memory[:, 4] >= 1, memory[:, 3] >= 1

    def qualifies(self, qpos: Array) -> BoolArray:
        """Return which states are rolled by less than 60 degrees."""
        roll, _ = roll_pitch(gravity_in_body(qpos[:, 3:7]))
        return np.asarray(np.abs(roll) < _MAX_ROLL)


@compiled
def _judge(
    now: Readings,
    rows: IntArray,
    memory: Array,
    terms: Array,
    w: Reward,
    landing: Landing,
    hold: int,
) -> None:
    for i in rows:
        airborne = now.distance[i] > landing.airborne
        # On its side a robot spins about its y axis without turning over.
        backward = -now.turn[i, 1] * (1.0 - square(now.gravity[i, 1]))
        turned, flown = _progress(memory[i])
        _turn(memory[i], backward, airborne)
        now_turned, now_flown = _progress(memory[i])
        landed, flips = _land(now, i, memory[i], landing, hold)

        height_error = now.height[i] - now.standing_height
        tilt = square_distance(now.gravity[i], _DOWN)
        sideways = square(now.angular_velocity[i, 0]) + square(
            now.angular_velocity[i, 2]
        )
        action = square_distance(now.target[i], now.joints[i])
        terms[i, 0] = w.turn * (now_turned - turned)
        terms[i, 1] = w.flight * (now_flown - flown)
        terms[i, 2] = w.landed * landed
        terms[i, 3] = w.turn * _lose(now, i, memory[i])
        terms[i, 4] = w.height * rbf(square(height_error), w.height_kernel)
        terms[i, 5] = w.orientation * rbf(tilt, w.orientation_kernel)
        terms[i, 6] = w.straight * rbf(sideways, w.straight_kernel)
        terms[i, 7] = w.torque * rbf(square_norm(now.torque[i]), w.torque_kernel)
        terms[i, 8] = w.action_difference * rbf(action, w.action_difference_kernel)
        memory[i, 3] += landed
        memory[i, 4] += flips


@compiled
def _turn(memory: Array, backward: float, airborne: bool) -> None:
    """Add to the angles turned since the robot last stood."""
    memory[0] += backward
    if airborne:
        memory[1] += backward
    memory[5] = max(memory[5], memory[0])
    memory[6] = max(memory[6], memory[1])


@compiled
def _progress(memory: Array) -> tuple[float, float]:
    """Return what is paid of a turn so far, and of one in the air, squared [-]."""
    turned = max(min(memory[5], _OVER) - _UNPAID, 0.0) / _FULL_TURN
    return turned, square(min(memory[6] / _FULL_TURN, 1.0))


@compiled
def _forget(memory: Array) -> None:
    """Begin to count anew."""
    memory[0], memory[1], memory[5], memory[6] = 0.0, 0.0, 0.0, 0.0


@compiled
def _land(
    now: Readings, i: int, memory: Array, landing: Landing, hold: int
) -> tuple[float, float]:
    """Count steps on feet; return the turns and flips landed just now."""
    touching = now.foot_touches[i].sum()
    on_feet = (
        upright(now, i, landing.tilt)
        and not now.body_touches[i]
        and 2 * touching >= now.foot_touches.shape[1]
    )
    memory[2] = count(memory[2], on_feet)
    if memory[2] < hold:
        return 0.0, 0.0
    # Upright now, and leaning by less than 90 degrees at the start: round is exact.
    turns = max(np.round(memory[0] / _FULL_TURN), 0.0)
    flips = turns if memory[1] >= landing.air_angle else 0.0
    _forget(memory)
    return turns, flips


@compiled
def _lose(now: Readings, i: int, memory: Array) -> float:
    """Return what falling over sideways takes back of a turn."""
    if abs(now.gravity[i, 1]) <= _SIDEWAYS:
        return 0.0
    lost = -_progress(memory)[0]
    _forget(memory)
    return lost
