"""The accessibility matrix of a study, of which only some parts are in memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kaccess.access.estimate import accessibility
from kaccess.base.types import Array, IntArray
from kaccess.study.arrays import Arrays

__all__ = ["AccessMatrix", "InMemory", "Stored", "as_matrix"]


class AccessMatrix(Protocol):
    """An accessibility matrix, (n, n), that gives some of its parts."""

    def __len__(self) -> int:
        """Return the number of poses."""
        ...

    def get_rows(self, poses: IntArray) -> Array:
        """Return the access from some poses to all, (k, n)."""
        ...

    def get_columns(self, poses: IntArray) -> Array:
        """Return the access from all poses to some, (n, k)."""
        ...

    def iterate(self) -> Iterator[tuple[slice, Array]]:
        """Yield some rows at a time, and which these are."""
        ...


@dataclass(frozen=True, eq=False)
class InMemory:
    """A matrix that is in memory anyway."""

    access: Array

    def __len__(self) -> int:
        return len(self.access)

    def get_rows(self, poses: IntArray) -> Array:
        """Return the access from some poses to all, (k, n)."""
        return np.asarray(self.access[poses])

    def get_columns(self, poses: IntArray) -> Array:
        """Return the access from all poses to some, (n, k)."""
        return np.asarray(self.access[:, poses])

    def iterate(self) -> Iterator[tuple[slice, Array]]:
        """Yield all rows at once."""
        yield slice(0, len(self.access)), self.access


@dataclass(frozen=True, eq=False)
class Stored:
    """A matrix that is read from the times of a study, whenever it is asked for."""

    arrays: Arrays

    def __len__(self) -> int:
        return self.arrays.n_poses

    def get_rows(self, poses: IntArray) -> Array:
        """Return the access from some poses to all, (k, n)."""
        return accessibility(self.arrays.read("times", poses))

    def get_columns(self, poses: IntArray) -> Array:
        """Return the access from all poses to some, (n, k)."""
        parts = self.arrays.read_in_parts("times")
        return np.concatenate([accessibility(times[:, poses]) for _, times in parts])

    def iterate(self) -> Iterator[tuple[slice, Array]]:
        """Yield some rows at a time, and which these are."""
        for rows, times in self.arrays.read_in_parts("times"):
            yield rows, accessibility(times)


def as_matrix(access: Array | AccessMatrix) -> AccessMatrix:
    """Return a matrix as it is; an array as one that is in memory."""
    return InMemory(access) if isinstance(access, np.ndarray) else access
