"""Figures of the matrix of transition times."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from kaccess.access import accessibility
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import AccessConfig
from kaccess.report.figures.style import ACCENT, FAINT, STRONG

__all__ = ["draw_access", "draw_asymmetry", "draw_reach", "draw_times"]

_MOST_PIXELS = 1000  # per side of the matrix


def draw_access(
    ax: Axes, times: Array, *, order: IntArray, ordered_by: str = "roll"
) -> None:
    """Draw the accessibility matrix.

    Args:
        ax: Axes to draw on.
        times: (n, n) seconds from pose i to pose j.
        order: (n,) pose indices in the order to draw them.
        ordered_by: Name of this order.
    """
    access = _shrink(accessibility(times)[np.ix_(order, order)])
    n = len(times)
    image = ax.imshow(
        access,
        vmin=0.0,
        vmax=1.0,
        cmap="viridis",
        interpolation="none",
        extent=(0, n, n, 0),
    )
    ax.set(
        xlabel=f"to pose (by {ordered_by})", ylabel="from pose", title="Accessibility"
    )
    ax.figure.colorbar(image, ax=ax, shrink=0.85)


def draw_times(ax: Axes, times: Array) -> None:
    """Draw a histogram of the times of moves that reached their goal."""
    moves = _find_moves(times)
    share = moves.sum() / max(len(times) * (len(times) - 1), 1)
    ax.hist(times[moves], bins=60, range=(0.0, _find_longest(times)), color=ACCENT)
    ax.set(
        xlabel="time from pose to pose [s]",
        ylabel="pairs",
        title=f"{share:.1%} of the pairs are reached in one move",
    )
    ax.spines[["top", "right"]].set_visible(False)


def draw_asymmetry(ax: Axes, times: Array) -> None:
    """Draw the time from i to j against the time from j to i, if both are reached."""
    longest = _find_longest(times)
    moves = _find_moves(times)
    there, back = np.nonzero(np.triu(moves & moves.T))
    n_linked = int(np.triu(moves | moves.T).sum())
    counts, *_ = np.histogram2d(
        times[back, there],
        times[there, back],
        bins=60,
        range=[(0.0, longest)] * 2,
    )
    shown = np.ma.masked_equal(counts, 0)
    image = ax.imshow(
        shown,
        origin="lower",
        extent=(0.0, longest, 0.0, longest),
        norm=LogNorm(vmin=1, vmax=max(float(counts.max()), 2.0)),
        cmap="viridis",
        interpolation="none",
    )
    ax.axline((0, 0), slope=1, color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    one_way = 1 - len(there) / max(n_linked, 1)
    ax.set(
        xlabel="time from pose i to j [s]",
        ylabel="from j to i [s]",
        title=f"{one_way:.1%} of the links go one way only",
    )
    ax.figure.colorbar(image, ax=ax, label="pairs linked both ways", shrink=0.85)


def draw_reach(ax: Axes, times: Array) -> None:
    """Draw how many poses each pose reaches in one move, and how many reach it."""
    moves = _find_moves(times)
    rank = np.arange(len(times)) + 1
    for axis, label, colour, dash in (
        (1, "reaches", ACCENT, "-"),
        (0, "is reached from", STRONG, (0, (4, 2))),
    ):
        count = np.sort(moves.sum(axis=axis))[::-1]
        ax.plot(rank, count, color=colour, linestyle=dash, linewidth=2, label=label)
    ax.set(xlabel="poses, sorted by number", ylabel="other poses, in one move")
    ax.set_ylim(bottom=0)
    ax.set_xlim(1, len(times))
    ax.grid(axis="y")
    ax.legend(title="a pose ...", alignment="left")


def _shrink(matrix: Array) -> Array:
    """Return a matrix that is small enough to draw: blocks of it are averaged."""
    block = -(-len(matrix) // _MOST_PIXELS)
    if block == 1:
        return matrix
    edges = np.arange(0, len(matrix), block)
    sums = np.add.reduceat(np.add.reduceat(matrix, edges, axis=0), edges, axis=1)
    sizes = np.diff(np.append(edges, len(matrix)))
    return np.asarray(sums / np.outer(sizes, sizes))


def _find_moves(times: Array) -> BoolArray:
    return np.asarray(np.isfinite(times) & ~np.eye(len(times), dtype=bool))


def _find_longest(times: Array) -> float:
    """Return the end of time axes [s]: the default time limit, or more if needed."""
    moves = _find_moves(times)
    return float(np.max(times[moves], initial=AccessConfig().time_limit))
