"""Starts that move with success: from almost standing outwards, along measured routes.

The guide has been rolled out from resting starts, and the states on its way are kept,
moving ones included. `AlongRoutes` draws states by the time that was left until the
guide stood, `RollIn` by the time that the guide had acted. Both end with the resting
starts alone, once episodes from there succeed.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.starts import InitialStates

__all__ = [
    "AlongRoutes",
    "Curriculum",
    "RollIn",
    "RouteStates",
    "Start",
    "StartDraws",
]

_AT_REST = -1  # number of a start that is not a state on a route
_UNKNOWN = -2  # number of a start that was not drawn
_MEMORY = 50  # episodes over which success is averaged, roughly
_LEAST_AT_REST = 0.2  # share of resting starts before any of them succeeds [-]
_FLOOR = 0.02  # weight of a bin that has nothing to teach [-]
_N_BINS = 12  # bins of the time until standing
_N_STAGES = 20  # shorter and shorter roll-ins
_GOOD = 0.8  # success that shortens the roll-in [-]
_AGAIN = 0.6  # success that is assumed after that, before it is measured [-]


class Start(NamedTuple):
    """States in which m episodes begin; without velocities they are at rest."""

    qpos: Array
    """(m, nq) states."""
    qvel: Array | None = None
    """(m, nv) velocities."""
    targets: Array | None = None
    """(m, nu) joint targets; NaN where they are the joints of the state [rad]."""


@dataclass(frozen=True, eq=False)
class RouteStates:
    """States of robots that the guide stands up, one route after the other.

    Args:
        qpos: (k, nq) states.
        qvel: (k, nv) velocities.
        targets: (k, nu) joint targets [rad].
        elapsed: (k,) control steps since the start of the route.
        remaining: (k,) control steps until the guide stands.
    """

    qpos: Array
    qvel: Array
    targets: Array
    elapsed: IntArray
    remaining: IntArray

    def __len__(self) -> int:
        return len(self.qpos)

    def get(self, index: int) -> Start:
        """Return one state, as the start of one episode."""
        row = slice(index, index + 1)
        return Start(self.qpos[row], self.qvel[row], self.targets[row])


class Curriculum(ABC):
    """Starts that depend on the success of earlier episodes.

    Args:
        at_rest: Resting starts: what must be learned in the end.
        routes: States along routes that begin in some of them.

    """

    def __init__(self, at_rest: InitialStates, routes: RouteStates) -> None:
        self.at_rest, self._routes = at_rest, routes

    def get(self, index: int, rng: np.random.Generator) -> Start:
        """Return the start of that number."""
        if index == _AT_REST:
            return Start(self.at_rest.sample(rng, 1))
        return self._routes.get(index)

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> int:
        """Draw the number of a start."""

    @abstractmethod
    def record(self, index: int, success: bool) -> None:
        """Take note of how the episode from a start has ended."""

    @abstractmethod
    def get_state(self) -> Array:
        """Return what later draws depend on."""

    @abstractmethod
    def set_state(self, state: Array) -> None:
        """Continue from what `get_state` returned."""


class AlongRoutes(Curriculum):
    """States from which the guide soon stands first, then earlier and earlier ones.

    States are in bins by the time until the guide stands. A bin is drawn often if
    episodes from the bin before it succeed and its own do not: s[b - 1] * (1 - s[b]).
    The share of resting starts grows with the success from them.

    Attributes:
        success: (n_bins + 1,) recent success from each bin, and at last from rest.
    """

    def __init__(self, at_rest: InitialStates, routes: RouteStates) -> None:
        super().__init__(at_rest, routes)
        order = np.argsort(routes.remaining, kind="stable")
        self._bins = np.array_split(order, min(_N_BINS, len(order)))
        self._bin_of = np.empty(len(routes), np.int64)
        for number, rows in enumerate(self._bins):
            self._bin_of[rows] = number
        self.success = np.zeros(len(self._bins) + 1)

    def draw(self, rng: np.random.Generator) -> int:
        """Draw the number of a start."""
        at_rest, weights = self.find_shares()
        if rng.random() < at_rest:
            return _AT_REST
        place = rng.random() * weights.sum()
        number = min(int(np.searchsorted(weights.cumsum(), place)), len(weights) - 1)
        return int(rng.choice(self._bins[number]))

    def find_shares(self) -> tuple[float, Array]:
        """Return the share of resting starts, and the weights of the bins."""
        *bins, at_rest = self.success
        own = np.array(bins)
        before = np.concatenate([[1.0], own[:-1]])
        share = _LEAST_AT_REST + (1 - _LEAST_AT_REST) * at_rest
        return float(share), before * (1 - own) + _FLOOR

    def record(self, index: int, success: bool) -> None:
        """Take note of how the episode from a start has ended."""
        number = len(self._bins) if index == _AT_REST else self._bin_of[index]
        self.success[number] += (success - self.success[number]) / _MEMORY

    def get_state(self) -> Array:
        """Return what later draws depend on."""
        return self.success.copy()

    def set_state(self, state: Array) -> None:
        """Continue from what `get_state` returned."""
        self.success[:] = state


class RollIn(Curriculum):
    """The guide acts first, for a random time that gets shorter as success grows.

    The longest roll-in begins with that of the longest route. Whenever most episodes
    succeed, it becomes one twentieth of that shorter, until nothing of it is left.
    Routes are fixed, so the state after h steps of the guide is looked up.

    Attributes:
        longest: Longest roll-in now [control steps].
        success: Recent success of episodes.
    """

    def __init__(self, at_rest: InitialStates, routes: RouteStates) -> None:
        super().__init__(at_rest, routes)
        self._first = np.flatnonzero(routes.elapsed == 0)
        self._last = np.append(self._first[1:], len(routes)) - 1
        self.longest = float(routes.elapsed.max())
        self._decrement = self.longest / _N_STAGES
        self.success = 0.0

    def draw(self, rng: np.random.Generator) -> int:
        """Draw the number of a start."""
        steps = int(rng.integers(round(self.longest) + 1))
        if steps == 0:
            return _AT_REST
        route = int(rng.integers(len(self._first)))
        return int(min(self._first[route] + steps, self._last[route]))

    def record(self, index: int, success: bool) -> None:
        """Take note of how the episode from a start has ended."""
        self.success += (success - self.success) / _MEMORY
        if self.success >= _GOOD and self.longest > 0:
            self.longest = max(0.0, self.longest - self._decrement)
            self.success = _AGAIN

    def get_state(self) -> Array:
        """Return what later draws depend on."""
        return np.array([self.longest, self.success])

    def set_state(self, state: Array) -> None:
        """Continue from what `get_state` returned."""
        self.longest, self.success = map(float, state)


class DrawStart(Protocol):
    """Draws from a fixed distribution; the episodes of robots do."""

    def draw_start(self, starts: InitialStates, rng: np.random.Generator) -> Array:
        """Draw a start, (1, nq)."""


class StartDraws:
    """Draws the starts of n robots, and tells curricula how their episodes end.

    Args:
        starts: Starts of each robot; robots may share a curriculum.
        episodes: Draws from starts that are not a curriculum, if there are any.
    """

    def __init__(
        self,
        starts: Sequence[InitialStates | Curriculum],
        episodes: DrawStart | None = None,
    ) -> None:
        self._starts, self._episodes = starts, episodes
        self._drawn = np.full(len(starts), _UNKNOWN)
        self._succeeded = np.zeros(len(starts), bool)
        moving = (each for each in starts if isinstance(each, Curriculum))
        self._curricula = list(dict.fromkeys(moving))

    def draw(self, rows: IntArray, streams: Sequence[np.random.Generator]) -> Start:
        """Draw the starts of some robots, each from its own random stream."""
        return _join([self._draw_one(int(row), streams[row]) for row in rows])

    def _draw_one(self, row: int, rng: np.random.Generator) -> Start:
        starts = self._starts[row]
        if not isinstance(starts, Curriculum):
            assert self._episodes is not None
            return Start(self._episodes.draw_start(starts, rng))
        self._drawn[row], self._succeeded[row] = starts.draw(rng), False
        return starts.get(int(self._drawn[row]), rng)

    def forget(self, rows: IntArray) -> None:
        """Take note that some robots start elsewhere, in states that were not drawn."""
        self._drawn[rows], self._succeeded[rows] = _UNKNOWN, False

    def record(self, success: BoolArray, ended: BoolArray) -> None:
        """Take note of which robots succeed, (n,), and which episodes have ended, (n,).

        An episode counts as a success if its robot succeeded at any time: noise in the
        actions of a learner may make a standing robot stumble later.
        """
        if not self._curricula:
            return
        self._succeeded |= success
        for row in np.flatnonzero(ended).tolist():
            starts = self._starts[row]
            if isinstance(starts, Curriculum) and self._drawn[row] != _UNKNOWN:
                starts.record(int(self._drawn[row]), bool(self._succeeded[row]))
        self._succeeded[ended] = False

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state of all curricula; nothing if there are none."""
        if not self._curricula:
            return {}
        states = {
            f"curriculum {i}": each.get_state()
            for i, each in enumerate(self._curricula)
        }
        own = {"drawn": self._drawn.copy(), "succeeded": self._succeeded.copy()}
        return own | states

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from a state that `get_state` returned, other entries ignored."""
        for i, each in enumerate(self._curricula):
            each.set_state(state[f"curriculum {i}"])
        if self._curricula:
            self._drawn[:] = state["drawn"]
            self._succeeded[:] = state["succeeded"]


def _join(starts: Sequence[Start]) -> Start:
    """Return the starts of several robots as one; all at rest if each of them is."""
    qpos = np.concatenate([each.qpos for each in starts])
    if all(each.qvel is None for each in starts):
        return Start(qpos)
    moving = next(each for each in starts if each.qvel is not None)
    assert moving.qvel is not None and moving.targets is not None
    qvel = [
        np.zeros_like(moving.qvel) if each.qvel is None else each.qvel
        for each in starts
    ]
    targets = [
        np.full_like(moving.targets, np.nan) if each.targets is None else each.targets
        for each in starts
    ]
    return Start(qpos, np.concatenate(qvel), np.concatenate(targets))
