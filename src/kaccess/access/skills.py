"""Search for get-up skills: a few postures in a row, without rest in between.

Where no single move leads on, a swing or a push may. A trapped robot that is commanded
to stand straightens its joints and stays down. It does so in few ways, such as on its
back and on its belly, so the search starts where most trapped robots end up. First it
explores (`kaccess.access.explore`). Then it varies what the exploration has found, or
random sequences if it found none, and keeps those that end nearest to poses with a
route, or more upright and higher than before. The starts are states in which moves
really ended, so that skills bear small differences. A skill is then one more command of
the posture graph, tried from all poses.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from kaccess.access.commands import Commands
from kaccess.access.explore import explore
from kaccess.access.growth import extend_graph, spread_out
from kaccess.access.landings import AT_NODE, Nodes
from kaccess.access.plan import Plan
from kaccess.access.posture_graph import PostureGraph, simulate_commands
from kaccess.base.errors import InputError
from kaccess.base.progress import scale_progress
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import GetUpConfig
from kaccess.engines import Engine
from kaccess.engines.stepper import Stepper
from kaccess.poses import level
from kaccess.robots import Mirror, Robot
from kaccess.robots.mirror import pair_joints

__all__ = ["SkillFound", "find_trap", "rate_states", "search_skills"]

_FAR = 3.0  # [tolerances], distance at which a pose of value counts half
_RESTLESS = 0.3  # [-], share of its rating that a robot without rest keeps
_N_STARTS = 32  # states that a search starts from
_N_EXPLORED = 16  # skills with which an exploration ends
_N_TRIALS = 4  # starts from which variations of these are tried in each round
_PARENTS, _NEW = 1 / 32, 1 / 10  # shares of the candidates: parents, and new draws
_N_TESTED = 16  # best candidates that are tried from all starts
_N_KEPT, _N_ENDS = 3, 8  # skills that are kept, and poses they end in
_WEAK = 0.3  # [-], poses of less value need skills, too
_STEP, _LEAST_STEP = 0.15, 0.03  # [half ranges], of variations: first and last
_FINE_STEP, _LEAST_FINE_STEP = 0.04, 0.01  # [half ranges], of explored skills
_UNIFORM, _SYMMETRIC, _STANDING = 0.4, 0.5, 0.6  # shares of the draws
_EXTREME = 0.4  # share of the draws with joints at their limits
_MIDDLE = 0.2  # share of these joints that are in the middle instead
_UPRIGHT = 0.2  # [-], weight of being upright and high; that of nodes nearby is 1
_CROSSED, _VARIED = 0.3, 0.4  # share of children with two parents; of joints varied


@dataclass(frozen=True)
class SkillFound:
    """The result of a search from one trapped pose.

    Args:
        source: Number of the trapped pose.
        n_trapped: Trapped poses before the search.
        n_free: Trapped poses that have a route after it.
        rating: Mean rating of the states in which the skill ends, in [0, 1].
        n_explored: Skills that the exploration found.
        values: Mean value of the poses before and after it, in [0, 1].
    """

    source: int
    n_trapped: int
    n_free: int
    rating: float
    n_explored: int
    values: tuple[float, float]


def search_skills(
    graph: PostureGraph,
    config: GetUpConfig,
    *,
    horizon: float,
    engine: Engine,
    stepper: Stepper,
    progress: Progress | None = None,
) -> Iterator[tuple[PostureGraph, SkillFound]]:
    """Search for skills, one trapped pose after the other.

    Args:
        graph: Posture graph.
        config: Settings of the search.
        horizon: Time over which the values of a plan fall to 1/e [s].
        engine: Simulator.
        stepper: Simulator of short motions, for the exploration.
        progress: Called with (rounds done, rounds to do); exploring counts as rounds.

    Yields:
        The graph after each search, with the skills found, and what they are worth.
    """
    config = graph.nodes.robot.scale.fit(config)
    rng = np.random.default_rng(config.seed)
    tried, n = graph.nodes.qpos[:0], config.rounds
    for number in range(config.skills):
        plan = graph.make_plan(horizon=horizon)
        trapped = plan.n_moves == 0
        source, starts = find_trap(graph, trapped | (plan.values < _WEAK), tried)
        if source is None:
            return
        tried = np.concatenate([tried, starts[:1]])
        halves = [
            scale_progress(
                progress, 2 * number * n + half * n, n, 2 * config.skills * n
            )
            for half in (0, 1)
        ]
        search = _Search(graph.nodes, plan, starts, config, rng, engine)
        explored = _explore(starts[0], config, rng, stepper, halves[0])
        skills, ends, rating = search.run(explored, halves[1])
        new = spread_out(graph.nodes, np.concatenate([starts, ends]), _N_ENDS)
        graph = extend_graph(graph, new, skills, engine=engine)
        after = graph.make_plan(horizon=horizon)
        freed = trapped & (after.n_moves[: len(trapped)] > 0)
        yield (
            graph,
            SkillFound(
                source=source,
                n_trapped=int(trapped.sum()),
                n_free=int(freed.sum()),
                rating=rating,
                n_explored=len(explored),
                values=(_mean(plan.values), _mean(after.values[: len(trapped)])),
            ),
        )


def _mean(values: Array) -> float:
    return float(values.mean())


def find_trap(
    graph: PostureGraph, trapped: BoolArray, tried: Array
) -> tuple[int | None, Array]:
    """Return where most trapped robots end up that are commanded to stand.

    Args:
        graph: Posture graph; its last command is standing.
        trapped: (n,) whether no good chain leads from a pose to standing.
        tried: (t, nq) states that a search has started from before.

    Returns:
        `(source, starts)`: a trapped pose, and the states, (b, nq), near to which it
        and others end up; its own is the first. None and no states if there are none.
    """
    landings, nodes = graph.landings, graph.nodes
    assert landings.states is not None
    poses = np.flatnonzero(trapped & np.isfinite(landings.seconds[:, -1]))
    ends = landings.states[poses, -1].astype(np.float64)
    known = cdist(nodes.embed(ends), nodes.embed(tried)) < AT_NODE
    poses, ends = poses[~known.any(axis=1)], ends[~known.any(axis=1)]
    if not len(ends):
        return None, ends
    distance = cdist(nodes.embed(ends), nodes.embed(ends))
    middle = int((distance < AT_NODE).sum(axis=1).argmax())
    near: IntArray = np.argsort(distance[middle], kind="stable")
    near = near[distance[middle][near] < AT_NODE][:_N_STARTS]
    return int(poses[middle]), ends[near]


def _explore(
    start: Array,
    config: GetUpConfig,
    rng: np.random.Generator,
    stepper: Stepper,
    progress: Progress | None,
) -> Commands:
    """Return the skills that an exploration finds from a state, (nq,).

    Postures that are the same left and right are tried first, if the robot is.
    """
    mirror = _find_mirror(stepper.robot)
    for each in (mirror, None) if mirror else (None,):
        found = explore(
            stepper,
            start,
            posture_time=config.posture_time,
            most_motions=config.explored,
            most_found=_N_EXPLORED,
            rng=rng,
            mirror=each,
            progress=progress,
        )
        if len(found):
            break
    return found


def rate_states(nodes: Nodes, values: Array, qpos: Array) -> Array:
    """Return how near states, (b, nq), are to nodes of value, (b,) in [0, 1].

    Where no such node is near, it counts how upright and how high the robot is.

    Args:
        nodes: n poses, and standing.
        values: (n + 1,) values of the nodes.
        qpos: (b, nq) states.
    """
    useful = np.flatnonzero(values > 0)
    distance = cdist(nodes.embed(qpos), nodes.places[useful])
    near = (values[useful] / (1 + (distance / _FAR) ** 2)).max(axis=1)
    upright = _UPRIGHT * _rate_uprightness(nodes, qpos)
    return np.asarray((near + upright) / (1 + _UPRIGHT))


def _rate_uprightness(nodes: Nodes, qpos: Array) -> Array:
    """Return how upright and how high robots are, (b,) in [0, 1]; 1 as if standing."""
    standing = nodes.qpos[-1]
    gravity, down = gravity_in_body(qpos[:, 3:7]), gravity_in_body(standing[None, 3:7])
    upright = (1 + gravity @ down[0]) / 2
    height = np.clip(qpos[:, 2] / standing[2], 0.0, 1.0)
    return np.asarray(upright * (1 + height) / 2)


class _Search:
    """An evolution of sequences of postures from one trapped pose.

    Args:
        nodes: Poses, and standing.
        plan: The values of the poses.
        starts: (b, nq) states to start from.
        config: Settings of the search.
        rng: Random numbers.
        engine: Simulator.
    """

    def __init__(
        self,
        nodes: Nodes,
        plan: Plan,
        starts: Array,
        config: GetUpConfig,
        rng: np.random.Generator,
        engine: Engine,
    ) -> None:
        self._nodes, self._starts, self._config = nodes, starts, config
        self._rng, self._engine = rng, engine
        self._values = np.append(plan.values, 1.0)
        self._drawing = _Drawing(nodes, config, rng)

    def run(
        self, explored: Commands, progress: Progress | None
    ) -> tuple[Commands, Array, float]:
        """Return the best skills, the states they end in, and their mean rating.

        Args:
            explored: Skills to vary; if there are none, random ones are drawn.
            progress: Called with (rounds done, rounds to do).
        """
        config, drawing = self._config, self._drawing
        steps, n_trials, n_new = (_FINE_STEP, _LEAST_FINE_STEP), _N_TRIALS, 0
        n, candidates = max(_N_TESTED, config.candidates // n_trials), explored
        if not len(explored):
            steps, n_trials, n = (_STEP, _LEAST_STEP), 1, config.candidates
            n_new, candidates = round(_NEW * n), drawing.draw(n)
        n_parents = max(_N_TESTED, round(_PARENTS * n))
        total, tries = np.zeros(len(candidates)), np.zeros(len(candidates))
        for number in range(config.rounds):
            total += self._rate(candidates, n_trials)
            tries += 1
            best = np.argsort(-total / tries)[:n_parents]
            parents, total, tries = candidates[best], total[best], tries[best]
            n_children = n - len(best) - n_new
            step = max(steps[1], steps[0] * (1 - number / config.rounds))
            children = drawing.vary(parents, max(n_children, 0), step)
            candidates = parents + children + drawing.draw(n_new)
            fresh = np.zeros(len(candidates) - len(best))
            total, tries = np.append(total, fresh), np.append(tries, fresh)
            if progress:
                progress(number + 1, config.rounds)
        return self._assess(parents[:_N_TESTED])

    def _rate(self, candidates: Commands, n_trials: int) -> Array:
        """Return the mean ratings of candidates, (p,), each from random starts."""
        which = np.repeat(np.arange(len(candidates)), n_trials)
        start = self._starts[self._rng.integers(len(self._starts), size=len(which))]
        robot = self._nodes.robot
        motion = candidates.start(which, robot.get_joints(start))
        limit = self._nodes.config.time_limit
        settled = self._engine.settle(start, motion, time_limit=limit)
        ends = level(np.where(settled.diverged[:, None], start, settled.qpos))
        ratings = rate_states(self._nodes, self._values, ends)
        ratings = np.where(np.isfinite(settled.time), ratings, _RESTLESS * ratings)
        return np.asarray(ratings.reshape(-1, n_trials).mean(axis=1))

    def _assess(self, skills: Commands) -> tuple[Commands, Array, float]:
        """Try skills from all starts; return the best, their ends and their rating."""
        moves = simulate_commands(
            self._nodes, self._starts, skills, engine=self._engine
        )
        b, m, nq = moves.states.shape
        states = moves.states.reshape(-1, nq).astype(np.float64)
        ratings = rate_states(self._nodes, self._values, states).reshape(b, m)
        ratings = np.where(np.isfinite(moves.seconds), ratings, 0.0).mean(axis=0)
        best = np.argsort(-ratings)[:_N_KEPT]
        rested = np.isfinite(moves.seconds[:, best])
        ends = moves.states[:, best][rested].astype(np.float64)
        return skills[best], ends, float(ratings[best[0]])


class _Drawing:
    """Draws sequences of postures, and varies them.

    Args:
        nodes: Poses whose joints are drawn, and standing.
        config: Number of postures, and their times.
        rng: Random numbers.
    """

    def __init__(
        self, nodes: Nodes, config: GetUpConfig, rng: np.random.Generator
    ) -> None:
        self._robot, self._rng = nodes.robot, rng
        self._k, self._time = config.postures, config.posture_time
        self._pool = nodes.robot.get_joints(nodes.qpos)
        self._low, self._high = nodes.robot.joint_range.T
        self._mirror = _find_mirror(nodes.robot)

    def draw(self, n: int) -> Commands:
        """Return n new sequences; many are symmetric, and many end standing.

        In some, joints go to their limits: a robot on its back needs the whole range.
        """
        rng, k, stand = self._rng, self._k, self._robot.standing_targets
        known = self._pool[rng.integers(len(self._pool), size=(n, k))]
        uniform = rng.uniform(self._low, self._high, known.shape)
        drawn = np.where(rng.random((n, k, 1)) < _UNIFORM, uniform, known)
        postures = stand + rng.uniform(0.0, 1.1, (n, k, 1)) * (drawn - stand)
        extreme = rng.random(n) < _EXTREME
        postures[extreme] = self._draw_limits(postures[extreme].shape)
        ends_standing = rng.random(n) < _STANDING
        postures[:, -1] = np.where(ends_standing[:, None], stand, known[:, -1])
        self._symmetrize(postures, rng.random(n) < _SYMMETRIC)
        factor = np.exp(rng.uniform(np.log(0.25), np.log(2.0), (n, k)))
        return Commands(self._clip(postures), self._time * factor)

    def _draw_limits(self, shape: tuple[int, ...]) -> Array:
        """Return postures with each joint at one of its limits, or in the middle."""
        drawn = self._rng.random(shape)
        share = np.where(drawn < _MIDDLE, 0.5, drawn > (1 + _MIDDLE) / 2)
        return np.asarray(self._low + share * (self._high - self._low))

    def vary(self, parents: Commands, n: int, step: float) -> Commands:
        """Return n variations of sequences, some of two of them, by steps of a size."""
        rng = self._rng
        mother, father = rng.integers(len(parents), size=(2, n))
        postures = parents.postures[mother]
        seconds = parents.seconds[mother]
        k = postures.shape[1]
        cut = np.where(rng.random(n) < _CROSSED, rng.integers(0, k, n), k)
        late = np.arange(k) >= cut[:, None]
        postures[late] = parents.postures[father][late]
        seconds[late] = parents.seconds[father][late]
        size = step * np.exp(rng.normal(size=(n, 1, 1)))
        varied = rng.random(postures.shape) < _VARIED
        noise = size * varied * rng.normal(size=postures.shape)
        noise *= (self._high - self._low) / 2
        self._symmetrize(noise, rng.random(n) < _SYMMETRIC)
        factor = np.exp(size[:, :, 0] * rng.normal(size=seconds.shape))
        limited = (seconds * factor).clip(0.1 * self._time, 3 * self._time)
        seconds = np.where(seconds > 0, limited, 0.0)  # no time: a repeated posture
        return Commands(self._clip(postures + noise), seconds)

    def _symmetrize(self, postures: Array, rows: BoolArray) -> None:
        """Make some sequences, (n, k, nu), the same left and right, if robots are."""
        if self._mirror is not None:
            some = postures[rows].reshape(-1, postures.shape[-1])
            both = (some + self._mirror.reflect_joints(some)) / 2
            postures[rows] = both.reshape(-1, *postures.shape[1:])

    def _clip(self, postures: Array) -> Array:
        return np.clip(postures, self._low, self._high)


def _find_mirror(robot: Robot) -> Mirror | None:
    try:
        return pair_joints(robot)
    except InputError:
        return None
