"""The section on learning: curves of every task, and episodes to a success level."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from kaccess.evaluation.comparison import LEVELS, Comparison, compare
from kaccess.evaluation.curves import Curves
from kaccess.report.figures import draw_curves
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.paper import find_paper_figure, list_paper_tasks, rank_starts
from kaccess.report.page.parts import (
    Drawing,
    Missing,
    Part,
    Section,
    Table,
    make_file_name,
)
from kaccess.study import RunsName

__all__ = ["make_learning_section"]

_AGAINST, _LEVEL = "rnd", 0.95  # starts to compare with, and success level


def make_learning_section(contents: Contents) -> Section:
    """Return the learning curves of every task."""
    parts: list[Part] = []
    for runs, curves in contents.curves.items():
        ordered = {starts: curves[starts] for starts in sorted(curves, key=rank_starts)}
        parts += [_draw_reward(runs, ordered), _draw_success(runs, ordered)]
        parts += _make_speed_table(runs, ordered)
    learned = {runs.task for runs in contents.curves}
    for task in list_paper_tasks(contents.poses.robot):
        if task not in learned:
            command = f"kaccess train {contents.study} --task {task}"
            text = f"{RunsName(task).label} has no learning curves yet."
            parts.append(Missing(text, command))
    lead = (
        "Mean over seeds on test poses that no policy trains on. Bands are +-1 SD; "
        "they are left out if there are too many curves."
        if contents.curves
        else ""
    )
    return Section("learning", "Learning", lead, parts)


def _draw_reward(runs: RunsName, curves: Mapping[str, Curves]) -> Drawing:
    figure = _draw_score(curves, "reward", "reward of a test episode")
    n_seeds = max(len(each.seeds) for each in curves.values())
    paper = find_paper_figure(runs)
    ends = "; ".join(
        f"{starts} {each.scores['reward'][:, -1].mean():.1f}"
        for starts, each in curves.items()
    )
    return Drawing(
        f"curves-{make_file_name(runs.text)}",
        figure,
        f"{runs.label}: reward over episodes of training. At the end: {ends}.",
        f"{runs.label}: reward, {n_seeds} seeds{f' ({paper})' if paper else ''}.",
    )


def _draw_success(runs: RunsName, curves: Mapping[str, Curves]) -> Drawing:
    return Drawing(
        f"curves-{make_file_name(runs.text)}-success",
        _draw_score(curves, "success", "success", share=True),
        f"{runs.label}: share of test poses with success, over episodes of training.",
        f"{runs.label}: share of test poses with success.",
    )


def _draw_score(
    curves: Mapping[str, Curves], score: str, label: str, *, share: bool = False
) -> Figure:
    values = {
        starts: (each.episodes, each.scores[score]) for starts, each in curves.items()
    }
    with figure_style():
        figure = make_figure(5.4, 4.0)
        draw_curves(figure.subplots(), values, label=label, share=share)
    return figure


def _make_speed_table(runs: RunsName, curves: Mapping[str, Curves]) -> list[Table]:
    """Return episodes to each level of success, compared with random starts."""
    if _AGAINST not in curves or len(curves) < 2:
        return []
    head = (
        *("starts", *(f"to {level:.0%}" for level in LEVELS)),
        *(f"to {_LEVEL:.0%}, ratio to {_AGAINST}", f"faster than {_AGAINST}"),
    )
    note = (
        "Loose success, at the first test that reaches the level. Means over seeds, "
        "with 95 % bootstrap intervals. A seed that never reaches a level counts with "
        "all its episodes; then the mean is a lower bound. The last column is the "
        f"probability that a seed reaches {_LEVEL:.0%} before a seed of {_AGAINST}."
    )
    return [
        Table(
            f"{runs.label}: training episodes to each level of success.",
            head,
            [_make_speed_row(curves, starts) for starts in curves],
            note,
        )
    ]


def _make_speed_row(curves: Mapping[str, Curves], starts: str) -> list[str]:
    found = [compare(curves[starts], curves[_AGAINST], level) for level in LEVELS]
    middle = found[LEVELS.index(_LEVEL)]
    return [
        starts,
        *map(_format_episodes, found),
        middle.ratio.text(".2f"),
        middle.better.text(".2f"),
    ]


def _format_episodes(found: Comparison) -> str:
    text = f"{found.episodes.value:.0f}"
    if found.n_reached == found.n_seeds:
        return text
    return f"{text}, {found.n_reached} of {found.n_seeds} seeds"
