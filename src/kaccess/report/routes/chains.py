"""Chains of moves from all poses to standing, for the pose graph of the page."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kaccess.access import Routes
from kaccess.access.graph import NOWHERE, STANDING
from kaccess.access.landings import AT_NODE
from kaccess.base.types import Array
from kaccess.report.routes.played import PlayedRoute

__all__ = ["Chain", "chain_played", "chain_routes"]


@dataclass(frozen=True, eq=False)
class Chain:
    """Moves from a pose to standing.

    Args:
        words: (m,) what is commanded in each move, in words.
        nodes: (m,) pose near which each move ends, None if there is none; `STANDING`
            for the last one.
        seconds: (m,) time of each move [s].
    """

    words: Sequence[str]
    nodes: Sequence[int | None]
    seconds: Sequence[float]

    @property
    def length(self) -> float:
        """Time of all moves [s]."""
        return sum(self.seconds)


def chain_played(played: Sequence[PlayedRoute]) -> list[Chain | None]:
    """Return the chain of each pose as the simulator played it; None if it failed."""
    return [
        Chain(route.words, _name_ends(route), route.seconds.tolist())
        if route.stood
        else None
        for route in played
    ]


def _name_ends(route: PlayedRoute) -> list[int | None]:
    """Return the poses near which the moves of a route end, and standing."""
    near = (route.distances <= AT_NODE) & (route.nodes != STANDING)
    between = zip(route.nodes[:-1].tolist(), near, strict=False)
    return [*(node if is_near else None for node, is_near in between), STANDING]


def chain_routes(
    routes: Routes, times: Array, to_standing: Array
) -> list[Chain | None]:
    """Return the fastest route of each pose as a chain; None where there is none.

    Args:
        routes: Fastest route from each pose.
        times: (n, n) time from pose i to pose j [s].
        to_standing: (n,) time from each pose to standing [s].
    """
    both = np.column_stack([times, to_standing])
    return [
        None if routes.next_pose[pose] == NOWHERE else _follow(routes, pose, both)
        for pose in range(len(times))
    ]


def _follow(routes: Routes, pose: int, times: Array) -> Chain:
    """Return the chain of a pose; the last column of times is standing, as is -1."""
    words: list[str] = []
    nodes: list[int] = []
    seconds: list[float] = []
    while pose != STANDING:
        goal = int(routes.next_pose[pose])
        name = "standing" if goal == STANDING else f"the joints of pose {goal}"
        words.append(f"command {name}")
        nodes.append(goal)
        seconds.append(float(times[pose, goal]))
        pose = goal
    return Chain(words, nodes, seconds)
