"""The section on what starts reach: exploration regions and their redundancy."""

from collections.abc import Mapping

import numpy as np

from kaccess.cluster.k_means import make_features
from kaccess.cluster.regions import Reach, Regions
from kaccess.config import REGION_SECONDS
from kaccess.report.figures import draw_exploration, draw_metric, draw_redundancy
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.page.clusters import suggest_clustering
from kaccess.report.page.contents import Contents
from kaccess.report.page.paper import TABLE_II
from kaccess.report.page.parts import Drawing, Section

__all__ = ["make_regions_section"]

_N_LIMITS = 121  # points of a curve
_N_POSES = 500  # the first ones, for pairs of poses


def make_regions_section(contents: Contents) -> Section:
    """Return what the paper's distributions of starts reach, and how redundantly."""
    title, t_0 = "Exploration regions", contents.poses.robot.scale.fit(REGION_SECONDS)
    found = {name: contents.reach[name] for name in TABLE_II if name in contents.reach}
    if not found:
        return Section("regions", title, "", [suggest_clustering(contents)])
    regions = {name: reach.regions for name, reach in found.items()}
    lead = (
        f"A start explores the poses that it reaches in less than {t_0:.2g} s. Good "
        "starts reach many poses (up), and few of them from many starts (left)."
    )
    parts = [
        _draw_metric(contents, t_0),
        _draw_exploration(contents, found, t_0),
        _draw_redundancy(regions),
    ]
    return Section("regions", title, lead, parts)


def _draw_metric(contents: Contents, t_0: float) -> Drawing:
    poses = contents.poses
    features = make_features(poses.gravity, poses.joints)[:_N_POSES]
    first, second = np.nonzero(~np.eye(len(features), dtype=bool))
    distances = np.linalg.norm(features[first] - features[second], axis=1)
    times = contents.times[:_N_POSES][first, second]
    with figure_style():
        figure = make_figure()
        draw_metric(figure.subplots(), distances, times, t_0=t_0)
    nearest = np.isfinite(times[np.argsort(distances)[: max(1, len(times) // 20)]])
    return Drawing(
        "metric",
        figure,
        f"Share of moves that arrive, over the Euclidean distance of the poses. Of the "
        f"nearest 5 % of pairs, {nearest.mean():.0%} arrive.",
        "Near poses are often out of reach: the Euclidean distance misleads (the "
        "paper's Fig. 1).",
    )


def _draw_exploration(
    contents: Contents, found: Mapping[str, Reach], t_0: float
) -> Drawing:
    limit = contents.summary.settings["access"]["time_limit"]
    limits = np.linspace(0.0, limit, _N_LIMITS)
    shares = {name: reach.measure(limits) for name, reach in found.items()}
    with figure_style():
        figure = make_figure()
        draw_exploration(figure.subplots(), shares, limits, t_0=t_0)
    ends = ", ".join(f"{name} {values[-1]:.0%}" for name, values in shares.items())
    return Drawing(
        "exploration",
        figure,
        f"Share of poses that some start reaches, over time. In the end: {ends}.",
        "Poses that some start other than themselves reaches within a time (the "
        "paper's Fig. 2).",
    )


def _draw_redundancy(regions: Mapping[str, Regions]) -> Drawing:
    with figure_style():
        figure = make_figure()
        draw_redundancy(figure.subplots(), regions)
    points = "; ".join(
        f"{name} {each.share:.0%}, {each.redundancy:.1f}"
        for name, each in regions.items()
    )
    return Drawing(
        "redundancy",
        figure,
        f"Share of poses in some region, and mean number of regions that hold such a "
        f"pose: {points}.",
        "Coverage and redundancy of the regions (the paper's Fig. 3); 1: no overlap.",
    )
