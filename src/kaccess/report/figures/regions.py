"""Figures of what starts reach: counterparts of the paper's Figs. 1 to 3."""

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import (
    LogLocator,
    NullFormatter,
    PercentFormatter,
    StrMethodFormatter,
)

from kaccess.base.types import Array
from kaccess.cluster.regions import Regions
from kaccess.report.figures.style import ACCENT, FAINT, MARKERS, SERIES, STRONG

__all__ = ["draw_exploration", "draw_metric", "draw_redundancy"]

_N_BINS = 20  # of equal numbers of pairs


def draw_metric(ax: Axes, distances: Array, times: Array, *, t_0: float) -> None:
    """Draw how many moves arrive, over the Euclidean distance of the two poses.

    If the distance were a good metric, near poses would all be reached, and far ones
    not: the paper's Fig. 1 shows a case where this fails.

    Args:
        ax: Axes to draw on.
        distances: (m,) Euclidean distance of the poses of each move.
        times: (m,) seconds of each move; inf: not reached.
        t_0: A short time [s].
    """
    order = np.argsort(distances, kind="stable")
    bins = np.array_split(order, min(_N_BINS, len(order)))
    middle = [float(np.median(distances[each])) for each in bins]
    for limit, colour, marker, label in (
        (np.inf, ACCENT, "o", "arrive"),
        (t_0, STRONG, "s", f"arrive in less than {t_0:.2g} s"),
    ):
        shares = [float((times[each] < limit).mean()) for each in bins]
        ax.plot(middle, shares, color=colour, marker=marker, markersize=4, label=label)
    _show_shares(ax, "moves")
    ax.set(xlabel="Euclidean distance of the two poses (gravity and joints)")
    ax.legend()


def draw_exploration(
    ax: Axes, shares: Mapping[str, Array], limits: Array, *, t_0: float
) -> None:
    """Draw the share of poses that starts reach within each time: the paper's Fig. 2.

    Args:
        ax: Axes to draw on.
        shares: (t,) shares of poses by name of the starts.
        limits: (t,) times [s].
        t_0: Time to mark, within which an exploration region is reached [s].
    """
    for number, (name, values) in enumerate(shares.items()):
        ax.plot(
            limits,
            values,
            color=SERIES[number % len(SERIES)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4.5,
            markevery=(number * 4, max(1, len(limits) // 8)),
            linewidth=2,
            label=name,
        )
    ax.axvline(t_0, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    ax.annotate(f" $t_0$ = {t_0:.2g} s", (t_0, 0.2), va="center")
    _show_shares(ax, "poses reached")
    ax.set(xlabel="time of one move from a start [s]", xlim=(0, float(limits[-1])))
    ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize=9.5)


def draw_redundancy(ax: Axes, regions: Mapping[str, Regions]) -> None:
    """Draw coverage against redundancy of starts: the paper's Fig. 3.

    Args:
        ax: Axes to draw on.
        regions: Exploration regions by name of the starts.
    """
    for number, (name, each) in enumerate(regions.items()):
        colour, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
        ax.plot(each.redundancy, each.share, marker, color=colour, markersize=8)
        ax.annotate(
            name,
            (each.redundancy, each.share),
            xytext=(7, (-12, 4)[number % 2]),  # near points stay readable
            textcoords="offset points",
        )
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.margins(x=0.15)
    _show_shares(ax, "poses in some region")
    ax.set(xlabel="redundancy: regions that such a pose lies in")


def _show_shares(ax: Axes, label: str) -> None:
    """Let the y axis show shares in percent."""
    ax.set_ylabel(label)
    ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    ax.set_ylim(-0.02, 1.02)
    ax.grid(axis="y")
