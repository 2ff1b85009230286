"""Figures of learning: curves, and success by group of test poses."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from kaccess.base.types import Array
from kaccess.report.figures.style import FAINT, MARKERS, SERIES
from kaccess.starts import GUIDED

__all__ = ["draw_curves", "draw_success"]

_DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", (0, (5, 2)), (0, (1, 1)))


def draw_curves(
    ax: Axes,
    curves: Mapping[str, tuple[Array, Array]],
    *,
    label: str = "reward",
    share: bool = False,
) -> None:
    """Draw learning curves, mean and +-1 SD over seeds: the paper's Fig. 9 and 10.

    Guided learners have the colour of their starts, and dashed lines. If there are
    more kinds of starts than colours, only the means are drawn.

    Args:
        ax: Axes to draw on.
        curves: Episodes of training, (m,), and values, (n_seeds, m), by name of the
            starts.
        label: Name of the values.
        share: Whether the values are shares, to be shown in percent.
    """
    kinds = list(dict.fromkeys(name.removeprefix(GUIDED) for name in curves))
    for name, (episodes, values) in curves.items():
        number, guided = kinds.index(name.removeprefix(GUIDED)), name.startswith(GUIDED)
        colour = SERIES[number % len(SERIES)]
        ax.plot(
            episodes,
            values.mean(axis=0),
            color=colour,
            linestyle=_DASHES[(guided + number // len(SERIES)) % len(_DASHES)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=4.5,
            markevery=max(1, len(episodes) // 8),
            linewidth=2,
            label=name,
        )
        if len(kinds) <= len(SERIES):  # more bands would hide one another
            low, high = _find_band(values, share=share)
            ax.fill_between(episodes, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.set(xlabel="episodes of training", ylabel=label)
    if share:
        ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        ax.set_ylim(-0.02, 1.02)
    ax.grid(axis="y")
    ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize=9.5)


def _find_band(values: Array, *, share: bool) -> tuple[Array, Array]:
    """Return mean - SD and mean + SD over seeds, (m,) each; shares lie in [0, 1]."""
    mean, spread = values.mean(axis=0), values.std(axis=0)
    low, high = mean - spread, mean + spread
    if share:
        low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    return low, high


def draw_success(
    ax: Axes, success: Array, *, starts: Sequence[str], groups: Sequence[str]
) -> None:
    """Draw success by kind of starts and group of test poses.

    Args:
        ax: Axes to draw on.
        success: (n_starts, n_groups) shares of poses; NaN where nothing was tested.
        starts: Names of the rows.
        groups: Names of the columns, such as clusters.
    """
    image = ax.imshow(
        success, vmin=0.0, vmax=1.0, cmap="cividis", aspect="auto", interpolation="none"
    )
    ax.set_yticks(range(len(starts)), starts)
    ax.set_xticks(range(len(groups)), groups, fontsize=7.5, rotation=90)
    ax.tick_params(length=0)
    ax.set(xlabel="cluster of the test pose")
    ax.spines[:].set_color(FAINT)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.01)
    bar.ax.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    bar.set_label("success")
