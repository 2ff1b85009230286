"""Pairs that are estimated when they are first asked for."""

from collections.abc import Callable

import numpy as np

from kaccess.access import Landings, Transitions
from kaccess.base.types import Array, BoolArray, IntArray, Progress

__all__ = ["Estimate", "LazyPairs", "replay_pairs"]

Estimate = Callable[[IntArray, IntArray], Transitions]
"""Returns the transitions from poses, (b,), to poses, (b,)."""


class LazyPairs:
    """The pairs of n poses, of which at most so many may be asked for.

    Args:
        n: Number of poses.
        estimate: Estimates pairs; it is called once for each pair.
        budget: Largest number of pairs of different poses.
        progress: Called with (pairs asked for, budget).

    Attributes:
        times: (n, n) seconds from pose i to pose j; NaN: not asked for.
    """

    def __init__(
        self, n: int, estimate: Estimate, budget: int, progress: Progress | None = None
    ) -> None:
        self.budget = self._total = min(budget, n * (n - 1))
        self.n_asked = 0
        self.times = np.full((n, n), np.nan, np.float32)
        self._estimate, self._progress = estimate, progress
        self._landings: list[Landings] = []
        self._place = np.full((n, n), -1, np.int32)  # of a pair in the landings
        self._n_stored = 0
        self._add(np.arange(n), np.arange(n))  # a pose reaches itself

    def __len__(self) -> int:
        return len(self.times)

    @property
    def room(self) -> int:
        """Number of pairs that may still be asked for."""
        return self.budget - self.n_asked

    @property
    def known(self) -> BoolArray:
        """(n, n) which pairs were asked for, and those of a pose with itself."""
        return np.asarray(self._place >= 0)

    def are_known(self, source: IntArray, goal: IntArray) -> BoolArray:
        """Return which of some pairs were asked for, in the shape of both."""
        return np.asarray(self._place[source, goal] >= 0)

    def ask(self, source: IntArray, goal: IntArray) -> bool:
        """Estimate the pairs that are not known yet, in this order, up to the budget.

        Returns:
            Whether all of them are known now.
        """
        pairs = np.unique(source * len(self) + goal, return_index=True)[1]
        pairs = np.sort(pairs)  # the first of equal pairs, in the order given
        pairs = pairs[self._place[source[pairs], goal[pairs]] < 0]
        asked = pairs[: max(self.room, 0)]
        if len(asked):
            self._add(source[asked], goal[asked])
            self.n_asked += len(asked)
        if self._progress:
            self._progress(self.n_asked, self._total)
        return len(asked) == len(pairs)

    def _add(self, source: IntArray, goal: IntArray) -> None:
        found = self._estimate(source, goal)
        self.times[source, goal] = found.times
        if found.landings is not None:
            self._landings.append(found.landings)
        self._place[source, goal] = self._n_stored + np.arange(len(source))
        self._n_stored += len(source)

    def get_landings(self, source: IntArray, goal: IntArray) -> Landings:
        """Return where known pairs landed, in the shape of both, without states."""
        self._landings = [_join(self._landings)]
        place, all_of = self._place[source, goal], self._landings[0]
        return Landings(
            all_of.node[place], all_of.distance[place], all_of.seconds[place]
        )


def _join(parts: list[Landings]) -> Landings:
    """Return landings in one, without states."""
    if len(parts) == 1 and parts[0].states is None:
        return parts[0]
    return Landings(
        np.concatenate([part.node for part in parts]),
        np.concatenate([part.distance for part in parts]),
        np.concatenate([part.seconds for part in parts]),
    )


def replay_pairs(
    times: Array, landings: Landings | None = None, outcomes: IntArray | None = None
) -> Estimate:
    """Return a function that answers from stored pairs, to try what would be asked.

    Args:
        times: (n, n) seconds from pose i to pose j; inf: not reached.
        landings: (n, n) or larger, where moves landed.
        outcomes: (n, n) how moves ended; by default reached or elsewhere, by the time.
    """
    ends = np.where(np.isfinite(times), 1, 2) if outcomes is None else outcomes

    def answer(source: IntArray, goal: IntArray) -> Transitions:
        found, where = None, (source, goal)
        if landings is not None:
            found = Landings(
                landings.node[where], landings.distance[where], landings.seconds[where]
            )
        return Transitions(times[where], ends[where].astype(np.uint8), found)

    return answer
