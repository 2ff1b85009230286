"""The section on the moves between poses: times, links and unreached poses."""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kaccess.access import Connectivity
from kaccess.base.types import IntArray
from kaccess.report.figures import (
    draw_access,
    draw_asymmetry,
    draw_reach,
    draw_times,
)
from kaccess.report.figures.all_times import AllTimes
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import Drawing, Facts, Gallery, Missing, Part, Section
from kaccess.report.page.pictures import make_pictures
from kaccess.report.text.numbers import format_quantiles, format_share

__all__ = ["make_moves_section"]

_N_UNREACHED = 12  # pictures of poses that no other pose reaches


def make_moves_section(contents: Contents) -> Section:
    """Return numbers and figures of the matrix of times, and unreached poses."""
    times, title = contents.summary.times, "Moves"
    command = f"kaccess access {contents.study}"
    if not times.done:
        missing = Missing("No time from pose to pose has been estimated yet.", command)
        return Section("moves", title, "", [missing])
    lead = (
        f"From each of {contents.summary.n_poses:,} poses, the robot was commanded to "
        f"each other pose. {format_share(times.reached, times.done)} of "
        f"{times.done:,} such moves reach their goal, "
        f"{format_share(times.elsewhere, times.done)} end elsewhere."
    )
    parts: list[Part] = [Facts(_list_facts(contents))]
    if contents.summary.graph is None:
        left = f"{times.pairs - times.done:,} moves are not estimated yet."
        return Section("moves", title, lead, [*parts, Missing(left, command)])
    parts += [
        _draw_matrix(contents),
        *_draw_times(contents),
        *_show_unreached(contents, contents.summary.graph),
    ]
    return Section("moves", title, lead, parts)


def _list_facts(contents: Contents) -> list[tuple[str, str]]:
    summary, times = contents.summary, contents.summary.times
    rows = [
        ("reached", format_share(times.reached, times.done)),
        ("at rest elsewhere", format_share(times.elsewhere, times.done)),
        ("not at rest in time", format_share(times.restless, times.done)),
    ]
    if times.seconds:
        rows.append(("time of a move", format_quantiles(times.seconds)))
    if times.one_way is not None:
        rows.append(("one way only", f"{times.one_way:.1%} of the links"))
    if times.stand_up is not None:
        share = format_share(times.stand_up, summary.n_poses)
        rows.append(("stand up in one move", f"{share} of the poses"))
    if summary.graph is not None:
        rows += [
            ("reached by no other", f"{len(summary.graph.unreached)} poses"),
            ("reach no other", f"{len(summary.graph.dead_ends)} poses"),
            ("no route to standing", f"{len(summary.graph.stuck)} poses"),
        ]
    return rows


def _draw_matrix(contents: Contents) -> Drawing:
    order, ordered_by = _order_poses(contents)
    with figure_style():
        figure = make_figure(height=4.4)
        ax = figure.subplots()
        draw_access(ax, contents.times, order=order, ordered_by=ordered_by)
    reached = format_share(contents.summary.times.reached, contents.summary.times.done)
    largest = ", the largest first" if contents.main else ""
    return Drawing(
        "matrix",
        figure,
        f"Matrix of accessibility from each pose (row) to each other pose (column), "
        f"ordered by {ordered_by}; {reached} of the pairs are reached.",
        f"Accessibility exp(-time) from row to column, ordered by {ordered_by}"
        f"{largest}.",
    )


def _order_poses(contents: Contents) -> tuple[IntArray, str]:
    """Return the order of the poses in the matrix, (n,), and its name."""
    main = contents.main
    if main is None:
        return np.argsort(contents.poses.roll), "roll"
    rank = np.argsort(main.by_size)[main.labels]
    return np.argsort(rank, kind="stable"), "cluster"


def _draw_times(contents: Contents) -> list[Drawing]:
    """Return figures of all times: both directions, distribution, reach."""
    both, histogram, reach = (
        _make_figure(draw, contents.times, height)
        for draw, height in (
            (draw_asymmetry, 4.4),
            (draw_times, 3.5),
            (draw_reach, 3.5),
        )
    )
    return [
        Drawing(
            "asymmetry",
            both,
            "Density plot of the time from i to j against the time from j to i.",
            "Off the dashed line, one way takes longer than the other.",
        ),
        Drawing(
            "times",
            histogram,
            "Histogram of the times of the moves that reach their goal.",
            "Times of the moves that reach their goal.",
        ),
        Drawing(
            "reach",
            reach,
            "Number of poses that each pose reaches, and of poses that reach it.",
            "Number of other poses that each pose reaches, and that reach it.",
        ),
    ]


def _make_figure(
    draw: Callable[[Axes, AllTimes], None], times: AllTimes, height: float
) -> Figure:
    with figure_style():
        figure = make_figure(height=height)
        draw(figure.subplots(), times)
    return figure


def _show_unreached(contents: Contents, graph: Connectivity) -> list[Gallery]:
    n_unreached = len(graph.unreached)
    if not n_unreached:
        return []
    shown = graph.unreached[:_N_UNREACHED]
    lines = [[contents.cases[pose]] for pose in shown]
    which = f"the first {len(shown)} of " if n_unreached > len(shown) else ""
    caption = f"Poses that no other reaches in one move: {which}{n_unreached}."
    return [Gallery(caption, make_pictures(contents, shown, lines))]
