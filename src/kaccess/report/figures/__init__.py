"""Figures of a study. Each `draw_*` function draws arrays on given axes."""

from kaccess.report.figures.chord import draw_chord
from kaccess.report.figures.clusters import draw_over_k, draw_sizes
from kaccess.report.figures.learning import draw_curves, draw_success
from kaccess.report.figures.matrix import (
    draw_access,
    draw_asymmetry,
    draw_reach,
    draw_times,
)
from kaccess.report.figures.motion import draw_joints
from kaccess.report.figures.overview import make_overview
from kaccess.report.figures.poses import (
    draw_attitudes,
    draw_contacts,
    draw_poses,
    pick_representatives,
)
from kaccess.report.figures.regions import (
    draw_exploration,
    draw_metric,
    draw_redundancy,
)

__all__ = [
    "draw_access",
    "draw_asymmetry",
    "draw_attitudes",
    "draw_chord",
    "draw_contacts",
    "draw_curves",
    "draw_exploration",
    "draw_joints",
    "draw_metric",
    "draw_over_k",
    "draw_poses",
    "draw_reach",
    "draw_redundancy",
    "draw_sizes",
    "draw_success",
    "draw_times",
    "make_overview",
    "pick_representatives",
]
