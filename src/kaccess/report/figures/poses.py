"""Figures of poses: pictures, orientation, and parts on the ground."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.report.figures.style import ACCENT

__all__ = ["draw_attitudes", "draw_contacts", "draw_poses", "pick_representatives"]

_MOST_LETTERS = 44  # of a label beside a bar
_MOST_DOTS = 3000  # above this, dots are stored as an image in the SVG


def pick_representatives(contacts: BoolArray, n: int = 8) -> IntArray:
    """Return the first pose of each of the most frequent contact cases, (at most n,).

    Args:
        contacts: (n_poses, n_parts) which parts touch the ground.
        n: Maximum number of poses.
    """
    _, first, count = np.unique(contacts, axis=0, return_index=True, return_counts=True)
    return np.asarray(first[np.argsort(-count, kind="stable")][:n])


def draw_poses(
    axes: Any,  # noqa: ANN401  # array of Axes
    images: np.ndarray,
    titles: Sequence[str] = (),
) -> None:
    """Draw one picture on each of the axes: poses, or snapshots of a motion.

    Args:
        axes: (n,) axes.
        images: (n, height, width, 3) pictures.
        titles: (n,) titles; empty for no titles.
    """
    for ax, image in zip(axes, images, strict=True):
        ax.imshow(image)
        ax.set_axis_off()
    for ax, title in zip(axes, titles, strict=False):
        ax.set_title(title)


def draw_attitudes(ax: Axes, roll: Array, pitch: Array, height: Array) -> None:
    """Draw roll and pitch of each pose, coloured by height.

    Args:
        ax: Axes to draw on.
        roll: (n,) roll [rad].
        pitch: (n,) pitch [rad].
        height: (n,) height of the base [m].
    """
    dots = ax.scatter(
        np.degrees(roll),
        np.degrees(pitch),
        c=1000 * height,
        s=9,
        cmap="viridis",
        linewidths=0,
        rasterized=len(roll) > _MOST_DOTS,
    )
    ax.set(
        xlabel="roll [deg]",
        ylabel="pitch [deg]",
        xlim=(-185, 185),
        ylim=(-95, 95),
        xticks=np.arange(-180, 181, 90),
        yticks=np.arange(-90, 91, 45),
    )
    ax.grid()
    ax.figure.colorbar(dots, ax=ax, label="height of the base [mm]", shrink=0.9)


def draw_contacts(ax: Axes, cases: Sequence[tuple[str, int]], *, n: int = 12) -> None:
    """Draw how many poses touch the ground with the same parts.

    Args:
        ax: Axes to draw on.
        cases: Parts on the ground and number of poses, the most frequent first.
        n: Maximum number of cases to show.
    """
    shown = cases[:n]
    names = [_shorten(name) or "none" for name, _ in shown]
    counts = [count for _, count in shown]
    bars = ax.barh(range(len(shown)), counts, color=ACCENT, height=0.72)
    ax.bar_label(bars, padding=3)
    ax.set_yticks(range(len(shown)), names, fontsize=8.5)
    ax.invert_yaxis()
    ax.margins(x=0.12, y=0.02)
    ax.set(xlabel="poses")
    ax.tick_params(axis="y", length=0)


def _shorten(case: str) -> str:
    """Return the parts of a contact case, the last ones as a number if too long."""
    parts, n = case.split(" + "), 1
    while n < len(parts) and len(" + ".join(parts[: n + 1])) <= _MOST_LETTERS:
        n += 1
    return " + ".join(parts[:n]) + (
        f" + {len(parts) - n} more" if n < len(parts) else ""
    )
