"""Objectives of the swap solver: the paper's index, or the mean access.

An objective scores a set of centroids. It improves the set by swapping one centroid for
another pose until no single swap helps.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from kaccess.base.errors import ArrayError
from kaccess.base.types import Array, IntArray
from kaccess.cluster.claims import claim_all, describe
from kaccess.cluster.index import compute_index
from kaccess.cluster.prepared import Prepared
from kaccess.cluster.swap_access import swap_for_access
from kaccess.cluster.swap_index import find_replacement

__all__ = [
    "IndexObjective",
    "MeanAccess",
    "Objective",
    "ObjectiveName",
    "make_objective",
]

ObjectiveName = Literal["index", "access"]

_MIN_GAIN = 1e-3  # of the index; smaller gains take many more rounds without benefit


class Objective(Protocol):
    """A score of sets of centroids on one matrix, and a way to raise it."""

    @property
    def access(self) -> Array:
        """The (n, n) accessibility matrix."""

    @property
    def n_kicks(self) -> int:
        """Default number of kicks."""

    def score(self, centroids: IntArray) -> float:
        """Return the score of a set of centroids; larger is better."""

    def improve(self, centroids: IntArray) -> tuple[IntArray, int]:
        """Return ascending centroids that no swap improves, and the number of swaps."""


@dataclass(frozen=True)
class IndexObjective:
    """The paper's index I."""

    prepared: Prepared
    alpha: float = 1.0
    n_kicks: int = 0

    @property
    def access(self) -> Array:
        """The (n, n) accessibility matrix."""
        return self.prepared.access

    def score(self, centroids: IntArray) -> float:
        """Return the index I of the clusters around these centroids."""
        rows, columns = self.access[centroids], self.prepared.get_columns(centroids)
        return float(compute_index(rows, columns, centroids, self.alpha))

    def improve(self, centroids: IntArray) -> tuple[IntArray, int]:
        """Swap each centroid in turn for the best pose, until a round changes none."""
        if len(centroids) == 1:
            return self._find_best_single()
        matrix, current = self.prepared.ranked, centroids.copy()
        clusters = describe(matrix, np.sort(current))
        score = self.score(clusters.centroids)
        claims = claim_all(matrix, clusters)
        turn = idle = n_swaps = 0
        while idle < len(current):
            gone, bar = (
                clusters.centroids.searchsorted(current[turn]),
                score + _MIN_GAIN,
            )
            pose, _ = find_replacement(matrix, clusters, claims, gone, self.alpha, bar)
            if pose >= 0:
                current[turn] = pose
                clusters = describe(matrix, np.sort(current))
                claims = claim_all(matrix, clusters)
                previous, score = score, self.score(clusters.centroids)
                assert score > previous, "a swap must raise the index"
                n_swaps, idle = n_swaps + 1, 0
            idle += 1  # this centroid is now the best one here, swapped or not
            turn = (turn + 1) % len(current)
        return np.sort(current), n_swaps

    def _find_best_single(self) -> tuple[IntArray, int]:
        """Return the one centroid with the best worst-case access to all poses."""
        return np.array([self.access.min(axis=1).argmax()]), 1


@dataclass(frozen=True)
class MeanAccess:
    """The mean over poses of the access from their best centroid."""

    access: Array
    n_kicks: int = 400

    def score(self, centroids: IntArray) -> float:
        """Return the mean access from the best centroid."""
        return float(self.access[centroids].max(axis=0).mean(dtype=np.float64))

    def improve(self, centroids: IntArray) -> tuple[IntArray, int]:
        """Swap poses in, each for the centroid it replaces best, until none helps."""
        tolerance = 1e-9 * len(self.access)
        swapped, n_swaps = swap_for_access(self.access, centroids, tolerance)
        return np.sort(swapped), n_swaps


def make_objective(
    name: ObjectiveName, prepared: Prepared, *, alpha: float
) -> Objective:
    """Return the objective of that name on a matrix."""
    if name == "index":
        return IndexObjective(prepared, alpha)
    if name == "access":
        return MeanAccess(prepared.access)
    raise ArrayError(f"`objective` must be 'index' or 'access', got {name!r}.")
