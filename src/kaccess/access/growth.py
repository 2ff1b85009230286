"""Growth of a posture graph: poses and commands are added where they are needed.

Random poses are rarely near standing, and moves often end where no pose is near. Each
round follows the plan from fresh poses. The states in which it got stuck, and the ends
of moves that no pose is near, join the graph. So do postures around standing from which
the robot stands up again. All of them are new commands, too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
from scipy.spatial.distance import cdist

from kaccess.access.commands import Commands
from kaccess.access.estimate import is_close
from kaccess.access.landings import Nodes
from kaccess.access.plan import Plan
from kaccess.access.posture_graph import (
    Moves,
    PostureGraph,
    insert_commands,
    simulate_commands,
    simulate_moves,
)
from kaccess.access.replay import Replay, replay_plan
from kaccess.base.progress import scale_progress
from kaccess.base.types import Array, BoolArray, Progress
from kaccess.config import GrowConfig
from kaccess.engines import Engine
from kaccess.poses import level

__all__ = [
    "GrowthRound",
    "PlanTest",
    "extend_graph",
    "find_new_poses",
    "find_springboards",
    "grow_graph",
    "spread_out",
]

PlanTest = Callable[[Plan, Array], BoolArray]
"""Returns from which poses, (n, nq), a robot that follows a plan stands up in time."""

_NEAR = 1.0  # [tolerances], new poses are at least as far from all others
_FAR = 2.0  # [tolerances], ends of moves this far from all poses may become poses
_MOST_CANDIDATES = 2000  # states among which new poses are chosen
_N_POSTURES = 256  # postures around standing that are tried
_LEAST_SHARE = 0.05  # of the way from standing to a random posture


@dataclass(frozen=True)
class GrowthRound:
    """A round of growth: how large the graph is, and how good.

    Args:
        n_poses: Number of poses.
        n_commands: Number of commands.
        n_in_time: Number of fresh poses from which the robot stood up in time.
        n_up: Number of fresh poses from which it stood up at all.
        n_tests: Number of fresh poses.
    """

    n_poses: int
    n_commands: int
    n_in_time: int
    n_up: int
    n_tests: int


def grow_graph(
    graph: PostureGraph,
    config: GrowConfig,
    *,
    horizon: float,
    draw: Callable[[int], Array],
    engine: Engine,
    replayer: Engine,
    test: PlanTest | None = None,
    progress: Progress | None = None,
) -> Iterator[tuple[PostureGraph, GrowthRound]]:
    """Grow a graph until the robot stands up from nearly all fresh poses in time.

    Args:
        graph: Posture graph.
        config: When to stop.
        horizon: Time to stand up; the values of a plan fall to 1/e in it [s].
        draw: Returns the fresh poses of a round, (config.tests, nq).
        engine: Simulator of all moves of new poses and commands.
        replayer: Simulator that follows plans: a few moves at a time.
        test: How a plan is tested; by default by its replays.
        progress: Called with (poses in the graph, most poses) from time to time.

    Yields:
        The graph before each round, and how good it is.
    """
    best, n_worse = -1, 0
    for number in count():
        plan = graph.make_plan(horizon=horizon)
        fresh = draw(number)
        replay = replay_plan(plan, fresh, graph.nodes.config, engine=replayer)
        in_time = test(plan, fresh) if test else replay.is_up_within(horizon)
        found = _judge(graph, replay, in_time)
        yield graph, found
        n_worse = 0 if found.n_in_time > best else n_worse + 1
        best, room = max(best, found.n_in_time), config.most - found.n_poses
        good = found.n_in_time >= config.share * found.n_tests
        if good or room <= 0 or n_worse == config.patience:
            return
        boards = graph.nodes.qpos[:0]
        if number == 0:
            boards = find_springboards(graph, config, engine=engine)[:room]
        most = min(config.added, room - len(boards))
        new = find_new_poses(graph, replay, in_time, most, boards=boards)
        if not len(new):
            return
        part = scale_progress(progress, found.n_poses, len(new), config.most)
        graph = extend_graph(graph, new, engine=engine, progress=part)


def _judge(graph: PostureGraph, replay: Replay, in_time: BoolArray) -> GrowthRound:
    return GrowthRound(
        n_poses=len(graph.nodes) - 1,
        n_commands=len(graph.commands),
        n_in_time=int(in_time.sum()),
        n_up=int((replay.n_moves > 0).sum()),
        n_tests=len(replay.n_moves),
    )


def extend_graph(
    graph: PostureGraph,
    qpos: Array,
    skills: Commands | None = None,
    *,
    engine: Engine,
    progress: Progress | None = None,
) -> PostureGraph:
    """Return the graph with new poses, which are new commands too, and with skills.

    Args:
        graph: Posture graph.
        qpos: (g, nq) new poses.
        skills: Further new commands.
        engine: Simulator.
        progress: Called with (moves simulated, moves to simulate).
    """
    nodes = graph.nodes
    commands = Commands.to(nodes.robot.get_joints(qpos), nodes.config.move_time)
    commands = commands if skills is None else commands + skills
    all_commands = insert_commands(graph.commands, commands)
    n_rows, n_columns = len(qpos) * len(all_commands), (len(nodes) - 1) * len(commands)

    def simulate(states: Array, some: Commands, done: int) -> Moves:
        n = n_rows + n_columns
        part = scale_progress(progress, done, len(states) * len(some), n)
        return simulate_moves(nodes, states, some, engine=engine, progress=part)

    rows = simulate(qpos, all_commands, 0)
    columns = simulate(nodes.qpos[:-1], commands, n_rows)
    return graph.add(qpos, commands, rows=rows, columns=columns)


def find_new_poses(
    graph: PostureGraph, replay: Replay, in_time: BoolArray, most: int, *, boards: Array
) -> Array:
    """Return states that should become poses, (b + g, nq), the most needed first.

    Args:
        graph: Posture graph.
        replay: Chains from n fresh poses.
        in_time: (n,) from which of them the robot stood up in time.
        most: Largest number of poses to find, g.
        boards: (b, nq) springboards; the poses found are not near them.
    """
    stuck = _list_rested(replay, ~in_time)
    found = spread_out(graph.nodes.add(boards), stuck, most)
    new, landings = np.concatenate([boards, found]), graph.landings
    if len(found) == most or landings.states is None:
        return new
    is_far = np.isfinite(landings.seconds) & (landings.distance > _FAR)
    far = landings.states[is_far].astype(np.float64)
    more = spread_out(graph.nodes.add(new), far, most - len(found))
    return np.concatenate([new, more])


def _list_rested(replay: Replay, rows: BoolArray) -> Array:
    """Return the states at rest in some chains of a replay, (b, nq)."""
    ends = np.isfinite(replay.seconds[rows])
    rested = np.concatenate([np.ones((len(ends), 1), bool), ends], axis=1)
    return np.asarray(replay.states[rows][rested])


def spread_out(nodes: Nodes, states: Array, most: int) -> Array:
    """Return states far from all nodes and from one another, the farthest first."""
    if not len(states):
        return states
    order = np.random.default_rng(0).permutation(len(states))[:_MOST_CANDIDATES]
    states = level(states[order])
    places = nodes.embed(states)
    distance = cdist(places, nodes.places).min(axis=1)
    chosen: list[int] = []
    while len(chosen) < most and distance.max() > _NEAR:
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, cdist(places, places[chosen[-1:]])[:, 0])
    return states[chosen]


def find_springboards(
    graph: PostureGraph, config: GrowConfig, *, engine: Engine
) -> Array:
    """Return postures around standing from which the robot stands up again, (g, nq).

    They are found backwards: the robot goes from standing towards a random posture, a
    random share of the way, and is then commanded to stand.
    """
    nodes, rng = graph.nodes, np.random.default_rng(config.seed)
    robot, n = nodes.robot, _N_POSTURES
    low, high = robot.joint_range.T
    targets = robot.standing_targets
    away = rng.uniform(low, high, (n, len(low))) - targets
    goals = targets + rng.uniform(_LEAST_SHARE, 1.0, (n, 1)) * away
    there = Commands.to(goals, nodes.config.move_time)
    left = simulate_commands(nodes, nodes.qpos[-1:], there, engine=engine)
    rested = left.states[0][np.isfinite(left.seconds[0])].astype(np.float64)
    up = simulate_commands(nodes, rested, graph.commands[-1:], engine=engine)
    stand = np.repeat(nodes.qpos[-1:], len(rested), axis=0)
    stands = is_close(robot, up.states[:, 0].astype(np.float64), stand, nodes.config)
    good = rested[stands & np.isfinite(up.seconds[:, 0])]
    return spread_out(nodes, good, config.added // 2)
