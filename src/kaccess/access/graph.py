"""The poses as a directed graph of moves: can the robot get from anywhere to standing?

An edge is a transition that was reached. What no chain of edges connects to the
standing pose, no sequence of these moves can get up from: an answer before any
training.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from kaccess.types import Array, IntArray

__all__ = ["Connectivity", "connectivity"]


@dataclass(frozen=True)
class Connectivity:
    """How a set of poses hangs together.

    Args:
        n_weak: Components when moves may be taken backwards too.
        n_strong: Components whose poses all reach one another by chains of moves.
        largest_strong: Number of poses in the largest of these.
        unreached: Poses that no other pose reaches in one move.
        dead_ends: Poses that reach no other pose in one move.
        stuck: Poses from which no chain of moves leads to standing.
    """

    n_weak: int
    n_strong: int
    largest_strong: int
    unreached: IntArray
    dead_ends: IntArray
    stuck: IntArray


def connectivity(times: Array, to_standing: Array) -> Connectivity:
    """Return how poses hang together.

    Args:
        times: (n, n) seconds from pose i to pose j; inf or NaN is no move.
        to_standing: (n,) seconds from each pose to standing; likewise.
    """
    moves = np.isfinite(times)
    np.fill_diagonal(moves, False)
    n_weak, _ = connected_components(csr_array(moves), connection="weak")
    n_strong, label = connected_components(csr_array(moves), connection="strong")
    return Connectivity(
        n_weak=int(n_weak),
        n_strong=int(n_strong),
        largest_strong=int(np.bincount(label).max()),
        unreached=np.flatnonzero(~moves.any(axis=0)),
        dead_ends=np.flatnonzero(~moves.any(axis=1)),
        stuck=_cannot_reach(moves, np.isfinite(to_standing)),
    )


def _cannot_reach(moves: Array, stands: Array) -> IntArray:
    """Return the poses from which no chain of moves ends in a pose that stands up."""
    n = len(moves)
    backwards = np.zeros((n + 1, n + 1), bool)  # node n is standing
    backwards[:n, :n] = moves.T
    backwards[n, :n] = stands
    order = breadth_first_order(
        csr_array(backwards), n, directed=True, return_predecessors=False
    )
    return np.setdiff1d(np.arange(n), order)
