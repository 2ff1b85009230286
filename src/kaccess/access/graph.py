"""The poses as a directed graph of moves: can the robot get from anywhere to standing?

An edge is a transition that was reached. What no chain of edges connects to the
standing pose, no sequence of these moves can get up from: an answer before any
training.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import (
    breadth_first_order,
    connected_components,
    dijkstra,
)

from kaccess.base.types import Array, IntArray

__all__ = ["Connectivity", "Routes", "measure_connectivity", "find_routes"]

STANDING = -1  # in place of a pose: the route ends there
NOWHERE = -2  # there is no route
_SHORTEST = 1e-6  # [s]: a sparse graph takes an edge of no length for none at all


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


def measure_connectivity(times: Array, to_standing: Array) -> Connectivity:
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


@dataclass(frozen=True)
class Routes:
    """The fastest way to standing from each pose, by a chain of moves.

    Args:
        next_pose: (n,) the pose to go to next; `STANDING`, or `NOWHERE` if none leads
            there.
        seconds: (n,) how long all moves of the way take [s]; inf if there is none.
    """

    next_pose: IntArray
    seconds: Array


def find_routes(times: Array, to_standing: Array) -> Routes:
    """Return the fastest chain of moves from each pose to standing.

    Args:
        times: (n, n) seconds from pose i to pose j; inf or NaN is no move.
        to_standing: (n,) seconds from each pose to standing; likewise.
    """
    n = len(times)
    backwards = np.zeros((n + 1, n + 1))  # node n is standing
    moves = np.isfinite(times) & ~np.eye(n, dtype=bool)
    stands = np.isfinite(to_standing)
    backwards[:n, :n][moves.T] = np.maximum(times.T[moves.T], _SHORTEST)
    backwards[n, :n][stands] = np.maximum(to_standing[stands], _SHORTEST)
    far, before = dijkstra(csr_array(backwards), indices=[n], return_predecessors=True)
    seconds, next_pose = far[0, :n], before[0, :n]  # scipy's -9999 is no way at all
    next_pose = np.where(next_pose < 0, NOWHERE, next_pose)
    return Routes(np.where(next_pose == n, STANDING, next_pose), seconds)


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
