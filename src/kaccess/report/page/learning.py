"""Sections on learning: curves, scores, and policies at work."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from kaccess.curves import LEVELS, Comparison, Curves, compare
from kaccess.learning import ROUTES
from kaccess.report.figures import draw_curves, draw_joints, draw_success
from kaccess.report.page.contents import Contents
from kaccess.report.page.flow import pictures_drawing
from kaccess.report.page.motion import Motion, snapshots
from kaccess.report.page.parts import (
    Drawing,
    Gallery,
    Missing,
    Part,
    Picture,
    Section,
    Table,
)
from kaccess.report.page.scores import Score, score_starts
from kaccess.report.page.words import NONE, between, interval, number, seconds
from kaccess.report.pictures import as_data_uri
from kaccess.report.style import figure_style, new_figure
from kaccess.types import Array

__all__ = ["learning_section", "motion_section", "tests_section"]

# Success in 3 s [%] after training, of the best seeds: the paper, Table II.
_PAPER = {
    "ka": "99.4%",
    "km": "91.8%",
    "wkm": "94.4%",
    "9-pose": "91.6%",
    "1-pose": "92.6%",
    "rnd": "94.6%",
}
_FIRST = ("ka", "km", "wkm", "9-pose", "1-pose", "rnd")  # the paper's order
_AGAINST, _LEVEL = "rnd", 0.95  # what speed is compared with, and where
_MOTIONS = {"fall-recovery": "A recovery", "backflip": "A backflip"}


def learning_section(contents: Contents) -> Section:
    """Return the learning curves of every task."""
    parts: list[Part] = []
    for name, curves in contents.curves.items():
        parts += [*_curve_drawings(name, curves), *_speed_table(name, curves)]
    for task in _MOTIONS:
        if task not in map(_task, contents.curves):
            parts.append(_train(contents, task))
    lead = (
        "Mean over seeds, +-1 SD in shadow (unless there are too many), on poses that "
        "no policy learns from."
        if contents.curves
        else ""
    )
    return Section("learning", "Learning", lead, parts)


def _train(contents: Contents, task: str) -> Missing:
    command = f"kaccess train {contents.study} --task {task}"
    return Missing(f"{_label(task)} has no learning curves yet.", command)


def _label(name: str) -> str:
    """Return the name of a task, and the conditions it was learned under, in words."""
    task = _task(name)
    words, rest = task.replace("-", " ").capitalize(), name.removeprefix(task)
    conditions = rest.removeprefix("@").replace("_", " ").strip()
    return f"{words} ({conditions})" if conditions else words


def _task(name: str) -> str:
    """Return the task of runs such as `fall-recovery@slope:10`, or of their tests."""
    return name.partition("@")[0].partition("_best")[0].partition("_under_")[0]


def _curve_drawings(name: str, curves: Mapping[str, Curves]) -> list[Drawing]:
    ordered = {starts: curves[starts] for starts in sorted(curves, key=_place)}
    reward, success = (
        {starts: (c.episodes, c.figures[what]) for starts, c in ordered.items()}
        for what in ("reward", "success")
    )
    with figure_style():
        first, second = new_figure(5.4, 4.0), new_figure(5.4, 4.0)
        draw_curves(first.subplots(), reward, label="reward of a test episode")
        draw_curves(second.subplots(), success, label="success", share=True)
    task, n_seeds = _label(name), max(len(c.seeds) for c in ordered.values())
    ends = "; ".join(
        f"{starts} {c.figures['reward'][:, -1].mean():.1f}"
        for starts, c in ordered.items()
    )
    figure = {"fall-recovery": " (the paper's Fig. 9)", "backflip": " (Fig. 10)"}
    return [
        Drawing(
            f"curves-{_file(name)}",
            first,
            f"{task}: reward over episodes of training. At the end: {ends}.",
            f"{task}: reward, {n_seeds} seeds{figure.get(name, '')}.",
        ),
        Drawing(
            f"curves-{_file(name)}-success",
            second,
            f"{task}: share of test poses that succeed, over episodes of training.",
            f"{task}: share of test poses that succeed.",
        ),
    ]


def _speed_table(name: str, curves: Mapping[str, Curves]) -> list[Table]:
    """Return how fast each kind of starts learns, against starts anywhere."""
    if _AGAINST not in curves or len(curves) < 2:
        return []
    levels = [f"to {level:.0%}" for level in LEVELS]
    rows = []
    for starts in sorted(curves, key=_place):
        found = [compare(curves[starts], curves[_AGAINST], level) for level in LEVELS]
        middle = found[LEVELS.index(_LEVEL)]
        rows.append(
            [
                starts,
                *map(_episodes_to, found),
                *(between(each) for each in (middle.ratio, middle.better)),
            ]
        )
    return [
        Table(
            f"{_label(name)}: episodes until that share of the test poses succeeds.",
            [
                *("starts", *levels, f"{_LEVEL:.0%}, of {_AGAINST}'s"),
                f"earlier than {_AGAINST}",
            ],
            rows,
            "Loose success, at the first test that shows it; means over seeds, 95 % "
            "bootstrap intervals. A seed that never gets there counts as the end of "
            "its training: then the mean is a lower bound. The last column is how "
            f"likely a seed is at {_LEVEL:.0%} before one of {_AGAINST}.",
        )
    ]


def _episodes_to(found: Comparison) -> str:
    text = f"{found.episodes.value:.0f}"
    if found.n_reached == found.n_seeds:
        return text
    return f"{text}, {found.n_reached} of {found.n_seeds} seeds"


def _place(starts: str) -> tuple[int, str]:
    place = _FIRST.index(starts) if starts in _FIRST else len(_FIRST)
    return place, starts


def _file(name: str) -> str:
    """Return a name for files, and for CSS."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def tests_section(contents: Contents) -> Section:
    """Return how policies do on poses they have not learned from."""
    parts: list[Part] = []
    for name, policies in contents.policies.items():
        scores = sorted(score_starts(policies), key=lambda score: _place(score.starts))
        parts += [_score_table(contents, name, scores), *_by_cluster(name, scores)]
    for task in _MOTIONS:
        if task not in map(_task, contents.policies):
            text = f"{_label(task)} has not been tested yet."
            parts.append(Missing(text, _evaluate(contents, task)))
    lead = "From test poses that none of the policies has learned from, 3 s each."
    return Section("tests", "Tests", lead if contents.policies else "", parts)


def _evaluate(contents: Contents, task: str) -> str:
    """Return the command that makes scores, or what they need first."""
    stage = "evaluate" if task in contents.curves else "train"
    return f"kaccess {stage} {contents.study} --task {task}"


def _score_table(contents: Contents, name: str, scores: list[Score]) -> Table:
    curves = contents.curves.get(name.removesuffix("_best"), {})
    same = name == "fall-recovery" and contents.poses.robot.name == "bittle"
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
            interval(score.best),
            interval(score.success),
            seconds(score.seconds),
            f"{number(score.work, 1)} J",
            *([_PAPER.get(score.starts, NONE)] if same else []),
        ]
        for score in scores
    ]
    note = (
        "Success within 3 s of the best seed and of all seeds, with 95 % intervals "
        "(Wilson). Reward, time and work are those of the best seed; time is the "
        "median until success for good."
    )
    if ROUTES in [score.starts for score in scores]:
        note += f" {ROUTES}: the fastest moves of the study's graph, nothing learned."
    return Table(
        f"{_label(name)} from {scores[0].n_poses} test poses (the paper's Table II).",
        head,
        rows,
        note,
    )


def _episodes(curves: Curves | None) -> str:
    return f"{curves.episodes[-1]:.0f}" if curves else NONE


def _by_cluster(name: str, scores: list[Score]) -> list[Drawing]:
    """Return success by cluster of the test pose, if the tests know clusters."""
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
            f"success-{_file(name)}",
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


def motion_section(contents: Contents) -> Section:
    """Return policies at work."""
    parts: list[Part] = []
    for task, title in _MOTIONS.items():
        if task in contents.motions:
            parts += _motion_parts(contents, task, title, contents.motions[task])
        else:
            text = f"{title} is to be shown once a policy has learned it."
            command = f"kaccess train {contents.study} --task {task}"
            parts.append(Missing(text, command))
    lead = "The best policy at work, from a test pose." if contents.motions else ""
    return Section("motion", "In motion", lead, parts)


def _motion_parts(
    contents: Contents, task: str, title: str, motion: Motion
) -> list[Part]:
    file = _file(task)
    degrees, n = np.degrees(motion.joints), len(motion.names)
    most, end = float(np.abs(motion.torque).max()), motion.seconds[-1]
    return [
        _snapshots(contents, file, title, motion),
        Drawing(
            f"joints-{file}",
            _joint_figure(motion, degrees, "joint position [deg]"),
            f"{title}: positions of {n} joints over {end:.1f} s.",
            "Joint positions.",
        ),
        Drawing(
            f"torques-{file}",
            _joint_figure(motion, motion.torque, "torque [N m]"),
            f"{title}: torques of {n} joints, at most {most:.2f} N m.",
            "Joint torques, at the control rate.",
        ),
    ]


def _snapshots(contents: Contents, file: str, title: str, motion: Motion) -> Gallery:
    steps = snapshots(motion)
    images = contents.album.pictures(motion.qpos[steps], width=240, height=180)
    times = [f"{at:.2f} s" for at in motion.seconds[steps]]
    pictures = [
        Picture(as_data_uri(image), f"{title} after {at}", at)
        for image, at in zip(images, times, strict=True)
    ]
    outcome = (
        "which does not succeed"
        if motion.done_at is None
        else f"done after {motion.done_at:.2f} s"
    )
    caption = f"{title} by {motion.run} from test pose {motion.pose}, {outcome}."
    strip = pictures_drawing(f"snapshots-{file}", images, times, caption)
    return Gallery(f"{caption} The paper's Fig. 8.", pictures, strip)


def _joint_figure(motion: Motion, values: Array, label: str) -> Figure:
    with figure_style():
        figure = new_figure(5.4, 4.0)
        ax = figure.subplots()
        draw_joints(ax, motion.seconds, values, names=motion.names, label=label)
    return figure
