"""Routes to standing from few pairs: which commands serve most poses?

A few commands lead most poses to standing. They are found backwards from standing. The
moves to standing give a first value of each pose. The *gain* of a command is how much
it raises the value of a pose, in the mean over poses; it is estimated on a few random
poses. Commands whose gain may be the highest are tried from more poses (an upper
confidence bound, as in a bandit). The best one is tried from all poses. Then values
rise, and the search goes on with the gains that remain.

So some commands are tried from all poses, and routes are made of these alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from kaccess.access import Landings, Plan
from kaccess.access.landings import Nodes
from kaccess.access.plan import weigh_landings
from kaccess.access.posture_graph import PostureGraph
from kaccess.base.types import Array, IntArray
from kaccess.pairs.lazy import LazyPairs

__all__ = ["CommandSearch", "find_commands", "join_landings"]

_FIRST = 4  # poses from which each command is tried first; fewer of few poses
_SURE = 48  # poses from which a command is tried before it is tried from all
_SHARE = 1 / 8  # of all poses, if that is less
_AT_ONCE = 8  # commands that are tried from more poses at once
# Of all poses, if that is more: a GPU takes as long for a few moves as for many.
_SHARE_AT_ONCE = 1 / 125
_DOUBT = 1.0  # standard errors that are added to a gain
_SMALL = 0.002  # gain in value that is too small to matter [-]


@dataclass(frozen=True)
class CommandSearch:
    """Commands that were tried from all poses.

    Args:
        commands: Numbers of the poses whose joints are commanded, best first.
        values: (n,) value of each pose with these commands and standing.
        gain: Largest gain that another command may still have, at the confidence
            asked for.
        is_sure: Whether that gain is too small to matter.
    """

    commands: IntArray
    values: Array
    gain: float
    is_sure: bool


def find_commands(
    pairs: LazyPairs,
    nodes: Nodes,
    standing: Landings,
    *,
    horizon: float,
    seed: int = 0,
    confidence: float | None = None,
) -> CommandSearch:
    """Find the commands that lead most poses to standing, until no pair is left.

    Args:
        pairs: Pairs to ask.
        nodes: Poses, and standing.
        standing: (n,) landings of the moves to standing.
        horizon: Time over which values fall to 1/e [s].
        seed: Seed of the order in which poses are tried.
        confidence: Stop when no other command has a gain that matters, at this
            confidence, in (0, 1); by default use all pairs.
    """
    n = len(pairs)
    order = np.random.default_rng([seed, n]).permutation(n)
    trials = _Trials(pairs, order, horizon)
    z = NormalDist().inv_cdf(confidence or 0.5)
    chosen: list[int] = []

    def revalue() -> Array:
        return _make_plan(pairs, nodes, standing, chosen, horizon).values

    values = revalue()
    trials.extend(np.arange(n), max(1, min(_FIRST, pairs.room // (3 * n))))
    while True:
        gain, error = trials.measure_gains(values)
        still = np.setdiff1d(np.arange(n), chosen)
        most = float(np.max((gain + z * error)[still], initial=0.0))
        done = confidence is not None and most < _SMALL
        if done or not len(still) or not pairs.room:
            return CommandSearch(np.array(chosen, np.int64), values, most, done)
        if _try_more(trials, still, gain, error):
            continue
        best = int(still[gain[still].argmax()])
        if gain[best] < _SMALL and trials.counts[still].min() < n:
            trials.extend(still, 2 * int(trials.counts[still].min()))
            continue
        if n - trials.counts[best] > pairs.room:  # half a column would be of no use
            return CommandSearch(np.array(chosen, np.int64), values, most, False)
        trials.extend(np.array([best]), n)
        chosen.append(best)
        values = revalue()


def _try_more(trials: "_Trials", still: IntArray, gain: Array, error: Array) -> bool:
    """Try promising commands from more poses; return False if none needs it."""
    hopeful = still[np.argsort(-(gain + _DOUBT * error)[still], kind="stable")]
    hopeful, sure = hopeful[: trials.at_once], trials.sure
    best = still[gain[still].argmax()]
    if trials.counts[best] >= sure and best in hopeful[: 1 + trials.at_once // 4]:
        return False
    unsure = hopeful[trials.counts[hopeful] < sure]
    count = 2 * int(trials.counts[unsure].max(initial=0))
    if not len(unsure) or not trials.can_extend(unsure, count, keep=best):
        return False
    trials.extend(unsure, count)
    return True


class _Trials:
    """From how many poses each command was tried; all in the same order of poses.

    Commands that were tried from all poses are kept apart: they are few, and the table
    of the others stays short.
    """

    def __init__(self, pairs: LazyPairs, order: IntArray, horizon: float) -> None:
        self.counts = np.zeros(len(pairs), np.int64)
        self._pairs, self._order, self._horizon = pairs, order, horizon
        # Worth and landing of the trial of each command from each pose in the order.
        self._worth = np.zeros((0, len(order)))
        self._node = np.zeros((0, len(order)), np.int64)
        self._complete: dict[int, tuple[Array, IntArray]] = {}  # worth, landings

    @property
    def sure(self) -> int:
        """Poses from which a command is tried before it is tried from all."""
        return max(1, min(_SURE, int(_SHARE * len(self._order))))

    @property
    def at_once(self) -> int:
        """Number of commands that are tried from more poses at once."""
        return max(_AT_ONCE, int(_SHARE_AT_ONCE * len(self._order)))

    def can_extend(self, commands: IntArray, count: int, *, keep: int) -> bool:
        """Return whether pairs are left then to try one command from all poses."""
        more = np.maximum(0, count - self.counts[commands]).sum()
        return bool(more + len(self._order) - self.counts[keep] <= self._pairs.room)

    def extend(self, commands: IntArray, count: int) -> None:
        """Try commands from more poses, as far as the budget allows."""
        n, count = len(self._order), min(count, len(self._order))
        source = np.repeat(self._order[:count], len(commands))
        goal = np.tile(commands, count)
        self._pairs.ask(source, goal)
        tried = self._pairs.are_known(self._order[:, None], commands)
        # Poses up to the first one that was not tried: the budget may end between.
        self.counts[commands] = np.where(tried.all(axis=0), n, tried.argmin(axis=0))
        for command in commands:
            self._store(int(command))

    def _store(self, command: int) -> None:
        count = int(self.counts[command])
        poses = self._order[:count]
        landings = self._pairs.get_landings(poses, np.full(count, command))
        worth = weigh_landings(landings, poses, len(self._order), self._horizon)
        if count == len(self._order):
            self._complete[command] = worth, landings.node
            return
        extra = max(0, count - len(self._worth))
        self._worth = np.pad(self._worth, ((0, extra), (0, 0)))
        self._node = np.pad(self._node, ((0, extra), (0, 0)))
        self._worth[:count, command] = worth
        self._node[:count, command] = landings.node

    def measure_gains(self, values: Array) -> tuple[Array, Array]:
        """Return the mean gain of each command over its trials, and standard errors."""
        value, here = np.append(values, 1.0), values[self._order]  # standing is last
        rows = len(self._worth)
        gains = np.maximum(0.0, self._worth * value[self._node] - here[:rows, None])
        gains[np.arange(rows)[:, None] >= self.counts] = 0.0
        total, square = gains.sum(axis=0), (gains**2).sum(axis=0)
        for command, (worth, node) in self._complete.items():
            gain = np.maximum(0.0, worth * value[node] - here)
            total[command], square[command] = gain.sum(), (gain**2).sum()
        counts = np.maximum(self.counts, 1)
        mean = total / counts
        typical = square.sum() / max(1, self.counts.sum())
        variance = np.maximum(square / counts - mean**2, 0.0) + typical / counts
        return mean, np.sqrt(variance / counts)


def _make_plan(
    pairs: LazyPairs,
    nodes: Nodes,
    standing: Landings,
    commands: list[int],
    horizon: float,
) -> Plan:
    """Return the plan of commands that were tried from all poses, and standing."""
    chosen, n = np.array(commands, np.int64), len(pairs)
    source, goal = np.meshgrid(np.arange(n), chosen, indexing="ij")
    landings = join_landings(pairs.get_landings(source, goal), standing)
    return PostureGraph.between(nodes, landings, chosen).make_plan(horizon=horizon)


def join_landings(landings: Landings, standing: Landings) -> Landings:
    """Return landings of commands, (n, m), and of standing, (n,), as the last one."""
    put: Callable[[Array, Array], Array] = lambda one, last: np.concatenate(  # noqa: E731
        [one, last[:, None]], axis=1
    )
    states = None
    if landings.states is not None and standing.states is not None:
        states = put(landings.states, standing.states)
    return Landings(
        put(landings.node, standing.node),  # type: ignore[arg-type]  # integers
        put(landings.distance, standing.distance),
        put(landings.seconds, standing.seconds),
        states,
    )
