"""Single pairs of poses that come in mirrored pairs, as `estimate_rows` has them."""

from dataclasses import replace

import numpy as np

from kaccess.access.estimate import Transitions, estimate_pairs
from kaccess.access.landings import Landings, Nodes
from kaccess.base.types import BoolArray, IntArray, Progress
from kaccess.config import AccessConfig
from kaccess.engines import Engine
from kaccess.poses import Poses
from kaccess.robots import Robot, find_mirror

__all__ = ["estimate_single_pairs"]


def estimate_single_pairs(
    poses: Poses,
    source: IntArray,
    goal: IntArray,
    config: AccessConfig,
    *,
    engine: Engine,
    nodes: Nodes | None = None,
    progress: Progress | None = None,
) -> Transitions:
    """Estimate the transitions from poses, (b,), to poses, (b,), as whole rows do.

    With mirrored poses, moves from odd poses are mirror images of those from even ones.
    """
    odd = (source % 2 == 1) & poses.mirrored
    first, second = np.where(odd, source - 1, source), np.where(odd, goal ^ 1, goal)
    found = estimate_pairs(
        poses, first, second, config, engine=engine, nodes=nodes, progress=progress
    )
    if found.landings is None or not odd.any():
        return found
    reflected = _reflect(found.landings, odd, poses.robot, len(poses))
    return replace(found, landings=reflected)


def _reflect(landings: Landings, odd: BoolArray, robot: Robot, n: int) -> Landings:
    """Return landings, (b,), with some of them mirrored: at partners of the nodes."""
    assert landings.states is not None
    node, states = landings.node.copy(), landings.states.copy()
    node[odd] = np.where(node[odd] < n, node[odd] ^ 1, n)
    states[odd] = find_mirror(robot).reflect_qpos(states[odd])
    return Landings(node, landings.distance, landings.seconds, states)
