"""Figures of clusters: how many there are, and their sizes."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from kaccess.base.types import Array, IntArray
from kaccess.report.figures.style import ACCENT, FAINT, STRONG

__all__ = ["draw_over_k", "draw_sizes"]


def draw_over_k(
    ax: Axes, k: IntArray, values: Array, *, chosen: int | None, label: str
) -> None:
    """Draw a property of clusterings over their number of clusters.

    Args:
        ax: Axes to draw on.
        k: (m,) numbers of clusters.
        values: (m,) values to draw, such as the index; NaN is left out.
        chosen: Number of clusters to mark; None marks none.
        label: Name of the values.
    """
    ax.plot(k, values, color=ACCENT, linewidth=2)
    if chosen is not None and chosen in k:
        _mark_choice(ax, k, values, chosen)
    ax.set_ylabel(label)
    ax.margins(x=0.01, y=0.2)
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low == high:
        ax.set_ylim(low - 0.5, low + 1.5)
    ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    ax.grid(axis="y")


def _mark_choice(ax: Axes, k: IntArray, values: Array, chosen: int) -> None:
    value = float(values[np.flatnonzero(k == chosen)[0]])
    ax.axvline(chosen, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    ax.plot([chosen], [value], "o", color=STRONG, markersize=7)
    right = chosen > np.mean([np.min(k), np.max(k)])
    ax.annotate(
        f"{value:.3g} at k = {chosen}",
        (chosen, value),
        xytext=(-9 if right else 9, 6),
        textcoords="offset points",
        ha="right" if right else "left",
    )


def draw_sizes(ax: Axes, sizes: IntArray) -> None:
    """Draw the number of poses in each cluster, the largest first: the paper's Fig. 6.

    Args:
        ax: Axes to draw on.
        sizes: (k,) number of poses in each cluster, in any order.
    """
    ordered = np.sort(sizes)[::-1]
    colours = np.where(ordered == 1, STRONG, ACCENT)
    ax.bar(np.arange(len(ordered)) + 1, ordered, color=colours, width=0.8)
    single = int((ordered == 1).sum())
    ax.set(
        xlabel="clusters, the largest first",
        ylabel="poses",
        title=f"{len(ordered)} clusters: {ordered[0]} poses in the largest, "
        f"{single} clusters of one pose",
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(0.3, len(ordered) + 0.7)
    ax.grid(axis="y")
