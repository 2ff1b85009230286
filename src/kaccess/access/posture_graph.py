"""The posture graph: resting poses, commands, and where each command ends.

It begins with the poses of a study, all moves between them, and the moves to standing.
Growth adds poses and commands; a search adds commands of several postures (skills).
"""

from dataclasses import dataclass, replace

import numpy as np

from kaccess.access.commands import Commands
from kaccess.access.landings import AT_NODE, Landings, Nodes
from kaccess.access.plan import Plan
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.engines import Engine
from kaccess.poses import level

__all__ = [
    "Moves",
    "PostureGraph",
    "insert_commands",
    "simulate_commands",
    "simulate_moves",
]

_N_REPEATS = 5  # disturbed repeats of a skill
_DISTURBANCE = 0.1  # [tolerances], of the joints in these repeats


@dataclass(frozen=True)
class Moves:
    """Where commands end, from each of b states.

    Args:
        states: (b, m, nq) states at the end, float32.
        seconds: (b, m) time until at rest [s], float32; inf if not.
    """

    states: Array
    seconds: Array

    def find_landings(self, nodes: Nodes) -> Landings:
        """Return the nodes nearest to where they end, (b, m); states stay as they are.

        To level a state twice would turn it a little, by rounding.
        """
        b, m, nq = self.states.shape
        found = nodes.find_landings(self.states.reshape(-1, nq), self.seconds.ravel())
        return replace(found.reshape(b, m), states=self.states)


@dataclass(frozen=True)
class PostureGraph:
    """Nodes, commands, and where each command lands from each node.

    Args:
        nodes: n poses, and standing as node n.
        commands: m commands; the last one is standing.
        landings: (n, m) where each command lands from each pose.
    """

    nodes: Nodes
    commands: Commands
    landings: Landings

    @classmethod
    def between(
        cls, nodes: Nodes, landings: Landings, commanded: IntArray | None = None
    ) -> "PostureGraph":
        """Return the graph of all moves between poses, and of those to standing.

        Args:
            nodes: n poses, and standing as node n.
            landings: (n, m + 1) landings of the moves to poses, and to standing.
            commanded: (m,) the poses whose joints are commanded; by default all.
        """
        joints = nodes.robot.get_joints(nodes.qpos)
        joints[-1] = nodes.robot.standing_targets
        if commanded is not None:
            joints = joints[np.append(commanded, len(joints) - 1)]
        return cls(nodes, Commands.to(joints, nodes.config.move_time), landings)

    def make_plan(self, *, horizon: float) -> Plan:
        """Return the best commands; values fall to 1/e over the horizon [s]."""
        return Plan(self.nodes, self.commands, self.landings, horizon=horizon)

    def add(
        self, qpos: Array, commands: Commands, *, rows: Moves, columns: Moves
    ) -> "PostureGraph":
        """Return the graph with more poses and commands; standing stays the last.

        Args:
            qpos: (g, nq) new poses.
            commands: c new commands.
            rows: (g, m + c) where all commands end from the new poses; the new ones are
                the last before standing.
            columns: (n, c) where the new commands end from the old poses.
        """
        old = self.landings
        assert old.states is not None
        states = np.concatenate([_insert(old.states, columns.states), rows.states])
        seconds = np.concatenate([_insert(old.seconds, columns.seconds), rows.seconds])
        nodes = self.nodes.add(qpos)
        return PostureGraph(
            nodes,
            insert_commands(self.commands, commands),
            Moves(states, seconds).find_landings(nodes),
        )


def insert_commands(commands: Commands, more: Commands) -> Commands:
    """Return commands with others before the last one, which is standing."""
    return commands[:-1] + more + commands[-1:]


def _insert(old: Array, new: Array) -> Array:
    """Return columns with others before the last one, which is standing."""
    return np.concatenate([old[:, :-1], new, old[:, -1:]], axis=1)


def simulate_commands(
    nodes: Nodes,
    qpos: Array,
    commands: Commands,
    *,
    engine: Engine,
    progress: Progress | None = None,
) -> Moves:
    """Simulate all commands from all states.

    Args:
        nodes: Nodes of the graph; they know the robot and the time limit of a move.
        qpos: (b, nq) states at rest.
        commands: m commands.
        engine: Simulator.
        progress: Called with (moves simulated, b * m) from time to time.
    """
    b, m = len(qpos), len(commands)
    start = np.repeat(qpos, m, axis=0)
    motion = commands.start(np.tile(np.arange(m), b), nodes.robot.get_joints(start))
    limit = nodes.config.time_limit
    settled = engine.settle(start, motion, time_limit=limit, progress=progress)
    states = level(np.where(settled.diverged[:, None], start, settled.qpos))
    return Moves(
        states.reshape(b, m, qpos.shape[1]).astype(np.float32),
        settled.time.reshape(b, m).astype(np.float32),
    )


def simulate_moves(
    nodes: Nodes,
    qpos: Array,
    commands: Commands,
    *,
    engine: Engine,
    progress: Progress | None = None,
) -> Moves:
    """Simulate all commands from all states; skills from disturbed states, too.

    A skill is long, so that a small disturbance may change where it ends. From each
    state it is repeated with disturbed joints. The end nearest to standing counts, and
    its time is divided by the share of repeats that end there: a robot that tries
    again until it succeeds takes that long on average.
    Arguments as of `simulate_commands`.
    """
    moves = simulate_commands(nodes, qpos, commands, engine=engine, progress=progress)
    skills = np.flatnonzero(commands.is_skill)
    if not len(skills):
        return moves
    repeats = simulate_commands(
        nodes, _disturb(nodes, qpos), commands[skills], engine=engine
    )
    shape = (len(qpos), _N_REPEATS, len(skills))
    states = repeats.states.reshape(*shape, qpos.shape[1])
    seconds = repeats.seconds.reshape(shape)
    best, alike = _find_best_end(nodes, states, seconds)
    row, column = np.indices(best.shape)
    share = alike.mean(axis=1)
    spent = np.where(alike, seconds, 0.0).sum(axis=1) / np.maximum(alike.sum(axis=1), 1)
    moves.states[:, skills] = states[row, best, column]
    moves.seconds[:, skills] = np.where(share > 0, spent / share.clip(1e-9), np.inf)
    return moves


def _find_best_end(
    nodes: Nodes, states: Array, seconds: Array
) -> tuple[IntArray, BoolArray]:
    """Return the repeats that end nearest to standing, and which others end there.

    Args:
        nodes: Nodes of the graph.
        states: (b, r, c, nq) ends of r repeats.
        seconds: (b, r, c) times until at rest [s]; inf if not.

    Returns:
        `(best, alike)`, (b, c) and (b, r, c).
    """
    rested = np.isfinite(seconds)
    flat = states.reshape(-1, states.shape[-1]).astype(np.float64)
    places = nodes.embed(flat)
    places = places.reshape(*seconds.shape, places.shape[1])
    distance = np.linalg.norm(places - nodes.places[-1], axis=-1)
    best = np.where(rested, distance, np.inf).argmin(axis=1)
    row, column = np.indices(best.shape)
    from_best = np.linalg.norm(places - places[row, best, column][:, None], axis=-1)
    return best, rested & (from_best < AT_NODE)


def _disturb(nodes: Nodes, qpos: Array) -> Array:
    """Return states with disturbed joints, (b * repeats, nq), the same for each."""
    robot, n_joints = nodes.robot, nodes.robot.model.nu
    noise = np.random.default_rng(0).normal(size=(_N_REPEATS, n_joints))
    noise *= _DISTURBANCE * nodes.config.joint_tol / np.sqrt(n_joints)
    disturbed = np.repeat(qpos, _N_REPEATS, axis=0)
    disturbed[:, robot.joint_adr] += np.tile(noise, (len(qpos), 1))
    return disturbed
