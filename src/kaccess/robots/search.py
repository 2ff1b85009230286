"""Search for a posture in which a robot stands, by the cross-entropy method.

Postures are drawn around one that falls over, those that stay up the longest and the
highest are kept, and the next ones are drawn around these. Of the postures that stand,
the one with the highest base wins.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.robots.mirror import pair_joints
from kaccess.robots.stance import Judge, place_on_floor

if TYPE_CHECKING:
    from kaccess.robots.robot import Robot

__all__ = ["search_stance"]

_N_POSTURES, _N_ROUNDS = 40, 8
_N_MORE = 2  # rounds after the first posture that stands, to find a higher one
_ELITE = 8
_SPREADS = (0.2, 0.6)  # [rad], of the first draws: first nearby, then far
_LEAST_SPREAD = 0.02  # [rad], added in each round


def search_stance(
    robot: "Robot", judge: Judge, qpos: Array, targets: Array
) -> tuple[Array, Array] | None:
    """Return a standing state, (nq,), and the targets that hold it, (nu,).

    Args:
        robot: Robot.
        judge: Says which postures stand.
        qpos: (nq,) state to search around.
        targets: (nu,) joint targets to search around.

    Returns:
        The highest state that stands; None if none was found.
    """
    for spread in _SPREADS:
        found = _search_around(robot, judge, qpos, targets, spread)
        if found is not None:
            return found
    return None


def _search_around(
    robot: "Robot", judge: Judge, qpos: Array, targets: Array, width: float
) -> tuple[Array, Array] | None:
    """Search with first draws of a width [rad]; arguments as in `search_stance`."""
    rng = np.random.default_rng(0)
    low, high = robot.joint_range.T
    symmetric = _make_symmetric(robot)
    centre, spread = targets.clip(low, high), np.full(len(targets), width)
    best, n_more = None, _N_MORE
    for _ in range(_N_ROUNDS):
        drawn = centre + spread * rng.normal(size=(_N_POSTURES, len(centre)))
        drawn = symmetric(drawn).clip(low, high)
        start = np.array([_take(robot, qpos, each) for each in drawn])
        held, stands = judge.hold(start, drawn)
        for row in np.flatnonzero(stands):
            if best is None or held.qpos[row, 2] > best[0][2]:
                best = held.qpos[row], drawn[row]
        if best is not None and (n_more := n_more - 1) < 0:
            break
        elite = drawn[np.argsort(-held.upright)[:_ELITE]]
        centre, spread = elite.mean(axis=0), elite.std(axis=0) + _LEAST_SPREAD
    return best


def _take(robot: "Robot", qpos: Array, joints: Array) -> Array:
    """Return a state with other joint positions, put on the floor."""
    state = qpos.copy()
    state[robot.joint_adr] = joints
    return place_on_floor(robot, state)


def _make_symmetric(robot: "Robot") -> Callable[[Array], Array]:
    """Return a function that makes joints, (n, nu), symmetric if the robot is."""
    try:
        mirror = pair_joints(robot)
    except InputError:
        return lambda joints: joints
    return lambda joints: (joints + mirror.reflect_joints(joints)) / 2
