"""Traps: poses from which a plan does not stand the robot up, and why."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kaccess.access import Landings
from kaccess.access.graph import STANDING
from kaccess.access.landings import AT_NODE
from kaccess.base.types import BoolArray
from kaccess.report.routes.played import PlayedRoute, spread
from kaccess.study import Study

__all__ = ["Trap", "explain_failure", "explain_no_chain", "find_traps"]

_N_TRAPS = 12
_STAND_UP = "command standing"


@dataclass(frozen=True)
class Trap:
    """A pose from which the robot did not stand up.

    Args:
        pose: Number of the pose.
        reasons: Why, in a few words each: what the landings say, and the replay.
    """

    pose: int
    reasons: tuple[str, ...]


def find_traps(study: Study, played: Sequence[PlayedRoute]) -> list[Trap]:
    """Return up to 12 poses that did not stand up in the replay, with the reason.

    Args:
        study: Study.
        played: Routes of all its poses, as the simulator plays them.
    """
    plan, graph = study.plan, study.graph
    if plan is None or graph is None or study.n_moves is None:
        return []
    traps = []
    for pose in spread(study, study.n_moves == 0, _N_TRAPS):
        reasons = [explain_failure(played[pose])]
        if plan.n_moves[pose] == 0:
            reasons.insert(0, f"{explain_no_chain(graph.landings, pose)};")
        traps.append(Trap(int(pose), tuple(reasons)))
    return traps


def explain_no_chain(landings: Landings, pose: int) -> str:
    """Say why no chain of landings leads from a pose to standing."""
    rested = np.isfinite(landings.seconds[pose])
    left = rested & (landings.node[pose] != pose)
    if not rested.any():
        return "no move comes to rest in time"
    if not left.any():
        return "no move leads out of it"
    nearest = landings.distance[pose][left].min()
    if nearest > AT_NODE:
        return f"moves end {nearest:.0f} tolerances or more from any other pose"
    return "no chain of moves leads to standing"


def explain_failure(route: PlayedRoute) -> str:
    """Say why the moves of a route did not end in standing."""
    if route.stood:
        return "it stood up when replayed again, by the engine mujoco"
    if not np.isfinite(route.seconds[-1]):
        return f"it is not at rest in time after {len(route)} moves"
    near = route.distances <= AT_NODE
    if (near & (route.nodes == STANDING)).any():
        return "it nearly stands, but not within the tolerances"
    if _STAND_UP in route.words:
        return _explain_fall(route, near)
    visited = [route.pose, *route.nodes[near].tolist()]
    again = [node for at, node in enumerate(visited) if node in visited[:at]]
    if again:
        return f"it goes in circles: lands in pose {again[0]} again"
    return f"it does not stand after {len(route)} moves"


def _explain_fall(route: PlayedRoute, near: BoolArray) -> str:
    """Say where the first command to stand began, and where it ended."""
    move = route.words.index(_STAND_UP)
    visited = [route.pose, *route.nodes.tolist()]
    places = [
        f"near pose {node}" if is_near else "between the poses"
        for node, is_near in zip(visited, [True, *near], strict=True)
    ]
    return f"commanded to stand {places[move]}, it ends {places[move + 1]}"
