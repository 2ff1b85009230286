"""Exploration: postures in a row that lead from a lying pose to standing.

Whole sequences of random postures hardly ever get a humanoid up. But some get it a
little further, and can be continued. So an archive keeps one state for each *cell*: how
the trunk is tilted, how high the centre of mass is, how far it is from the feet, and
whether the feet are on the ground. Each round takes states that were tried seldom or
are nearly up, commands random postures from them for a short time, and keeps what ends
in a new cell, or gets to a known one sooner or more slowly moving. From states that are
nearly up, the robot is commanded to stand (Go-Explore; Ecoffet et al., Nature 2021).
"""

from dataclasses import dataclass

import numpy as np

from kaccess.access.commands import Commands
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.engines.stepper import Moment, Stepper
from kaccess.robots import Mirror, Robot

__all__ = ["PostureDraw", "Signs", "explore"]

_N_PARENTS, _N_CHILDREN = 16, 3  # states that a round goes on from; tries from each
_SHORTEST, _LONGEST = 0.3, 2.0  # of a motion, in typical times of a posture
_RAMP = 1.25  # the time to stand up, in typical times of a posture
_MOST_POSTURES = 12  # of a skill, standing included
_HOLD = 10.0  # for how long a robot must stand, in typical times of a posture
_UPRIGHT, _HIGH, _CENTRED = 0.6, 0.45, 0.25  # [-], nearly up: tried whether it stands
_STANDS_UPRIGHT, _STANDS_HIGH = 0.96, 0.93  # [-], of a robot that stands
_N_TILTS, _N_HEIGHTS, _N_OFFSETS = 16, 12, 8  # cells: in a turn, up to standing, 1
_ROLLED, _LIFTED = 0.35, 0.1  # [-], on a side; feet off the ground, in heights
_LEVEL = 0.2  # [-], sine of a roll that makes a state much less promising
_SPEED_COST = 2.0  # [s / (rad/s)], of mean speed: slow states are preferred
_BETTER = 0.05  # [s], by which the cost must be lower to replace a state
# Shares of the draws: standing, a variation of the last targets, joints at limits.
_STAND, _VARY, _EXTREME = 0.2, 0.25, 0.2
_STEP, _VARIED, _KEPT = 0.25, 0.5, 0.4  # [half ranges]; shares of the joints

_Way = tuple[tuple[Array, ...], tuple[int, ...]]  # goals, and their times in intervals


@dataclass(frozen=True)
class Signs:
    """How near to standing b robots are.

    Args:
        upright: (b,) cosine of the tilt from standing.
        height: (b,) height of the centre of mass; 1 is standing.
        offset: (b,) distance of the centre of mass from the feet, in standing heights.
        roll: (b,) sine of the roll.
        cells: (b, 5) numbers of the cell.
    """

    upright: Array
    height: Array
    offset: Array
    roll: Array
    cells: IntArray

    @classmethod
    def of(cls, moment: Moment, standing: Moment) -> "Signs":
        """Return the signs of robots, next to those of one that stands."""
        gravity = gravity_in_body(moment.qpos[:, 3:7])
        down = gravity_in_body(standing.qpos[:, 3:7])[0]
        tall = standing.centre[0, 2] - standing.feet[0, 2]
        above = moment.centre - moment.feet
        height = moment.centre[:, 2] / standing.centre[0, 2]
        offset = np.linalg.norm(above[:, :2], axis=1) / tall
        lifted = (moment.feet[:, 2] - standing.feet[0, 2]) / tall
        pitch = np.arctan2(gravity[:, 0], -gravity[:, 2])
        cells = np.stack(
            [
                np.floor(pitch / (2 * np.pi) * _N_TILTS),
                np.sign(gravity[:, 1]) * (np.abs(gravity[:, 1]) > _ROLLED),
                np.floor(height * _N_HEIGHTS),
                np.minimum(np.floor(offset * _N_OFFSETS), _N_OFFSETS - 1),
                lifted > _LIFTED,
            ],
            axis=1,
        )
        numbers = cells.astype(np.int64)
        return cls(gravity @ down, height, offset, gravity[:, 1], numbers)

    @property
    def nearly_up(self) -> BoolArray:
        """Return who may stand if commanded to, (b,)."""
        return np.asarray(
            (self.upright > _UPRIGHT) & (self.height > _HIGH) & (self.offset < _CENTRED)
        )

    @property
    def stands(self) -> BoolArray:
        """Return who stands, (b,)."""
        return np.asarray(
            (self.upright > _STANDS_UPRIGHT) & (self.height > _STANDS_HIGH)
        )

    def rate_promise(self, *, symmetric: bool) -> Array:
        """Return how promising it is to go on from here, (b,).

        Postures that are the same left and right are of little use on a side.
        """
        centred = 0.5 + 1 / (1 + 4 * self.offset)
        level = 0.05 + np.exp(-((self.roll / _LEVEL) ** 2)) if symmetric else 1.0
        up = (0.3 + self.height) * (1 + self.upright / 2)
        return np.asarray(np.maximum(up * centred * level, 0.01))


class PostureDraw:
    """Draws postures to command next.

    Args:
        robot: Robot.
        rng: Random numbers.
        mirror: Its mirror, for postures that are the same left and right; None for any.
    """

    def __init__(
        self, robot: Robot, rng: np.random.Generator, mirror: Mirror | None
    ) -> None:
        self._rng, self._mirror = rng, mirror
        self._low, self._high = robot.joint_range.T
        self._stand = robot.standing_targets

    def draw(self, last: Array) -> Array:
        """Return postures, (b, nu), for robots with these joint targets."""
        rng, low, high = self._rng, self._low, self._high
        n, nu = last.shape
        kind, share = rng.random((n, 1)), rng.random((n, nu))
        noise = _STEP * (high - low) / 2 * rng.normal(size=(n, nu))
        varied = last + noise * (rng.random((n, nu)) < _VARIED)
        extreme = low + np.floor(3 * share) / 2 * (high - low)
        mixed = np.where(rng.random((n, nu)) < _KEPT, last, low + share * (high - low))
        mixed = self._stand + rng.uniform(0.3, 1.0, (n, 1)) * (mixed - self._stand)
        drawn = np.where(kind < _VARY + _EXTREME, extreme, mixed)
        drawn = np.where(kind < _VARY, varied, drawn)
        if self._mirror is not None:
            drawn = (drawn + self._mirror.reflect_joints(drawn)) / 2
        drawn = np.where(rng.random((n, 1)) < _STAND, self._stand, drawn)
        return np.asarray(np.clip(drawn, low, high))


@dataclass
class _Entry:
    """A state of the archive, and how to get there."""

    state: Array
    goals: tuple[Array, ...]
    intervals: tuple[int, ...]
    cost: float
    promise: float
    n_tries: float = 0.0


class _Archive:
    """The best state of each cell."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, ...], _Entry] = {}

    def add(self, cell: tuple[int, ...], new: _Entry) -> None:
        """Keep a state if its cell is new, or if it costs less than the one there."""
        old = self._entries.get(cell)
        if old is None:
            self._entries[cell] = new
        elif new.cost < old.cost - _BETTER:
            new.n_tries = old.n_tries / 2
            self._entries[cell] = new

    def choose(self, n: int, rng: np.random.Generator) -> list[_Entry]:
        """Return n states to go on from; a state may be there more than once."""
        some = [
            each
            for each in self._entries.values()
            if len(each.goals) < _MOST_POSTURES - 1
        ]
        weight = [each.promise / np.sqrt(1 + each.n_tries) for each in some]
        chosen = rng.choice(len(some), size=n, p=np.array(weight) / np.sum(weight))
        for each in chosen:
            some[each].n_tries += 1
        return [some[each] for each in chosen]


def explore(
    stepper: Stepper,
    start: Array,
    *,
    posture_time: float,
    most_motions: int,
    most_found: int,
    rng: np.random.Generator,
    mirror: Mirror | None = None,
    progress: Progress | None = None,
) -> Commands:
    """Return sequences of postures that got a robot up from one state; maybe none.

    Args:
        stepper: Simulator of short motions.
        start: (nq,) state to start from, at rest.
        posture_time: Typical time to go from one posture to the next [s].
        most_motions: Number of motions after which it ends.
        most_found: Number of sequences found with which it ends.
        rng: Random numbers.
        mirror: Mirror of the robot, to try only postures that are the same left and
            right: far fewer, and enough for humanoids.
        progress: Called with (motions tried, `most_motions`).
    """
    explorer = _Explorer(stepper, start, posture_time, rng, mirror)
    tried = 0
    while tried < most_motions and len(explorer.found) < most_found:
        tried += explorer.advance()
        if progress:
            progress(min(tried, most_motions), most_motions)
    return explorer.list_found()[:most_found]


class _Explorer:
    """An exploration in progress; arguments as of `explore`."""

    def __init__(
        self,
        stepper: Stepper,
        start: Array,
        posture_time: float,
        rng: np.random.Generator,
        mirror: Mirror | None,
    ) -> None:
        self._stepper, self._rng = stepper, rng
        self._typical = posture_time / stepper.interval
        self._draw = PostureDraw(stepper.robot, rng, mirror)
        self._symmetric = mirror is not None
        self._stand = stepper.robot.standing_targets
        self._standing = stepper.rest(stepper.robot.standing[None])
        self._archive = _Archive()
        self.found: list[_Way] = []
        first = stepper.rest(start[None])
        signs = Signs.of(first, self._standing)
        entry = _Entry(first.states[0], (), (), cost=0.0, promise=1.0)
        self._archive.add(tuple(signs.cells[0]), entry)

    def advance(self) -> int:
        """Try motions from some states; return how many."""
        parents = self._archive.choose(_N_PARENTS, self._rng)
        parents = [each for each in parents for _ in range(_N_CHILDREN)]
        states = np.stack([each.state for each in parents])
        goals = self._draw.draw(self._stepper.get_targets(states))
        factor = self._rng.uniform(np.log(_SHORTEST), np.log(_LONGEST), len(goals))
        times = np.round(self._typical * np.exp(factor))
        n_intervals = np.maximum(1, times).astype(np.int64)
        moment = self._stepper.move(states, goals, n_intervals)
        signs = Signs.of(moment, self._standing)
        ways = [
            ((*each.goals, goal), (*each.intervals, int(time)))
            for each, goal, time in zip(parents, goals, n_intervals, strict=True)
        ]
        self._keep(moment, signs, ways)
        self._try_standing(moment, signs, ways)
        return len(goals)

    def _keep(self, moment: Moment, signs: Signs, ways: list[_Way]) -> None:
        """Add what motions came to, to the archive."""
        promise = signs.rate_promise(symmetric=self._symmetric)
        for row in np.flatnonzero(moment.sound):
            goals, intervals = ways[row]
            seconds = sum(intervals) * self._stepper.interval
            cost = seconds + _SPEED_COST * float(moment.speed[row])
            entry = _Entry(moment.states[row], goals, intervals, cost, promise[row])
            self._archive.add(tuple(signs.cells[row]), entry)

    def _try_standing(self, moment: Moment, signs: Signs, ways: list[_Way]) -> None:
        """Command robots that are nearly up to stand, and note who does."""
        rows = np.flatnonzero(signs.nearly_up & moment.sound)
        if not len(rows):
            return
        ramp = max(1, round(_RAMP * self._typical))
        stand = np.repeat(self._stand[None], len(rows), axis=0)
        up = self._stepper.move(moment.states[rows], stand, np.full(len(rows), ramp))
        hold = np.full(len(rows), round(_HOLD * self._typical))
        held = self._stepper.move(up.states, stand, hold)
        stands = Signs.of(held, self._standing).stands & held.sound
        for row in rows[stands]:
            goals, intervals = ways[row]
            self.found.append(((*goals, self._stand), (*intervals, ramp)))

    def list_found(self) -> Commands:
        """Return the sequences found, as commands; the quickest first."""
        found = sorted(self.found, key=lambda each: sum(each[1]))
        commands = Commands.to(np.empty((0, len(self._stand))))
        for goals, intervals in found:
            seconds = np.array(intervals) * self._stepper.interval
            commands = commands + Commands(np.stack(goals)[None], seconds[None])
        return commands
