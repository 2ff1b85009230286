"""The overview of a study: one figure."""

import numpy as np
from matplotlib.figure import Figure

from kaccess.poses import Poses
from kaccess.report.figures.all_times import AllTimes
from kaccess.report.figures.matrix import draw_access, draw_times
from kaccess.report.figures.poses import draw_poses

__all__ = ["make_overview"]


def make_overview(poses: Poses, times: AllTimes, images: np.ndarray | None) -> Figure:
    """Return one figure with poses, accessibility and times of a study.

    Args:
        poses: n poses.
        times: (n, n) seconds from pose i to pose j.
        images: Pictures of `pick_representatives(poses.contacts)`; None for none.
    """
    figure = Figure(figsize=(11, 6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1, 3])  # type: ignore[misc]  # an array of two
    if images is not None:
        draw_poses(np.ravel(top.subplots(1, len(images))), images)
    name = poses.robot.name
    bottom.suptitle(f"{len(poses)} static poses of {name}, some of them above")
    left, right = bottom.subplots(1, 2, width_ratios=[1, 1.3])
    draw_access(left, times, order=np.argsort(poses.roll), ordered_by="roll")
    draw_times(right, times)
    return figure
