"""Do model and robot agree? Single moves, compared with what the IMU sees.

A move is what the matrix of accessibility is made of: the robot lies at rest, is told
to take the joints of a pose, and comes to rest again. The model makes the same move
from the attitude that the IMU showed before it. Both are compared by the angle between
their gravity vectors at the end.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.base.stats import Interval, bootstrap, wilson
from kaccess.base.types import Array, IntArray
from kaccess.config import EngineConfig
from kaccess.deploy.angles import Angles
from kaccess.deploy.frames import Player
from kaccess.deploy.placing import place
from kaccess.deploy.session import Session
from kaccess.deploy.skills import SPEED
from kaccess.robots import Robot

__all__ = ["Agreement", "check_moves"]

AGREE = 20.0  # [deg]: half of what separates lying on the side from lying on the belly
_TURNS = 45.0  # [deg]: moves that turn the robot are worth most
_SETTLE, _HOLD = 0.5, 2.0  # [s], before and after a move of the model


@dataclass(frozen=True)
class Agreement:
    """How far a robot and its model agree.

    Args:
        angles: (n,) angle between measured and predicted gravity after each move [deg].
        turns: (n,) angle by which each move turned the robot [deg].
    """

    angles: Array
    turns: Array

    @property
    def share(self) -> Interval:
        """Share of moves that end within 20 deg of the prediction."""
        return wilson(int((self.angles < AGREE).sum()), len(self.angles))

    @property
    def median(self) -> Interval:
        """Median angle between measured and predicted gravity [deg]."""
        return bootstrap(
            self.angles,
            lambda each: float(np.median(each)),
            rng=np.random.default_rng(0),
        )

    @property
    def text(self) -> str:
        """The agreement in words."""
        turned = int((self.turns > AGREE).sum())
        return (
            f"Model and robot agree in {(self.angles < AGREE).sum()} of "
            f"{len(self.angles)} moves: {self.share.text('.0%')}, within "
            f"{AGREE:.0f} deg. Median difference: {self.median.text('.1f')} deg. "
            f"{turned} moves turned the robot by more than {AGREE:.0f} deg."
        )


def check_moves(
    session: Session, postures: IntArray, n: int, *, seed: int = 0
) -> Agreement:
    """Make n moves, and compare where the robot and its model come to rest.

    Args:
        session: Session with the robot.
        postures: (p, 8) joint angles of poses to draw from [deg].
        n: Number of moves.
        seed: Seed of the draw.
    """
    rng, robot = np.random.default_rng(seed), session.robot
    degrees = session.angles.to_degrees(session.angles.to_radians(postures))
    session.move_slowly(robot.standing_targets)
    session.await_rest()
    seen, expected = [session.gravity], []
    for _ in range(n):
        start = np.tile(session.angles.to_degrees(session.target), (len(degrees), 1))
        ends = predict(robot, np.tile(seen[-1], (len(degrees), 1)), start, degrees)
        chosen = _choose(_measure_angles(ends, seen[-1]), rng)
        session.command(session.angles.to_radians(degrees[chosen]))
        session.await_rest()
        seen.append(session.gravity)
        expected.append(ends[chosen])
    after = np.array(seen[1:])
    return Agreement(
        _measure_angles(after, np.array(expected)),
        _measure_angles(after, np.array(seen[:-1])),
    )


def _choose(turns: Array, rng: np.random.Generator) -> int:
    """Return a move: every other time one that turns the robot, if there is any."""
    turning = np.flatnonzero(turns > _TURNS)
    if len(turning) and rng.random() < 0.5:
        return int(rng.choice(turning))
    return int(rng.integers(len(turns)))


def predict(robot: Robot, gravity: Array, start: IntArray, end: IntArray) -> Array:
    """Return gravity after moves of the model, (n, 3).

    Args:
        robot: The model.
        gravity: (n, 3) gravity before the moves.
        start: (n, 8) joint angles before them [deg].
        end: (n, 8) joint angles that are commanded [deg].
    """
    qpos = place(robot, gravity, Angles(robot).to_radians(start))
    player = Player(robot, qpos, speed=SPEED, engine=EngineConfig(threads=1))
    n = len(qpos)
    player.move(start.astype(float), np.full(n, _SETTLE))
    player.move(end.astype(float), np.full(n, _HOLD))
    return player.gravity


def _measure_angles(a: Array, b: Array) -> Array:
    """Return angles between unit vectors, (n, 3) or (3,) each [deg]."""
    cosine = np.clip((a * b).sum(axis=-1), -1.0, 1.0)
    return np.asarray(np.rad2deg(np.arccos(cosine)))
