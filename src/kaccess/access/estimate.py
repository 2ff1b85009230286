"""Transition times: start at rest in a pose, and command the joints of another pose.

`times[i, j]` is the time in seconds from pose i to pose j: 0 on the diagonal, inf where
j is not reached. The work is split into tiles of a few whole rows. Results do not
depend on the split.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kaccess.access.commands import Commands
from kaccess.access.landings import Landings, Nodes
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import FLOOR, AccessConfig, EngineConfig, EngineName
from kaccess.engines import Engine, as_engine
from kaccess.engines.motion import Motion
from kaccess.poses import Poses
from kaccess.robots import Robot, find_mirror

__all__ = [
    "Outcome",
    "Transitions",
    "accessibility",
    "estimate_pairs",
    "estimate_rows",
    "estimate_times",
    "estimate_to_standing",
    "find_nodes",
    "is_close",
    "merge_rows",
    "split_rows",
]

Number = TypeVar("Number", bound=np.number[Any])

_TILE_PAIRS = 2048  # a few seconds of work on two cores
_MOST_TILES = 10_000  # of a study: a tile is a file of each array


class Outcome(IntEnum):
    """How a transition ended."""

    PENDING = 0
    REACHED = 1
    ELSEWHERE = 2
    RESTLESS = 3
    DIVERGED = 4


@dataclass(frozen=True)
class Transitions:
    """Times and outcomes of transitions, two arrays of the same shape.

    Args:
        times: Time until at rest in the goal pose [s], float32; inf if not reached.
        outcomes: `Outcome` of each transition, uint8.
        landings: Where each transition came to rest; None if not asked for.
    """

    times: Array
    outcomes: IntArray
    landings: Landings | None = None


def estimate_times(
    poses: Poses,
    config: AccessConfig | None = None,
    *,
    engine: Engine | EngineName | EngineConfig = "mujoco",
    progress: Progress | None = None,
) -> Array:
    """Estimate the time from each pose to each other pose.

    Args:
        poses: n static poses of one robot.
        config: Time limit, and tolerances within which a pose counts as reached.
        engine: Simulator, or its name or settings.
        progress: Called with (pairs done, n * n) from time to time.

    Returns:
        (n, n) times [s], float32; entry [i, j] is from i to j, inf if not reached.
    """
    config = config or AccessConfig()
    engine = as_engine(engine, poses.robot)
    n = len(poses)
    times = np.full((n, n), np.nan, np.float32)
    for rows in split_rows(n, engine.batch_size):
        times[rows.start : rows.stop] = estimate_rows(
            poses, rows, config, engine=engine
        ).times
        if progress:
            progress(rows.stop * n, n * n)
    return times


def accessibility(times: Array) -> Array:
    """Return `exp(-times)`, or 1e-8 if that is larger; NaN stays NaN."""
    times = np.asarray(times)
    access = np.exp(-times.astype(np.result_type(times, np.float32)))
    return np.asarray(np.maximum(access, access.dtype.type(FLOOR)))


def split_rows(n: int, n_pairs: int = 0) -> list[range]:
    """Split n rows of n pairs into tiles: about `n_pairs` each, an even row count.

    By default they are those of a study: small, unless there would be too many.
    """
    fewest = 1 if n_pairs else -(-n // (2 * _MOST_TILES))
    size = 2 * max(1, (n_pairs or _TILE_PAIRS) // n // 2, fewest)
    return [range(start, min(start + size, n)) for start in range(0, n, size)]


def merge_rows(tiles: list[range], n_rows: int) -> list[range]:
    """Join adjacent tiles as long as a joined tile has at most `n_rows` rows."""
    merged: list[range] = []
    for tile in tiles:
        joined = range(merged[-1].start, tile.stop) if merged else tile
        if merged and merged[-1].stop == tile.start and len(joined) <= n_rows:
            merged[-1] = joined
        else:
            merged.append(tile)
    return merged


def estimate_rows(
    poses: Poses,
    rows: range,
    config: AccessConfig,
    *,
    engine: Engine,
    nodes: Nodes | None = None,
    progress: Progress | None = None,
) -> Transitions:
    """Estimate the transitions from some poses to all, (len(rows), n).

    With mirrored poses only even rows are simulated: the row of a mirrored pose is that
    of its partner with the columns of partners swapped. `progress` is called
    with (simulations done, total). Landings are found if `nodes` are given.
    """
    if not poses.mirrored:
        return _simulate_rows(poses, rows, config, engine, nodes, progress)
    assert rows.start % 2 == 0 and len(rows) % 2 == 0  # whole mirrored pairs
    half = _simulate_rows(poses, rows[::2], config, engine, nodes, progress)
    found = half.landings
    return Transitions(
        _add_partners(half.times),
        _add_partners(half.outcomes),
        None if found is None else _mirror_landings(found, poses.robot),
    )


def _mirror_landings(half: Landings, robot: Robot) -> Landings:
    """Insert the landings of mirrored poses: at the partners of the nodes."""
    n, mirror = half.node.shape[1], find_mirror(robot)
    node = _add_partners(half.node)
    node[1::2] = np.where(node[1::2] < n, node[1::2] ^ 1, n)
    assert half.states is not None
    states = _add_partners(half.states)
    nq = states.shape[-1]
    reflected = mirror.reflect_qpos(states[1::2].reshape(-1, nq))
    states[1::2] = reflected.reshape(states[1::2].shape)
    return Landings(
        node, _add_partners(half.distance), _add_partners(half.seconds), states
    )


def _add_partners(rows: NDArray[Number]) -> NDArray[Number]:
    """Insert the row of each mirrored pose, (n, ...), after that of its partner."""
    partner = np.arange(rows.shape[1]) ^ 1
    both = np.stack([rows, rows[:, partner]], axis=1)
    return both.reshape(-1, *rows.shape[1:])


def find_nodes(poses: Poses, config: AccessConfig, *, engine: Engine) -> Nodes | None:
    """Return the nodes of the posture graph; None if the robot does not stay standing.

    Standing is the state in which the robot comes to rest when it starts standing and
    holds its joints.
    """
    robot, config = poses.robot, poses.robot.scale.fit(config)
    joints = robot.standing_targets[None]
    stand = engine.settle(robot.standing[None], joints, time_limit=config.time_limit)
    stays = is_close(robot, stand.qpos, robot.standing[None], config).all()
    if not (stays and robot.stance.stands):
        return None
    return Nodes(robot, poses.qpos, stand.qpos[0], config)


def estimate_to_standing(
    poses: Poses, config: AccessConfig, *, engine: Engine, nodes: Nodes | None = None
) -> Transitions | None:
    """Estimate the transition from each pose to standing, (n,).

    Return None if the robot does not stay standing. `nodes` are those of `find_nodes`,
    if known.
    """
    nodes = find_nodes(poses, config, engine=engine) if nodes is None else nodes
    if nodes is None:
        return None
    robot, n = poses.robot, len(poses)
    goal = np.repeat(nodes.qpos[-1:], n, axis=0)
    targets = np.repeat(robot.standing_targets[None], n, axis=0)
    return _measure(robot, poses.qpos, targets, goal, config, engine, nodes)


def estimate_pairs(
    poses: Poses,
    source: IntArray,
    goal: IntArray,
    config: AccessConfig,
    *,
    engine: Engine,
    nodes: Nodes | None = None,
    progress: Progress | None = None,
) -> Transitions:
    """Estimate the transitions from poses `source`, (b,), to poses `goal`, (b,)."""
    times = np.zeros(len(source), np.float32)
    outcomes = np.full(len(source), Outcome.REACHED, np.uint8)
    moves = source != goal  # a pose reaches itself in no time
    start, end = poses.qpos[source[moves]], poses.qpos[goal[moves]]
    targets = poses.robot.get_joints(end)
    measured = _measure(
        poses.robot, start, targets, end, config, engine, nodes, progress
    )
    times[moves], outcomes[moves] = measured.times, measured.outcomes
    if measured.landings is None:
        return Transitions(times, outcomes)
    states = poses.qpos[source].astype(np.float32)
    still = Landings(
        source.astype(np.int32), np.zeros_like(times), times.copy(), states
    )
    return Transitions(times, outcomes, still.replace(moves, measured.landings))


def _simulate_rows(
    poses: Poses,
    rows: range,
    config: AccessConfig,
    engine: Engine,
    nodes: Nodes | None,
    progress: Progress | None,
) -> Transitions:
    n = len(poses)
    source, goal = np.repeat(rows, n), np.tile(np.arange(n), len(rows))
    flat = estimate_pairs(
        poses, source, goal, config, engine=engine, nodes=nodes, progress=progress
    )
    landings = None if flat.landings is None else flat.landings.reshape(-1, n)
    return Transitions(
        flat.times.reshape(-1, n), flat.outcomes.reshape(-1, n), landings
    )


def _measure(
    robot: Robot,
    start: Array,
    targets: Array,
    goal: Array,
    config: AccessConfig,
    engine: Engine,
    nodes: Nodes | None = None,
    progress: Progress | None = None,
) -> Transitions:
    """Hold `targets`, (b, nu), from states `start`; compare with states `goal`."""
    config = robot.scale.fit(config)
    command = targets if not config.move_time else _ramp(robot, start, targets, config)
    settled = engine.settle(
        start, command, time_limit=config.time_limit, progress=progress
    )
    close = is_close(robot, settled.qpos, goal, config)
    outcomes = np.select(
        [settled.diverged, ~np.isfinite(settled.time), ~close],
        [int(Outcome.DIVERGED), int(Outcome.RESTLESS), int(Outcome.ELSEWHERE)],
        int(Outcome.REACHED),
    ).astype(np.uint8)
    times = np.where(outcomes == Outcome.REACHED, settled.time, np.inf)
    landings = None
    if nodes is not None:
        landings = nodes.find_landings(settled.qpos, settled.time)
    return Transitions(times.astype(np.float32), outcomes, landings)


def _ramp(robot: Robot, start: Array, targets: Array, config: AccessConfig) -> Motion:
    """Return motions from states, (b, nq), to targets, (b, nu)."""
    commands = Commands.to(targets, config.move_time)
    return commands.start(np.arange(len(targets)), robot.get_joints(start))


def is_close(robot: Robot, qpos: Array, goal: Array, config: AccessConfig) -> BoolArray:
    """Return whether states, (b, nq), are close to goals, (b, nq)."""
    joints = robot.subtract_joints(robot.get_joints(qpos), robot.get_joints(goal))
    height = qpos[:, 2] - goal[:, 2]
    gravity = gravity_in_body(qpos[:, 3:7]) - gravity_in_body(goal[:, 3:7])
    return np.asarray(
        (np.linalg.norm(joints, axis=1) < config.joint_tol)
        & (np.abs(height) < config.height_tol)
        & (np.linalg.norm(gravity, axis=1) < config.gravity_tol)
    )
