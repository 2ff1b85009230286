"""Comparison of the clusterings of a study, and of its other starts."""

from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from kaccess.base.types import BoolArray
from kaccess.cluster.comparison import (
    ComparisonRow,
    make_row,
    make_starts_row,
    measure_contact,
)
from kaccess.cluster.regions import Reach, leave_out_starts, measure_regions
from kaccess.config import METHODS, REGION_SECONDS, ClusterConfig
from kaccess.study.arrays import Arrays
from kaccess.study.clusterings import StoredClustering
from kaccess.study.start_times import read_start_times
from kaccess.study.study import Study

__all__ = ["compare_clusterings", "find_reach"]


@dataclass(frozen=True, eq=False)
class _Facts:
    """What all rows need of a study.

    Args:
        contacts: (n, n_parts) which parts touch the ground.
        arrays: Arrays of the study, which may hold landings.
        t_0: Time within which an exploration region is reached [s].
    """

    contacts: BoolArray
    arrays: Arrays
    t_0: float


def compare_clusterings(study: Study) -> list[ComparisonRow]:
    """Return the quality of each clustering in a study, and of its other starts.

    A clustering for a task, such as `kaccess@backflip`, is judged by the poses that the
    task can start from. Starts that are no centroids, such as `9-pose`, come last.
    """
    found = study.all_clusterings
    if not found:
        return []
    facts = _Facts(
        study.contacts,
        study.arrays,
        study.robot.scale.fit(REGION_SECONDS),
    )
    rows = [_compare(name.text, each, facts) for name, each in found.items()]
    for name, times in read_start_times(study).items():
        covered = np.asarray(np.isfinite(times).any(axis=0))
        row = make_starts_row(name, len(times), covered)
        rows.append(replace(row, regions=measure_regions(times, facts.t_0)))
    return [*rows, _compare_all_poses(facts)]


def _compare_all_poses(facts: _Facts) -> ComparisonRow:
    """Return the row of `rnd`, whose starts are all poses."""
    reach = _reach_from_all(facts.arrays, facts.t_0)
    row = make_starts_row("rnd", len(reach.counts), np.isfinite(reach.soonest))
    return replace(row, regions=reach.regions)


def find_reach(study: Study, t_0: float) -> dict[str, Reach]:
    """Return what starts reach, by name of the starts.

    A start does not reach itself. Starts of a task are left out.

    Args:
        study: Study whose times are all estimated.
        t_0: Time within which an exploration region is reached [s].
    """
    study.arrays.require_finished()
    found = {}
    for method, each in study.clusterings.items():
        name = METHODS[method].starts if method in METHODS else method
        times = study.arrays.read("times", each.centroids)
        found[name] = Reach.of(leave_out_starts(times, each.centroids), t_0)
    for name, times in read_start_times(study).items():
        found[name] = Reach.of(times, t_0)
    return found | {"rnd": _reach_from_all(study.arrays, t_0)}


def _reach_from_all(arrays: Arrays, t_0: float) -> Reach:
    """Return what all poses together reach, each of them the others."""
    poses = np.arange(arrays.n_poses)
    parts = (
        Reach.of(leave_out_starts(times, poses[rows]), t_0)
        for rows, times in arrays.read_in_parts("times")
    )
    return reduce(add, parts)


def _compare(name: str, each: StoredClustering, facts: _Facts) -> ComparisonRow:
    """Return the row of one clustering."""
    alpha = ClusterConfig().alpha  # the same for all, so that they can be compared
    poses, times = each.members, facts.arrays.read("times", each.centroids)
    times = np.where(np.isnan(times), np.inf, times)  # if partial: not reached
    times = leave_out_starts(times, each.centroids)[:, poses]
    return replace(
        make_row(name, each.quality_with(alpha), each.unreachable),
        landed=_measure_landed(facts.arrays, each),
        regions=measure_regions(times, facts.t_0),
        contact=measure_contact(each.labels[poses], facts.contacts[poses]),
    )


def _measure_landed(arrays: Arrays, each: StoredClustering) -> float | None:
    """Return the share of poses at which some move from a centroid lands, if known."""
    if not arrays.has_landings():
        return None
    landings = arrays.read_landings_from(each.centroids)
    reach = landings.find_reach(each.centroids, len(each.labels))
    return float(reach[:, each.members].any(axis=0).mean())
