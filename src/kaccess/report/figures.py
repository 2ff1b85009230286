"""Figures of a study. Each function draws on the axes it is given."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kaccess.access import accessibility
from kaccess.poses import Poses
from kaccess.types import Array, IntArray

__all__ = ["draw_access", "draw_poses", "draw_times", "overview", "representatives"]

_N_THUMBNAILS = 8


def overview(poses: Poses, times: Array, images: np.ndarray | None) -> Figure:
    """Return poses, accessibility and times of a study on one page.

    Args:
        poses: n poses.
        times: (n, n) seconds from pose i to pose j.
        images: Pictures of `representatives(poses)`, or None to leave them out.
    """
    figure = Figure(figsize=(11, 6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1, 3])  # type: ignore[misc]  # two of them
    if images is not None:
        draw_poses(np.ravel(top.subplots(1, len(images))), images)
    name = Path(poses.robot.name).stem
    bottom.suptitle(f"{len(poses)} static poses of {name}, some of them above")
    left, right = bottom.subplots(1, 2, width_ratios=[1, 1.3])
    draw_access(left, times, order=np.argsort(poses.roll))
    draw_times(right, times)
    return figure


def representatives(poses: Poses) -> IntArray:
    """Return the first pose of each of the most frequent contact cases."""
    _, first, count = np.unique(
        poses.contacts, axis=0, return_index=True, return_counts=True
    )
    return np.asarray(first[np.argsort(-count, kind="stable")][:_N_THUMBNAILS])


def draw_poses(axes: Any, images: np.ndarray) -> None:  # noqa: ANN401  # array of Axes
    """Draw one picture on each of the axes."""
    for ax, image in zip(axes, images, strict=True):
        ax.imshow(image)
        ax.set_axis_off()


def draw_access(ax: Axes, times: Array, *, order: IntArray) -> None:
    """Draw the accessibility matrix, poses in the order given."""
    access = accessibility(times)[np.ix_(order, order)]
    image = ax.imshow(access, vmin=0.0, vmax=1.0, cmap="viridis", interpolation="none")
    ax.set(xlabel="to pose (by roll)", ylabel="from pose", title="Accessibility")
    ax.figure.colorbar(image, ax=ax, shrink=0.85)


def draw_times(ax: Axes, times: Array) -> None:
    """Draw the distribution of the times of the transitions that were reached."""
    moves = np.isfinite(times) & ~np.eye(len(times), dtype=bool)
    share = moves.sum() / (len(times) * (len(times) - 1))
    ax.hist(times[moves], bins=60, range=(0.0, 3.0), color="#3b6ea5")
    ax.set(
        xlabel="time from pose to pose [s]",
        ylabel="pairs",
        title=f"{share:.1%} of the pairs are reached in one move",
    )
    ax.spines[["top", "right"]].set_visible(False)
