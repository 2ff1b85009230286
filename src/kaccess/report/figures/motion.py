"""Figures of joints in motion: the paper's Fig. 8 (c) and (d)."""

from collections.abc import Sequence

from matplotlib.axes import Axes

from kaccess.base.types import Array
from kaccess.report.figures.style import SERIES

__all__ = ["draw_joints"]

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
    colour = {limb: SERIES[i % 6] for i, limb in enumerate(dict.fromkeys(limbs))}
    for column, (name, limb) in enumerate(zip(names, limbs, strict=True)):
        ax.plot(
            seconds,
            values[:, column],
            color=colour[limb],
            linestyle=_DASHES[limbs[:column].count(limb) % len(_DASHES)],
            linewidth=1.6,
            label=name.replace("_", " "),
        )
    ax.set(xlabel="time [s]", ylabel=label)
    ax.set_xlim(float(seconds[0]), float(seconds[-1]))
    ax.grid(axis="y")
    ax.legend(ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize=8.5)
