"""Backflips, one after another. The paper gives no recipe for them; this one is ours.

Turning backwards (nose up, about -y) is rewarded beyond a quarter turn, and only where
the angle exceeds its maximum since the robot last stood: rocking earns nothing. Turning
in the air is rewarded in the same way, but by the square of the angle: one large hop
earns more than many small ones. A robot that falls over sideways loses the reward for
turning since it last stood; otherwise half a turn and a roll to the feet would earn as
much as a flip. Each landed turn is rewarded once more. Lying costs nothing: if it did,
a search that climbs this reward would find no flip. Standing upright earns little. From
the standing pose a robot can earn more than from any other start, as the paper's second
principle asks.

A turn is landed when the robot has turned backwards by a full turn since it last stood
and is upright on its feet for 0.08 s: tilted by less than 25 degrees, body off the
floor, at least half of its feet on it. The time is short because flips follow each
other. Loose success is one landed turn. Strict success is one landed turn with at least
a quarter of it in the air: a flip, not a roll.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.rotations import gravity_in_body, roll_pitch
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import ForBittle
from kaccess.envs.kernels import (
    count_steps,
    is_upright,
    rbf,
    square,
    square_distance,
    square_norm,
    square_tilt,
)
from kaccess.envs.readings import Readings
from kaccess.envs.task import Task

__all__ = ["Backflip", "Landing", "Reward"]


class Reward(NamedTuple):
    """Weights [-] and kernels of the reward terms; kernels as in Table I."""

    turn: float = 8.0  # for a full turn
    flight: float = (
        20.0  # for a full turn in the air; a quarter of that for half a turn
    )
    landed: float = 20.0  # for each landed turn
    height: float = 0.02
    height_kernel: float = ForBittle(-2000.0, "1/m^2")
    orientation: float = 0.02
    orientation_kernel: float = -5.0  # [-]
    straight: float = 0.05
    straight_kernel: float = ForBittle(-0.05, "s^2/rad^2")  # on roll and yaw rates
    torque: float = 0.02
    torque_kernel: float = ForBittle(-5.0, "1/(N m)^2 over joints")
    action_difference: float = 0.01
    action_difference_kernel: float = ForBittle(-1.0, "1/rad^2 over joints")


class Landing(NamedTuple):
    """When a robot is in the air, and when a turn is landed."""

    airborne: float = ForBittle(
        0.005, "m"
    )  # smallest distance from the floor in the air
    tilt: float = math.radians(25)  # [rad], largest tilt of the body
    hold_time: float = ForBittle(0.08, "s")  # on the feet
    air_angle: float = math.pi / 2  # [rad] turned in the air, for strict success


_MAX_ROLL = math.radians(60)  # [rad], of starts: the paper, section III-E
_SIDEWAYS = math.sin(_MAX_ROLL)  # [-], gravity along y of a robot that has fallen over
_FULL_TURN = 2 * math.pi  # [rad]
_UNPAID = _FULL_TURN / 4  # [rad], not rewarded: rocking stays below this angle
_MAX_PAID = 7.2  # [rad], rewarded up to here: landed flips exceed a full turn


@dataclass(frozen=True, kw_only=True)
class Backflip(Task):
    """Turn over backwards, land, and do it again."""

    reward: Reward = field(default_factory=Reward)
    """Weights and kernels of the reward."""
    landing: Landing = field(default_factory=Landing)
    """When a turn is landed."""

    name: ClassVar[str] = "backflip"
    motion: ClassVar[str] = "A backflip"
    paper_figure: ClassVar[str] = "the paper's Fig. 10"
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
        "angle",  # [rad], turned backwards since the robot last stood
        "air_angle",  # [rad], part of `angle` that was turned in the air
        "steps_on_feet",
        "turns",  # number of landed turns
        "flips",  # number of landed turns that were partly in the air
        "furthest",  # [rad], maximum of `angle` since the robot last stood
        "furthest_air",  # [rad], maximum of `air_angle` since the robot last stood
    )

    def judge(self, now: Readings, rows: IntArray, memory: Array, terms: Array) -> None:
        """Reward turning backwards, and count landed turns."""
        hold = round(self.landing.hold_time * self.control_rate)
        _judge(now, rows, memory, terms, self.reward, self.landing, hold)

    def has_succeeded(self, memory: Array) -> tuple[BoolArray, BoolArray]:
        """Return which robots have landed a flip, and which a turn of any kind."""
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
        # A robot on its side spins about its y axis without turning over.
        backward = -now.turn[i, 1] * (1.0 - square(now.gravity[i, 1]))
        turned, flown = _measure_progress(memory[i])
        _add_turn(memory[i], backward, airborne)
        now_turned, now_flown = _measure_progress(memory[i])
        landed, flips = _count_landed(now, i, memory[i], landing, hold)

        height_error = now.height[i] - now.standing_height
        sideways = square(now.angular_velocity[i, 0]) + square(
            now.angular_velocity[i, 2]
        )
        action = square_distance(now.target[i], now.joints[i])
        terms[i, 0] = w.turn * (now_turned - turned)
        terms[i, 1] = w.flight * (now_flown - flown)
        terms[i, 2] = w.landed * landed
        terms[i, 3] = w.turn * _take_back(now, i, memory[i])
        terms[i, 4] = w.height * rbf(square(height_error), w.height_kernel)
        terms[i, 5] = w.orientation * rbf(
            square_tilt(now.gravity[i]), w.orientation_kernel
        )
        terms[i, 6] = w.straight * rbf(sideways, w.straight_kernel)
        terms[i, 7] = w.torque * rbf(square_norm(now.torque[i]), w.torque_kernel)
        terms[i, 8] = w.action_difference * rbf(action, w.action_difference_kernel)
        memory[i, 3] += landed
        memory[i, 4] += flips


@compiled
def _add_turn(memory: Array, backward: float, airborne: bool) -> None:
    """Add an angle [rad] to those turned since the robot last stood."""
    memory[0] += backward
    if airborne:
        memory[1] += backward
    memory[5] = max(memory[5], memory[0])
    memory[6] = max(memory[6], memory[1])


@compiled
def _measure_progress(memory: Array) -> tuple[float, float]:
    """Return rewarded turns so far [-], and turns in the air, squared [-]."""
    turned = max(min(memory[5], _MAX_PAID) - _UNPAID, 0.0) / _FULL_TURN
    return turned, square(min(memory[6] / _FULL_TURN, 1.0))


@compiled
def _reset_angles(memory: Array) -> None:
    """Set the angles turned since the robot last stood to 0."""
    memory[0], memory[1], memory[5], memory[6] = 0.0, 0.0, 0.0, 0.0


@compiled
def _count_landed(
    now: Readings, i: int, memory: Array, landing: Landing, hold: int
) -> tuple[float, float]:
    """Count steps on the feet; return the turns and flips landed in this step."""
    touching = now.foot_touches[i].sum()
    on_feet = (
        is_upright(now, i, landing.tilt)
        and not now.body_touches[i]
        and 2 * touching >= now.foot_touches.shape[1]
    )
    memory[2] = count_steps(memory[2], on_feet)
    if memory[2] < hold:
        return 0.0, 0.0
    # Upright now, and tilted by less than 90 degrees at the start: rounding is exact.
    turns = max(np.round(memory[0] / _FULL_TURN), 0.0)
    flips = turns if memory[1] >= landing.air_angle else 0.0
    _reset_angles(memory)
    return turns, flips


@compiled
def _take_back(now: Readings, i: int, memory: Array) -> float:
    """Return minus the rewarded turns that a robot loses by falling sideways."""
    if abs(now.gravity[i, 1]) <= _SIDEWAYS:
        return 0.0
    lost = -_measure_progress(memory)[0]
    _reset_angles(memory)
    return lost
