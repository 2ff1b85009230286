"""The poses as a directed graph of moves: can the robot get up from every pose?

An edge is a transition that reached its goal. If no chain of edges leads from a pose to
standing, no sequence of these moves gets the robot up. This is known before training.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from kaccess.base.types import Array, BoolArray, IntArray

__all__ = [
    "Connectivity",
    "Routes",
    "connect_moves",
    "find_routes",
    "measure_connectivity",
]

STANDING = -1  # in place of a pose: the route ends there
NOWHERE = -2  # in place of a pose: there is no route
_SHORTEST = 1e-6  # [s]: in a sparse graph, an edge of length 0 would be no edge


@dataclass(frozen=True)
class Connectivity:
    """How a set of poses is connected.

    Args:
        n_weak: Number of weakly connected components: moves count in both directions.
        n_strong: Number of strongly connected components: in each, every pose reaches
            every other by a chain of moves.
        largest_strong: Number of poses in the largest strongly connected component.
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
    """Return how poses are connected.

    Args:
        times: (n, n) time from pose i to pose j [s]; inf or NaN if there is no move.
        to_standing: (n,) time from each pose to standing [s]; inf or NaN if no move.
    """
    moves = np.isfinite(times)
    np.fill_diagonal(moves, False)
    return connect_moves(moves, np.isfinite(to_standing))


def connect_moves(moves: BoolArray, stands: BoolArray) -> Connectivity:
    """Return how poses are connected.

    Args:
        moves: (n, n) whether a move leads from pose i to j; no pose leads to itself.
        stands: (n,) whether a move leads from each pose to standing.
    """
    strong = _measure_strong(moves)
    return Connectivity(
        n_weak=_count_weak(moves),
        n_strong=len(strong),
        largest_strong=max(strong),
        unreached=np.flatnonzero(~moves.any(axis=0)),
        dead_ends=np.flatnonzero(~moves.any(axis=1)),
        stuck=_find_stuck(moves, stands),
    )


# SciPy finds components too, but needs twice the memory for so many moves.


def _count_weak(moves: BoolArray) -> int:
    """Return the number of weakly connected components."""
    every = range(len(moves))
    return len(_list_sizes(every, lambda pose: moves[pose] | moves[:, pose]))


def _measure_strong(moves: BoolArray) -> list[int]:
    """Return the sizes of the strongly connected components (Kosaraju-Sharir)."""
    order = _order_by_finish(moves)[::-1]
    return _list_sizes(order, lambda pose: moves[:, pose])


def _order_by_finish(moves: BoolArray) -> list[int]:
    """Return the poses in the order in which a depth-first search leaves them."""
    new, order = np.ones(len(moves), bool), []
    for root in range(len(moves)):
        path = [root] if new[root] else []
        new[root] = False
        while path:
            ahead = moves[path[-1]] & new
            pose = int(ahead.argmax())
            if ahead[pose]:
                new[pose] = False
                path.append(pose)
            else:
                order.append(path.pop())
    return order


def _list_sizes(
    order: Sequence[int], get_neighbours: Callable[[int], BoolArray]
) -> list[int]:
    """Return the sizes of components: each pose takes all left that it leads to."""
    left, sizes = np.ones(len(order), bool), []
    for first in order:
        found = [first] if left[first] else []
        left[first] = False
        for pose in found:  # it grows meanwhile
            more = np.flatnonzero(get_neighbours(pose) & left)
            left[more] = False
            found += more.tolist()
        sizes.append(len(found))
    return [size for size in sizes if size]


@dataclass(frozen=True)
class Routes:
    """The fastest route from each pose to standing.

    Args:
        next_pose: (n,) next pose of the route; `STANDING` if the next move ends there,
            `NOWHERE` if there is no route.
        seconds: (n,) total time of the route [s]; inf if there is no route.
    """

    next_pose: IntArray
    seconds: Array

    @property
    def exist(self) -> bool:
        """Whether there is a route from any pose."""
        return bool(np.isfinite(self.seconds).any())


def find_routes(times: Array, to_standing: Array) -> Routes:
    """Return the fastest route from each pose to standing.

    Args:
        times: (n, n) time from pose i to pose j [s]; inf or NaN if there is no move.
        to_standing: (n,) time from each pose to standing [s]; inf or NaN if no move.
    """
    n = len(times)
    backwards = np.zeros((n + 1, n + 1))  # node n is standing
    moves = np.isfinite(times) & ~np.eye(n, dtype=bool)
    stands = np.isfinite(to_standing)
    backwards[:n, :n][moves.T] = np.maximum(times.T[moves.T], _SHORTEST)
    backwards[n, :n][stands] = np.maximum(to_standing[stands], _SHORTEST)
    far, before = dijkstra(csr_array(backwards), indices=[n], return_predecessors=True)
    seconds, next_pose = far[0, :n], before[0, :n]  # scipy: -9999 is no route
    next_pose = np.where(next_pose < 0, NOWHERE, next_pose)
    return Routes(np.where(next_pose == n, STANDING, next_pose), seconds)


def _find_stuck(moves: BoolArray, stands: BoolArray) -> IntArray:
    """Return the poses from which no chain of moves leads to standing."""
    leads, new = stands.copy(), stands
    while new.any():
        new = moves[:, new].any(axis=1) & ~leads
        leads |= new
    return np.flatnonzero(~leads)
