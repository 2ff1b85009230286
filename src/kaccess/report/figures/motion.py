"""Figures of joints in motion: the paper's Fig. 8 (c) and (d)."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from kaccess.base.types import Array
from kaccess.report.figures.style import SERIES

__all__ = ["draw_joints", "measure_height"]

_HEIGHT, _ROW_HEIGHT = 4.0, 0.18  # [inches], of a figure and of a row in its legend
_LINE_LETTERS, _MARK_LETTERS = 92, 8  # width of the legend and of a line's mark

_DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", (0, (4, 2)), (0, (1, 1)))


def draw_joints(
    ax: Axes, seconds: Array, values: Array, *, names: Sequence[str], label: str
) -> None:
    """Draw one line for each joint over time.

    Joints have the same colour if the first part of their names is the same, such as
    the joints of one leg.

    Args:
        ax: Axes to draw on.
        seconds: (t,) time [s].
        values: (t, nu) positions or torques.
        names: (nu,) names of the joints.
        label: Name of the values, with their unit.
    """
    limbs = [name.partition("_")[0] for name in names]
    labels = shorten_names(names)
    colour = {limb: SERIES[i % 6] for i, limb in enumerate(dict.fromkeys(limbs))}
    for column, (label_, limb) in enumerate(zip(labels, limbs, strict=True)):
        ax.plot(
            seconds,
            values[:, column],
            color=colour[limb],
            linestyle=_DASHES[limbs[:column].count(limb) % len(_DASHES)],
            linewidth=1.6,
            label=label_,
        )
    ax.set(xlabel="time [s]", ylabel=label)
    ax.set_xlim(float(seconds[0]), float(seconds[-1]))
    ax.grid(axis="y")
    ax.legend(
        ncols=count_columns(names),
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2 * _HEIGHT / measure_height(names)),
        fontsize=8.5,
    )


def shorten_names(names: Sequence[str]) -> list[str]:
    """Return names without underscores and without words that all of them have."""
    words = [name.replace("_", " ").split() for name in names]
    common = set.intersection(*map(set, words)) if len(words) > 1 else set()
    short = [" ".join(word for word in each if word not in common) for each in words]
    if all(short) and len(set(short)) == len(short):
        return short
    return [" ".join(each) for each in words]


def count_columns(names: Sequence[str]) -> int:
    """Return the number of columns of the legend: 4, or fewer if names are long."""
    longest = max(map(len, shorten_names(names)))
    return min(max(_LINE_LETTERS // (longest + _MARK_LETTERS), 1), 4)


def measure_height(names: Sequence[str]) -> float:
    """Return the height of a figure with a legend of these names [inches]."""
    n_rows = -(-len(names) // count_columns(names))
    return _HEIGHT + _ROW_HEIGHT * max(n_rows - 3, 0)
