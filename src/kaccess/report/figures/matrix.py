"""Figures of the matrix of transition times."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm

from kaccess.access import accessibility
from kaccess.base.types import Array, IntArray
from kaccess.config import AccessConfig
from kaccess.report.figures.all_times import AllTimes, find_moves, iterate
from kaccess.report.figures.style import ACCENT, FAINT, STRONG

__all__ = ["draw_access", "draw_asymmetry", "draw_reach", "draw_times"]

_MOST_PIXELS = 1000  # per side of the matrix
_N_BINS = 60  # of times
_BLOCK = 512  # rows that are compared with columns at once


def draw_access(
    ax: Axes, times: AllTimes, *, order: IntArray, ordered_by: str = "roll"
) -> None:
    """Draw the accessibility matrix.

    Args:
        ax: Axes to draw on.
        times: (n, n) seconds from pose i to pose j.
        order: (n,) pose indices in the order to draw them.
        ordered_by: Name of this order.
    """
    access, n = _shrink(times, order), len(times)
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


def draw_times(ax: Axes, times: AllTimes) -> None:
    """Draw a histogram of the times of moves that reached their goal."""
    edges = np.linspace(0.0, _find_longest(times), _N_BINS + 1)
    counts = np.zeros(_N_BINS, np.int64)
    for rows, part in iterate(times):
        counts += np.histogram(part[find_moves(rows, part)], edges)[0]
    share = counts.sum() / max(len(times) * (len(times) - 1), 1)
    ax.hist(edges[:-1], edges.tolist(), weights=counts, color=ACCENT)
    ax.set(
        xlabel="time from pose to pose [s]",
        ylabel="pairs",
        title=f"{share:.1%} of the pairs are reached in one move",
    )
    ax.spines[["top", "right"]].set_visible(False)


def draw_asymmetry(ax: Axes, times: AllTimes) -> None:
    """Draw the time from i to j against the time from j to i, if both are reached."""
    longest = _find_longest(times)
    counts, n_linked = _count_both_ways(times, np.linspace(0.0, longest, _N_BINS + 1))
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
    one_way = 1 - counts.sum() / max(n_linked, 1)
    ax.set(
        xlabel="time from pose i to j [s]",
        ylabel="from j to i [s]",
        title=f"{one_way:.1%} of the links go one way only",
    )
    ax.figure.colorbar(image, ax=ax, label="pairs linked both ways", shrink=0.85)


def draw_reach(ax: Axes, times: AllTimes) -> None:
    """Draw how many poses each pose reaches in one move, and how many reach it."""
    reaches, reached = np.zeros((2, len(times)), np.int64)
    for rows, part in iterate(times):
        moves = find_moves(rows, part)
        reaches[rows] = moves.sum(axis=1)
        reached += moves.sum(axis=0)
    rank = np.arange(len(times)) + 1
    for numbers, label, colour, dash in (
        (reaches, "reaches", ACCENT, "-"),
        (reached, "is reached from", STRONG, (0, (4, 2))),
    ):
        count = np.sort(numbers)[::-1]
        ax.plot(rank, count, color=colour, linestyle=dash, linewidth=2, label=label)
    ax.set(xlabel="poses, sorted by number", ylabel="other poses, in one move")
    ax.set_ylim(bottom=0)
    ax.set_xlim(1, len(times))
    ax.grid(axis="y")
    ax.legend(title="a pose ...", alignment="left")


def _shrink(times: AllTimes, order: IntArray) -> Array:
    """Return accessibilities in some order, small enough to draw: means of blocks."""
    n = len(order)
    edges = np.arange(0, n, -(-n // _MOST_PIXELS))
    place = np.searchsorted(edges, np.argsort(order), side="right") - 1
    sums = np.zeros((len(edges), len(edges)))
    for rows, part in iterate(times):
        access = accessibility(part)[:, order]
        np.add.at(sums, place[rows], np.add.reduceat(access, edges, axis=1))
    sizes = np.diff(np.append(edges, n))
    return np.asarray(sums / np.outer(sizes, sizes))


def _count_both_ways(times: AllTimes, edges: Array) -> tuple[Array, int]:
    """Return how many pairs take which time there and back, and how many are linked.

    Each pair counts once. Only the bins of all times are in memory, a byte each.

    Args:
        times: Times of all pairs.
        edges: (b + 1,) ends of the bins [s].

    Returns:
        (b, b) numbers of pairs that are linked both ways, by time back and there; and
        the number of pairs that are linked at all.
    """
    n, n_bins = len(times), len(edges) - 1
    bins = np.full((n, n), n_bins, np.uint8)  # the last one: no move
    for rows, part in iterate(times):
        moves = find_moves(rows, part)
        found = np.searchsorted(edges, part[moves], side="right") - 1
        bins[rows][moves] = np.minimum(found, n_bins - 1)
    counts = np.zeros((n_bins + 1) ** 2, np.int64)
    for start in range(0, n, _BLOCK):
        there = bins[start : start + _BLOCK, start:].astype(np.int64)
        back = bins[start:, start : start + _BLOCK].T.astype(np.int64)
        above = np.arange(n - start) > np.arange(len(there))[:, None]
        both = back[above] * (n_bins + 1) + there[above]
        counts += np.bincount(both, minlength=len(counts))
    table = counts.reshape(n_bins + 1, n_bins + 1)
    return table[:-1, :-1].astype(float), int(table.sum() - table[-1, -1])


def _find_longest(times: AllTimes) -> float:
    """Return the end of time axes [s]: the default time limit, or more if needed."""
    longest = float(AccessConfig().time_limit)
    for rows, part in iterate(times):
        longest = float(np.max(part[find_moves(rows, part)], initial=longest))
    return longest
