"""Comparison of the clusterings of a study."""

from kaccess.base.types import IntArray
from kaccess.cluster.comparison import ComparisonRow, make_row
from kaccess.config import ClusterConfig
from kaccess.study.study import Study

__all__ = ["compare_clusterings"]


def compare_clusterings(study: Study) -> list[ComparisonRow]:
    """Return the quality of each clustering in a study, one row per method."""
    alpha = ClusterConfig().alpha  # the same for all, so that they can be compared
    return [
        make_row(
            method,
            each.quality_with(alpha),
            each.unreachable,
            landed=_measure_landed(study, each.centroids),
        )
        for method, each in study.clusterings.items()
    ]


def _measure_landed(study: Study, centroids: IntArray) -> float | None:
    """Return the share of poses at which some move from a centroid lands, if known."""
    if not study.arrays.has_landings():
        return None
    landings = study.arrays.read_landings_from(centroids)
    return float(landings.find_reach(centroids, study.n_poses).any(axis=0).mean())
