"""The section on learning: curves of every task, and episodes to a success level."""

from collections.abc import Mapping

from matplotlib.figure import Figure

from kaccess.base.stats import correct_p_values
from kaccess.evaluation.comparison import (
    LEVELS,
    SCORE_NAMES,
    Comparison,
    compare,
    find_horizons,
    format_horizons,
    format_p,
    leave_out_clones,
)
from kaccess.evaluation.curves import IN_ROW, SCORE, Curves
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

_AGAINST = "rnd"  # starts to compare with


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
        _draw_score(curves, SCORE, SCORE_NAMES[SCORE], share=True),
        f"{runs.label}: share of test poses with {SCORE_NAMES[SCORE]}, over episodes "
        "of training.",
        f"{runs.label}: share of test poses with {SCORE_NAMES[SCORE]}.",
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
    curves = leave_out_clones(curves)
    n_tests = min((len(each.episodes) for each in curves.values()), default=0)
    if _AGAINST not in curves or len(curves) < 2 or n_tests < IN_ROW:
        return []
    horizons = find_horizons(curves)
    head = (
        *("starts", *(f"to {level:.0%}" for level in sorted(LEVELS))),
        *(f"to {LEVELS[0]:.0%}, ratio to {_AGAINST}", "p (Holm)"),
    )
    note = (
        f"{SCORE_NAMES[SCORE].capitalize()}. A level is reached at the first of "
        f"{IN_ROW} tests in a row that show it. Restricted means over seeds "
        f"(Kaplan-Meier): at most {format_horizons(horizons)} episodes count for a "
        "seed, also if it needs more. Intervals (95 %) are a bootstrap over seeds, too "
        "narrow if there are few; p-values are of a permutation test, corrected for "
        f"{len(curves) - 1} comparisons at once."
    )
    caption = f"{runs.label}: training episodes to each level of success."
    return [Table(caption, head, _make_speed_rows(curves, horizons), note)]


def _make_speed_rows(
    curves: Mapping[str, Curves], horizons: Mapping[float, float]
) -> list[list[str]]:
    found = {
        (starts, level): compare(each, curves[_AGAINST], level, horizon=horizons[level])
        for starts, each in curves.items()
        for level in LEVELS
    }
    others = [starts for starts in curves if starts != _AGAINST]
    corrected = correct_p_values([found[each, LEVELS[0]].p for each in others])
    p = dict(zip(others, corrected, strict=True))
    return [
        [
            starts,
            *(_format_episodes(found[starts, level]) for level in sorted(LEVELS)),
            found[starts, LEVELS[0]].ratio.text(".2f") if starts in p else "1",
            format_p(p[starts]) if starts in p else "",
        ]
        for starts in curves
    ]


def _format_episodes(found: Comparison) -> str:
    text = f"{found.episodes.value:.0f}"
    return text if found.n_reached == found.n_seeds else f"{text}, {found.seeds} seeds"
