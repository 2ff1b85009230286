"""Inter-cluster accessibility as a chord diagram with arrows: the paper's Fig. 7.

Each cluster is an arc; its width grows with the accessibility from and to it. A chord
is as wide as the accessibility it shows. It has the colour of its source and ends in an
arrow head at its goal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from kaccess.base.types import Array
from kaccess.report.figures.style import FAINT, SERIES

__all__ = ["draw_chord"]

_GAP = 0.25  # gap between arcs, as a share of an equal arc [-]
_EQUAL = 0.5  # share of the circle that is split equally between arcs [-]
_OUTER, _INNER = 1.0, 0.95  # radii of the arcs
_HEAD = 0.07  # length of an arrow head
_PULL = (0.25, 0.65)  # distance from the centre where far and near chords bend


@dataclass(frozen=True)
class _Span:
    """Part of the circle between two angles [rad]."""

    low: float
    high: float


def draw_chord(
    ax: Axes,
    inter: Array,
    *,
    names: Sequence[str],
    images: Sequence[np.ndarray] = (),
    omit_below: float = 0.05,
    highlight_above: float = 0.15,
) -> None:
    """Draw how accessible clusters are from one another.

    Args:
        ax: Axes to draw on.
        inter: (k, k) accessibility from cluster i to the centroid of cluster j.
        names: (k,) names of the clusters.
        images: One picture for each cluster; empty for no pictures.
        omit_below: Accessibility below which chords are left out.
        highlight_above: Accessibility above which chords are coloured; others are grey.
    """
    shown = np.where(inter >= omit_below, inter, 0.0)
    np.fill_diagonal(shown, 0.0)
    arcs = _place_arcs(shown)
    for cluster, arc in enumerate(arcs):
        _add_patch(ax, _make_band(arc), SERIES[cluster % len(SERIES)], alpha=1.0)
        _add_label(ax, arc, names[cluster], images[cluster] if len(images) else None)
    ends = _place_chords(shown, arcs)
    weak = np.argwhere((shown > 0) & (shown <= highlight_above))
    strong = np.argwhere(shown > highlight_above)
    for i, j in weak:
        _add_patch(ax, _make_chord(*ends[i, j]), FAINT, alpha=0.22)
    for i, j in strong[np.argsort(shown[tuple(strong.T)])[::-1]]:  # thin ones on top
        _add_patch(ax, _make_chord(*ends[i, j]), SERIES[i % len(SERIES)], alpha=0.72)
    reach = 1.45 if len(images) else 1.18
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    ax.set_axis_off()


def _place_arcs(shown: Array) -> list[_Span]:
    """Return the arc of each cluster, clockwise from the top."""
    k, total = len(shown), shown.sum(axis=0) + shown.sum(axis=1)
    # Clusters without a chord have an arc too.
    share = _EQUAL / k + (1 - _EQUAL) * total / max(float(total.sum()), 1e-9)
    gap = _GAP * 2 * np.pi / k
    width = share * (2 * np.pi - gap * k) / share.sum()
    high = np.pi / 2 - np.cumsum(width + gap) + width + gap / 2
    return [_Span(float(h - w), float(h)) for h, w in zip(high, width, strict=True)]


def _place_chords(
    shown: Array, arcs: Sequence[_Span]
) -> dict[tuple[int, int], tuple[_Span, _Span]]:
    """Return both ends of each chord; chords of near neighbours do not cross."""
    k = len(arcs)
    total = shown.sum(axis=0) + shown.sum(axis=1)
    widths = np.array([arc.high - arc.low for arc in arcs])
    scale = float((widths[total > 0] / total[total > 0]).min(initial=np.inf))
    starts: dict[tuple[int, int], _Span] = {}
    goals: dict[tuple[int, int], _Span] = {}
    for here, arc in enumerate(arcs):
        unused = (widths[here] - scale * total[here]) / 2 if total[here] else 0.0
        angle = arc.high - unused
        for step in range(1, k):  # from the neighbour on one side round to the other
            other = (here - step) % k
            for ends, pair in ((starts, (here, other)), (goals, (other, here))):
                if shown[pair]:
                    low = angle - scale * float(shown[pair])
                    ends[pair] = _Span(low, angle)
                    angle = low
    return {pair: (starts[pair], goals[pair]) for pair in starts}


def _make_chord(start: _Span, goal: _Span) -> Path:
    """Return a chord from one arc to an arrow head at another."""
    middle, neck = (goal.low + goal.high) / 2, _INNER - _HEAD
    side = (goal.high - goal.low) / 2
    first, last = _to_xy(middle - side, neck), _to_xy(middle + side, neck)
    begin = _sample_arc(start.low, start.high, _INNER - 0.015)
    bend = _find_bend((start.low + start.high) / 2, middle)
    points = [*begin, bend, first, _to_xy(middle, _INNER - 0.01), last, bend, begin[0]]
    codes = [Path.MOVETO, *[Path.LINETO] * (len(begin) - 1)]
    codes += [Path.CURVE3, Path.CURVE3, Path.LINETO, Path.LINETO]
    codes += [Path.CURVE3, Path.CURVE3]
    return Path(np.array(points), codes)


def _find_bend(start: float, goal: float) -> np.ndarray:
    """Return the control point of a chord between two angles."""
    far, near = _PULL
    pull = far + (near - far) * max(np.cos(start - goal), 0.0)
    return np.asarray(pull * (_to_xy(start, 1.0) + _to_xy(goal, 1.0)) / 2)


def _make_band(arc: _Span) -> Path:
    inner = _sample_arc(arc.low, arc.high, _INNER)
    outer = _sample_arc(arc.low, arc.high, _OUTER)[::-1]
    return Path(np.array([*inner, *outer, inner[0]]), closed=True)


def _sample_arc(low: float, high: float, radius: float) -> list[np.ndarray]:
    n = max(2, int(np.ceil((high - low) / 0.05)) + 1)
    return [_to_xy(angle, radius) for angle in np.linspace(low, high, n)]


def _to_xy(angle: float, radius: float) -> np.ndarray:
    return radius * np.array([np.cos(angle), np.sin(angle)])


def _add_patch(ax: Axes, path: Path, colour: str, *, alpha: float) -> None:
    ax.add_patch(PathPatch(path, facecolor=colour, alpha=alpha, linewidth=0))


def _add_label(ax: Axes, arc: _Span, name: str, image: np.ndarray | None) -> None:
    middle = (arc.low + arc.high) / 2
    x, y = _to_xy(middle, 1.07)
    ax.text(x, y, name, ha="center", va="center", fontsize=9)
    if image is not None:
        box = OffsetImage(image, zoom=0.44)
        ax.add_artist(
            AnnotationBbox(box, tuple(_to_xy(middle, 1.3)), frameon=False, pad=0)
        )
