"""Accessibility: how fast a robot gets from each static pose to each other one."""

from kaccess.access.attempts import Attempts
from kaccess.access.commands import Commands
from kaccess.access.estimate import (
    Outcome,
    Transitions,
    accessibility,
    estimate_pairs,
    estimate_rows,
    estimate_times,
    estimate_to_standing,
    find_nodes,
    merge_rows,
    split_rows,
)
from kaccess.access.graph import (
    Connectivity,
    Routes,
    connect_moves,
    find_routes,
    measure_connectivity,
)
from kaccess.access.landings import Landings, Nodes
from kaccess.access.plan import Plan, count_chain_moves
from kaccess.access.posture_graph import PostureGraph
from kaccess.access.replay import Replay, replay_plan
from kaccess.access.symmetry import MirrorCheck, check_mirror

__all__ = [
    "Attempts",
    "Commands",
    "Connectivity",
    "Landings",
    "MirrorCheck",
    "Nodes",
    "Outcome",
    "Plan",
    "PostureGraph",
    "Replay",
    "Routes",
    "Transitions",
    "accessibility",
    "check_mirror",
    "connect_moves",
    "count_chain_moves",
    "estimate_pairs",
    "estimate_rows",
    "estimate_times",
    "estimate_to_standing",
    "find_nodes",
    "find_routes",
    "measure_connectivity",
    "merge_rows",
    "replay_plan",
    "split_rows",
]
