"""The section on tests: success of the policies, in total and by cluster."""

import numpy as np

from kaccess.config import TEST_SECONDS
from kaccess.evaluation.curves import Curves
from kaccess.report.figures import draw_success
from kaccess.report.figures.style import figure_style, new_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.learning import tasks_of_the_paper
from kaccess.report.page.parts import Drawing, Missing, Part, Section, Table
from kaccess.report.page.scores import Score, score_starts
from kaccess.report.page.words import (
    NONE,
    TABLE_II,
    file_name,
    number,
    rank_starts,
    seconds,
)
from kaccess.study import ROUTES, RunsName, TestName

__all__ = ["tests_section"]


def tests_section(contents: Contents) -> Section:
    """Return how policies do on poses they have not learned from."""
    parts: list[Part] = []
    for test, policies in contents.policies.items():
        scores = score_starts(policies)
        scores.sort(key=lambda score: rank_starts(score.starts))
        parts += [_score_table(contents, test, scores), *_by_cluster(test, scores)]
    tested = {test.runs.task for test in contents.policies}
    for task in tasks_of_the_paper():
        if task not in tested:
            text = f"{RunsName(task).label} has not been tested yet."
            parts.append(Missing(text, _evaluate(contents, task)))
    lead = f"From test poses that no policy trained on, {TEST_SECONDS:g} s each."
    return Section("tests", "Tests", lead if contents.policies else "", parts)


def _evaluate(contents: Contents, task: str) -> str:
    """Return the command that makes scores, or what they need first."""
    stage = "evaluate" if RunsName(task) in contents.curves else "train"
    return f"kaccess {stage} {contents.study} --task {task}"


def _score_table(contents: Contents, test: TestName, scores: list[Score]) -> Table:
    curves = contents.curves.get(test.runs, {})
    same = test.text == "fall-recovery" and contents.poses.robot.name == "bittle"
    head = [
        *("starts", "episodes", "seeds", "reward (SD)", "best seed", "all seeds"),
        *("time", "work"),
        *(["the paper"] if same else []),
    ]
    rows = [
        [
            score.starts,
            _episodes(curves.get(score.starts)),
            str(score.n_seeds),
            f"{number(score.reward)} ({number(score.reward_sd)})",
            score.best.text(".1%"),
            score.success.text(".1%"),
            seconds(score.seconds),
            f"{number(score.work, 1)} J",
            *([TABLE_II.get(score.starts, NONE)] if same else []),
        ]
        for score in scores
    ]
    note = (
        f"Success within {TEST_SECONDS:g} s of the best seed and of all seeds, with "
        "95 % intervals (Wilson). Reward, time and work are those of the best seed; time is "
        "the median time until success for good."
    )
    if ROUTES in [score.starts for score in scores]:
        note += f" {ROUTES}: the fastest moves of the study's graph, nothing learned."
    return Table(
        f"{test.label} from {scores[0].n_poses} test poses (the paper's Table II).",
        head,
        rows,
        note,
    )


def _episodes(curves: Curves | None) -> str:
    return f"{curves.episodes[-1]:.0f}" if curves else NONE


def _by_cluster(test: TestName, scores: list[Score]) -> list[Drawing]:
    """Return success by cluster of the test pose, if the study has clusters."""
    names = {cluster for score in scores for cluster in score.clusters}
    if not names:
        return []
    n = {c: max(score.clusters.get(c, (0, 0))[1] for score in scores) for c in names}
    groups = sorted(names, key=lambda cluster: (-n[cluster], cluster))
    success = np.array(
        [[_rate(score.clusters.get(c, (0, 0))) for c in groups] for score in scores]
    )
    with figure_style():
        figure = new_figure(9.6, 1.6 + 0.28 * len(scores))
        starts = [score.starts for score in scores]
        draw_success(figure.subplots(), success, starts=starts, groups=groups)
    mean = np.nanmean(success, axis=0)
    worst = int(mean.argmin())
    return [
        Drawing(
            f"success-{file_name(test.text)}",
            figure,
            f"Success for each kind of starts (rows) and cluster of the test pose "
            f"(columns). The worst is cluster {groups[worst]}: {mean[worst]:.0%}.",
            "Success by cluster of the test pose, all seeds together; clusters with "
            "the most test poses first. A pose belongs to the centroid that reaches it "
            "soonest.",
            wide=True,
        )
    ]


def _rate(counts: tuple[int, int]) -> float:
    hits, n = counts
    return hits / n if n else np.nan
