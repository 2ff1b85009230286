"""Comparison of the clusterings of a study."""

from kaccess.cluster.comparison import ComparisonRow, make_row
from kaccess.config import ClusterConfig
from kaccess.study.study import Study

__all__ = ["compare_clusterings"]


def compare_clusterings(study: Study) -> list[ComparisonRow]:
    """Return the quality of each clustering in a study, one row per method."""
    alpha = ClusterConfig().alpha  # the same for all, so that they can be compared
    arrays = study.arrays
    reach = arrays.read_landings().find_reach() if arrays.has_landings() else None
    return [
        make_row(
            method,
            each.quality_with(alpha),
            each.unreachable,
            landed=(
                None
                if reach is None
                else float(reach[each.centroids].any(axis=0).mean())
            ),
        )
        for method, each in study.clusterings.items()
    ]
