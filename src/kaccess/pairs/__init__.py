"""Only the pairs that matter: estimate what changes the result, and no more.

Clusters, routes to standing and the coverage of starts each ask for other pairs. Each
has its module; all of them ask a `LazyPairs`, which estimates a pair when it is first
asked for and counts.
"""

from kaccess.pairs.belief import believe
from kaccess.pairs.centroids import CentroidSearch, find_centroids, pick_centroids
from kaccess.pairs.commands import CommandSearch, find_commands
from kaccess.pairs.coverage import estimate_coverage
from kaccess.pairs.lazy import LazyPairs, replay_pairs

__all__ = [
    "CentroidSearch",
    "CommandSearch",
    "LazyPairs",
    "believe",
    "estimate_coverage",
    "find_centroids",
    "find_commands",
    "pick_centroids",
    "replay_pairs",
]
