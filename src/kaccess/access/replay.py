"""Replays of a plan in the simulator: does the robot really get up?

A chain of landings is a promise. Before the program says that a robot can get up, the
plan is followed from every pose, move by move, and each move starts where the one
before has ended.
"""

import numpy as np

from kaccess.access.estimate import is_close
from kaccess.access.landings import Nodes
from kaccess.access.plan import Plan
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, IntArray
from kaccess.config import AccessConfig
from kaccess.engines import Engine
from kaccess.poses import Poses

__all__ = ["replay_plan"]

_MOST_MOVES = 10


def replay_plan(
    poses: Poses, nodes: Nodes, plan: Plan, config: AccessConfig, *, engine: Engine
) -> IntArray:
    """Return the number of moves in which each pose stands up, (n,); 0 if it does not.

    Args:
        poses: n poses.
        nodes: The poses, and standing.
        plan: Says what to command in any posture.
        config: Time limit of a move, and when standing counts as reached.
        engine: Simulator.
    """
    robot, config = poses.robot, poses.robot.scale.fit(config)
    targets = np.concatenate([poses.joints, robot.standing_targets[None]])
    state, n_moves = poses.qpos.copy(), np.zeros(len(poses), np.int64)
    stand = nodes.qpos[-1:]
    for move in range(1, _MOST_MOVES + 1):
        lying = np.flatnonzero(n_moves == 0)
        if not len(lying):
            break
        command = _choose(plan, robot.get_joints(state[lying]), state[lying])
        settled = engine.settle(
            state[lying], targets[command], time_limit=config.time_limit
        )
        up = is_close(robot, settled.qpos, np.repeat(stand, len(lying), axis=0), config)
        n_moves[lying[up & np.isfinite(settled.time)]] = move
        fine = ~settled.diverged
        state[lying[fine]] = settled.qpos[fine]
    return n_moves


def _choose(plan: Plan, joints: Array, qpos: Array) -> IntArray:
    return plan.choose(gravity_in_body(qpos[:, 3:7]), joints)[0]
