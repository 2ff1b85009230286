"""Numbers of all pairs of poses, counted a few rows at a time.

Of 10,000 poses there are 100 million pairs. Their times are never in memory together.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from kaccess.access import Outcome
from kaccess.base.types import Array, BoolArray, IntArray

__all__ = ["Pairs", "count_pairs"]

_BLOCK = 512  # rows that are compared with as many columns at once


@dataclass(frozen=True)
class Pairs:
    """The pairs of n poses.

    Args:
        moves: (n, n) whether a move from i reached j, another pose.
        done: (n, n) whether the pair of two different poses is estimated.
        counts: Estimated pairs by `Outcome`.
        seconds: Different times of the moves that reached their goals, sorted [s].
        n_seconds: How often each of these times occurs.
        complete: Whether every pair is estimated, also of a pose with itself.
    """

    moves: BoolArray
    done: BoolArray
    counts: IntArray
    seconds: Array
    n_seconds: IntArray
    complete: bool

    @property
    def one_way(self) -> float | None:
        """Share of the linked pairs of poses that are linked one way only."""
        n_linked = n_both = 0
        for start in range(0, len(self.moves), _BLOCK):
            rows = slice(start, start + _BLOCK)
            there, back = self.moves[rows], self.moves[:, rows].T
            known = self.done[rows] & self.done[:, rows].T
            n_linked += int(((there | back) & known).sum())
            n_both += int((there & back).sum())
        return float(1 - n_both / n_linked) if n_linked else None

    @property
    def quantiles(self) -> tuple[float, float, float] | None:
        """5, 50 and 95 % quantile of the times of moves that reached [s]."""
        if not len(self.seconds):
            return None
        low, middle, high = map(self._find_quantile, (0.05, 0.5, 0.95))
        return low, middle, high

    def _find_quantile(self, share: float) -> float:
        """Return a quantile, as `np.quantile` of all the times does."""
        ends = self.n_seconds.cumsum()
        place = (ends[-1] - 1) * share
        first = int(place)
        both = np.minimum([first, first + 1], ends[-1] - 1)
        near = self.seconds[np.searchsorted(ends, both, side="right")]
        return float(np.quantile(near, place - first))


def count_pairs(n: int, tiles: Iterable[tuple[Array, IntArray]]) -> Pairs:
    """Return the numbers of all pairs.

    Args:
        n: Number of poses.
        tiles: Times and outcomes of some rows each, in order. A pair without time or
            without outcome is not estimated.
    """
    moves, done = np.zeros((2, n, n), bool)
    counts, seconds = np.zeros(len(Outcome), int), Counter[float]()
    start, n_done = 0, 0
    for times, outcomes in tiles:
        rows = np.arange(start, start + len(times))
        known = ~np.isnan(times) & (outcomes != Outcome.PENDING)
        n_done += int(known.sum())
        known[rows - start, rows] = False  # the pair of a pose with itself
        reached = known & np.isfinite(times)
        moves[rows], done[rows] = reached, known
        counts += np.bincount(outcomes[known], minlength=len(Outcome))
        seconds.update(dict(zip(*_count_values(times[reached]), strict=True)))
        start += len(times)
    values = np.array(sorted(seconds), times.dtype)
    often = np.array([seconds[value] for value in values.tolist()], int)
    return Pairs(moves, done, counts, values, often, n_done == n * n)


def _count_values(values: Array) -> tuple[list[float], list[int]]:
    """Return the different values, and how often each occurs."""
    found, often = np.unique(values, return_counts=True)
    return found.tolist(), often.tolist()
