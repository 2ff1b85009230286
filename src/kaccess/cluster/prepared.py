"""What the fits of all numbers of clusters share: computed once for each matrix."""

from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.cluster.alternate import spread_seeds

__all__ = ["Prepared", "Ranked", "rank"]


class Ranked(NamedTuple):
    """An accessibility matrix, and for each pose the others by their access to it.

    What is read together lies together in memory, as far as three matrices can hold it.
    """

    access: Array  # (n, n) access from row to column
    into: Array  # (n, n) its transpose: row j is the access to pose j
    order: IntArray  # (n, n) row j: poses by access to j, best first, ties by pose


def rank(access: Array) -> Ranked:
    """Sort the columns of `access`, (n, n); this takes about 1.5 times its memory."""
    into = np.ascontiguousarray(access.T)
    small = len(access) <= np.iinfo(np.uint16).max
    order = np.empty(into.shape, dtype=np.uint16 if small else np.int32)
    for pose, row in enumerate(into):
        order[pose] = np.argsort(-row, kind="stable")
    return Ranked(access, into, order)


class Prepared:
    """A matrix, its ranking and the seeds of Algorithm 1; threads may share it.

    Args:
        access: (n, n) accessibility matrix, checked.
        most_seeds: Largest number of clusters that will be asked for.
    """

    def __init__(self, access: Array, most_seeds: int) -> None:
        self.access = access
        self._most_seeds = most_seeds
        self._seeds: dict[int, IntArray] = {}
        self._lock = Lock()

    @property
    def ranked(self) -> Ranked:
        """The matrix with its columns sorted; made on first use."""
        with self._lock:
            return self._ranked

    @cached_property
    def _ranked(self) -> Ranked:
        return rank(self.access)

    def get_columns(self, poses: IntArray) -> Array:
        """Return the access from all poses to some, (k, n)."""
        if "_ranked" in self.__dict__:
            return np.asarray(self._ranked.into[poses])
        return np.ascontiguousarray(self.access[:, poses].T)

    def get_seeds(self, first: int, n_seeds: int) -> IntArray:
        """Return `spread_seeds` from `first`, (k,): the beginning of a longer list."""
        if first not in self._seeds:
            self._seeds[first] = spread_seeds(self.access, first, self._most_seeds)
        return self._seeds[first][:n_seeds]
