"""Numbers of all pairs of poses, counted a few rows at a time.

Of 10,000 poses there are 100 million pairs. Their times are never in memory together.
"""

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
        seconds: Times of the moves that reached their goals [s].
        complete: Whether every pair is estimated, also of a pose with itself.
    """

    moves: BoolArray
    done: BoolArray
    counts: IntArray
    seconds: Array
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
        low, middle, high = np.quantile(self.seconds, [0.05, 0.5, 0.95])
        return float(low), float(middle), float(high)


def count_pairs(n: int, tiles: Iterable[tuple[Array, IntArray]]) -> Pairs:
    """Return the numbers of all pairs.

    Args:
        n: Number of poses.
        tiles: Times and outcomes of some rows each, in order. A pair without time or
            without outcome is not estimated.
    """
    moves, done = np.zeros((2, n, n), bool)
    counts, seconds = np.zeros(len(Outcome), int), []
    start, n_done = 0, 0
    for times, outcomes in tiles:
        rows = np.arange(start, start + len(times))
        known = ~np.isnan(times) & (outcomes != Outcome.PENDING)
        n_done += int(known.sum())
        known[rows - start, rows] = False  # the pair of a pose with itself
        reached = known & np.isfinite(times)
        moves[rows], done[rows] = reached, known
        counts += np.bincount(outcomes[known], minlength=len(Outcome))
        seconds.append(times[reached])
        start += len(times)
    return Pairs(moves, done, counts, np.concatenate(seconds), n_done == n * n)
