"""Replays of a plan in the simulator: does the robot really get up?

A chain of landings is a promise. Before the program says that a robot can get up, the
plan is followed from every pose, move by move, and each move starts where the one
before has ended.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.access.attempts import Attempts
from kaccess.access.estimate import is_close
from kaccess.access.plan import Plan
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import AccessConfig
from kaccess.engines import Engine

__all__ = ["Replay", "replay_plan"]

_MOST_MOVES = 10


@dataclass(frozen=True)
class Replay:
    """Chains of moves from n states, as the simulator played them.

    Args:
        n_moves: (n,) moves until the robot stood; 0 if it did not.
        commands: (n, m) number of the command of each move; -1 after the last move.
        states: (n, m + 1, nq) start, and where each move ended; NaN after the last.
        seconds: (n, m) time of each move until at rest [s]; inf if it was not, NaN
            after the last one.
    """

    n_moves: IntArray
    commands: IntArray
    states: Array
    seconds: Array

    def is_up_within(self, seconds: float) -> BoolArray:
        """Return from which states the robot stood up within some time [s], (n,)."""
        taken = np.nansum(self.seconds, axis=1)
        return np.asarray((self.n_moves > 0) & (taken <= seconds))


def replay_plan(
    plan: Plan,
    qpos: Array,
    config: AccessConfig,
    *,
    engine: Engine,
    progress: Progress | None = None,
) -> Replay:
    """Follow a plan from resting states, until the robot stands or ten moves are made.

    Args:
        plan: Says what to command in any posture.
        qpos: (n, nq) states at rest.
        config: Time limit of a move, and when standing counts as reached.
        engine: Simulator.
        progress: Called with (moves made, moves at most).
    """
    robot, n = plan.nodes.robot, len(qpos)
    config = robot.scale.fit(config)
    replay = Replay(
        n_moves=np.zeros(n, np.int64),
        commands=np.full((n, _MOST_MOVES), -1),
        states=np.full((n, _MOST_MOVES + 1, qpos.shape[1]), np.nan),
        seconds=np.full((n, _MOST_MOVES), np.nan),
    )
    replay.states[:, 0] = qpos
    lying, tried = np.arange(n), Attempts.none(n, robot.model.nu)
    for move in range(_MOST_MOVES):
        if progress:
            progress(move, _MOST_MOVES)
        if not len(lying):
            break
        start = replay.states[lying, move]
        joints = robot.get_joints(start)
        gravity = gravity_in_body(start[:, 3:7])
        command, _, _ = plan.choose(gravity, joints, tried[lying])
        tried.add(lying, gravity, joints, command)
        motion = plan.commands.start(command, joints)
        settled = engine.settle(start, motion, time_limit=config.time_limit)
        end = np.where(settled.diverged[:, None], start, settled.qpos)
        replay.commands[lying, move] = command
        replay.states[lying, move + 1] = end
        replay.seconds[lying, move] = settled.time
        stand = np.repeat(plan.nodes.qpos[-1:], len(end), axis=0)
        up = is_close(robot, end, stand, config) & np.isfinite(settled.time)
        replay.n_moves[lying[up]] = move + 1
        lying = lying[~up]
    if progress:
        progress(_MOST_MOVES, _MOST_MOVES)
    return replay
