"""The section on learning: curves of every task, and how fast each start learns."""

from collections.abc import Mapping

from kaccess.config import TASKS
from kaccess.envs.tasks import make_task
from kaccess.evaluation.comparison import LEVELS, Comparison, compare
from kaccess.evaluation.curves import Curves
from kaccess.report.figures import draw_curves
from kaccess.report.figures.style import figure_style, new_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import Drawing, Missing, Part, Section, Table
from kaccess.report.page.words import file_name, rank_starts
from kaccess.study import RunsName

__all__ = ["learning_section", "tasks_of_the_paper"]

_AGAINST, _LEVEL = "rnd", 0.95  # speed is compared with these starts, at this level


def tasks_of_the_paper() -> list[str]:
    """Return the tasks that the page asks for if the study has not learned them."""
    return [name for name in TASKS if make_task(name).paper_figure]


def learning_section(contents: Contents) -> Section:
    """Return the learning curves of every task."""
    parts: list[Part] = []
    for runs, curves in contents.curves.items():
        parts += [*_curve_drawings(runs, curves), *_speed_table(runs, curves)]
    learned = {runs.task for runs in contents.curves}
    for task in tasks_of_the_paper():
        if task not in learned:
            command = f"kaccess train {contents.study} --task {task}"
            text = f"{RunsName(task).label} has no learning curves yet."
            parts.append(Missing(text, command))
    lead = (
        "Mean over seeds, +-1 SD shaded (unless there are too many), on test poses "
        "that no policy trains on."
        if contents.curves
        else ""
    )
    return Section("learning", "Learning", lead, parts)


def _curve_drawings(runs: RunsName, curves: Mapping[str, Curves]) -> list[Drawing]:
    ordered = {starts: curves[starts] for starts in sorted(curves, key=rank_starts)}
    reward, success = (
        {starts: (c.episodes, c.scores[what]) for starts, c in ordered.items()}
        for what in ("reward", "success")
    )
    with figure_style():
        first, second = new_figure(5.4, 4.0), new_figure(5.4, 4.0)
        draw_curves(first.subplots(), reward, label="reward of a test episode")
        draw_curves(second.subplots(), success, label="success", share=True)
    label, n_seeds = runs.label, max(len(c.seeds) for c in ordered.values())
    file, paper = file_name(runs.text), make_task(runs.task).paper_figure
    note = f" ({paper})" if paper and not runs.conditions else ""
    ends = "; ".join(
        f"{starts} {c.scores['reward'][:, -1].mean():.1f}"
        for starts, c in ordered.items()
    )
    return [
        Drawing(
            f"curves-{file}",
            first,
            f"{label}: reward over episodes of training. At the end: {ends}.",
            f"{label}: reward, {n_seeds} seeds{note}.",
        ),
        Drawing(
            f"curves-{file}-success",
            second,
            f"{label}: share of test poses that succeed, over episodes of training.",
            f"{label}: share of test poses that succeed.",
        ),
    ]


def _speed_table(runs: RunsName, curves: Mapping[str, Curves]) -> list[Table]:
    """Return how fast each kind of starts learns, against random starts."""
    if _AGAINST not in curves or len(curves) < 2:
        return []
    levels = [f"to {level:.0%}" for level in LEVELS]
    rows = []
    for starts in sorted(curves, key=rank_starts):
        found = [compare(curves[starts], curves[_AGAINST], level) for level in LEVELS]
        middle = found[LEVELS.index(_LEVEL)]
        rows.append(
            [
                starts,
                *map(_episodes_to, found),
                middle.ratio.text(".2f"),
                middle.better.text(".2f"),
            ]
        )
    return [
        Table(
            f"{runs.label}: episodes until that share of the test poses succeeds.",
            [
                *("starts", *levels, f"{_LEVEL:.0%}, of {_AGAINST}'s"),
                f"earlier than {_AGAINST}",
            ],
            rows,
            "Loose success, at the first test that reaches the level. Means over "
            "seeds, with 95 % bootstrap intervals. A seed that never reaches a level counts "
            "with all its episodes; then the mean is a lower bound. The last column is "
            f"the probability that a seed is at {_LEVEL:.0%} before one of {_AGAINST}.",
        )
    ]


def _episodes_to(found: Comparison) -> str:
    text = f"{found.episodes.value:.0f}"
    if found.n_reached == found.n_seeds:
        return text
    return f"{text}, {found.n_reached} of {found.n_seeds} seeds"
