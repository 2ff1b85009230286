"""The section on tests: scores of the policies, in total and by cluster."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kaccess.evaluation.curves import Curves
from kaccess.report.figures import draw_success
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.paper import TABLE_II, list_paper_tasks, rank_starts
from kaccess.report.page.parts import (
    Drawing,
    Missing,
    Part,
    Section,
    Table,
    make_file_name,
)
from kaccess.report.page.scores import Score, score_starts
from kaccess.report.text.numbers import NONE, format_number, format_seconds
from kaccess.study import ROUTES, RunsName, TestName

__all__ = ["make_tests_section"]


def make_tests_section(contents: Contents) -> Section:
    """Return the scores of all policies on test poses."""
    parts: list[Part] = []
    for test, policies in contents.policies.items():
        scores = score_starts(policies)
        scores.sort(key=lambda score: rank_starts(score.starts))
        parts += [_make_table(contents, test, scores), *_draw_clusters(test, scores)]
    parts += [_ask_again(contents, test) for test in contents.outdated]
    tested = {test.runs.task for test in (*contents.policies, *contents.outdated)}
    trained = [runs.task for runs in contents.curves]
    for task in dict.fromkeys([*list_paper_tasks(contents.poses.robot), *trained]):
        if task not in tested:
            text = f"{RunsName(task).label} has not been tested yet."
            parts.append(Missing(text, _name_command(contents, task)))
    seconds = contents.poses.robot.test_seconds
    lead = f"From test poses that no policy trained on, {seconds:g} s each."
    return Section("tests", "Tests", lead if contents.policies else "", parts)


def _ask_again(contents: Contents, test: TestName) -> Missing:
    """Return a note that the guide must be tested again."""
    options = {
        "--trained-under": test.runs.conditions,
        "--conditions": test.under,
        "--draw": test.draw,
        "--engine": test.engine,
    }
    words = [f"{option} {value}" for option, value in options.items() if value]
    command = [f"kaccess evaluate {contents.study} --task {test.runs.task}", *words]
    return Missing(
        f"{test.label}: the graph has changed since {ROUTES} was tested.",
        " ".join(
            [
                *command,
                *(["--best"] if test.best else []),
                *(["--held-out"] if test.held_out else []),
            ]
        ),
    )


def _name_command(contents: Contents, task: str) -> str:
    """Return the command that tests a task, or trains it if there are no policies."""
    stage = "evaluate" if RunsName(task) in contents.curves else "train"
    return f"kaccess {stage} {contents.study} --task {task}"


def _make_table(contents: Contents, test: TestName, scores: list[Score]) -> Table:
    curves = contents.curves.get(test.runs, {})
    same_task = replace(test, held_out=False).text == "fall-recovery"
    same = same_task and contents.poses.robot.name == "bittle"
    paper = TABLE_II if same else None
    head = (
        *("starts", "episodes", "seeds", "reward (SD)", "best seed", "worst seed"),
        *("all seeds", "time", "work", *(["the paper"] if paper else [])),
    )
    seconds = contents.poses.robot.test_seconds
    note = (
        f"Seeds: strict success within {seconds:g} s. The interval (95 %) is a "
        "bootstrap over seeds and poses, which is too narrow if there are few seeds; "
        "for one seed it is Wilson's. Reward, time and work are those of the best "
        "seed. Time is the median time to lasting success."
    )
    if paper:
        note += " The paper drew its test poses with random joints (--draw teleport)."
    if ROUTES in [score.starts for score in scores]:
        note += f" {ROUTES}: the guide, which follows routes and has learned nothing."
    return Table(
        f"{test.label} from {scores[0].n_poses} test poses"
        f"{' (the paper, Table II)' if same_task else ''}.",
        head,
        [_make_row(score, curves.get(score.starts), paper) for score in scores],
        note,
    )


def _make_row(
    score: Score, curves: Curves | None, paper: Mapping[str, str] | None
) -> list[str]:
    return [
        score.starts,
        f"{curves.episodes[-1]:.0f}" if curves else NONE,
        str(score.n_seeds),
        f"{format_number(score.reward)} ({format_number(score.reward_sd)})",
        f"{score.best:.1%}",
        f"{score.worst:.1%}",
        score.success.text(".1%"),
        format_seconds(score.seconds),
        f"{format_number(score.work, 1)} J",
        *([paper.get(score.starts, NONE)] if paper else []),
    ]


def _draw_clusters(test: TestName, scores: list[Score]) -> list[Drawing]:
    """Return success by cluster of the test pose, if the study has clusters."""
    groups = _order_clusters(scores)
    if not groups:
        return []
    success = np.array(
        [[_get_success(score, cluster) for cluster in groups] for score in scores]
    )
    with figure_style():
        figure = make_figure(9.6, 1.6 + 0.28 * len(scores))
        starts = [score.starts for score in scores]
        draw_success(figure.subplots(), success, starts=starts, groups=groups)
    mean = np.nanmean(success, axis=0)
    worst = int(mean.argmin())
    return [
        Drawing(
            f"success-{make_file_name(test.text)}",
            figure,
            f"Success for each kind of starts (rows) and cluster of the test pose "
            f"(columns). The worst is cluster {groups[worst]}: {mean[worst]:.0%}.",
            "Success by cluster of the test pose, over all seeds. Clusters with the "
            "most test poses come first. A test pose belongs to the centroid that "
            "reaches it soonest.",
            wide=True,
        )
    ]


def _order_clusters(scores: list[Score]) -> list[str]:
    """Return the clusters of the test poses; those with the most poses come first."""
    n_poses: dict[str, int] = {}
    for score in scores:
        for cluster, (_, n) in score.clusters.items():
            n_poses[cluster] = max(n, n_poses.get(cluster, 0))
    return sorted(n_poses, key=lambda cluster: (-n_poses[cluster], cluster))


def _get_success(score: Score, cluster: str) -> float:
    """Return the success in a cluster; NaN if no pose of it was tested."""
    hits, n = score.clusters.get(cluster, (0, 0))
    return hits / n if n else np.nan
