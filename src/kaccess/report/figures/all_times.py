"""Times of all pairs, some rows at a time: for studies that do not fit into memory."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.study.arrays import Arrays

__all__ = ["AllTimes", "StoredTimes", "find_moves", "iterate"]

_ROWS = 256  # of an array in memory that are looked at together


@dataclass(frozen=True)
class StoredTimes:
    """The times of a study, which are read whenever they are asked for.

    Args:
        arrays: Arrays of the study.
    """

    arrays: Arrays

    def __len__(self) -> int:
        return self.arrays.n_poses

    def __getitem__(self, rows: slice | IntArray) -> Array:
        """Return the times from some poses to all."""
        return self.arrays.read("times", rows)


AllTimes = Array | StoredTimes
"""(n, n) seconds from pose i to pose j, in memory or stored."""


def iterate(times: AllTimes) -> Iterator[tuple[slice, Array]]:
    """Yield some rows at a time, and which these are."""
    if isinstance(times, StoredTimes):
        yield from times.arrays.read_in_parts("times")
        return
    for start in range(0, len(times), _ROWS):
        rows = slice(start, min(start + _ROWS, len(times)))
        yield rows, times[rows]


def find_moves(rows: slice, times: Array) -> BoolArray:
    """Return which moves of some rows reached their goal, another pose."""
    moves = np.isfinite(times)
    moves[np.arange(len(times)), np.arange(rows.start, rows.stop)] = False
    return np.asarray(moves)
