"""Contents of a study, read once for its page."""

import logging
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, IntArray
from kaccess.cluster.comparison import ComparisonRow
from kaccess.cluster.regions import Reach
from kaccess.config import DEFAULT_METHOD, REGION_SECONDS, TASKS
from kaccess.envs.tasks import make_task
from kaccess.evaluation.curves import Curves, find_episode_steps, load_curves
from kaccess.poses import Poses
from kaccess.report.figures.all_times import StoredTimes, iterate
from kaccess.report.page.motion import Motion, find_motion
from kaccess.report.rendering.album import Album
from kaccess.report.routes import (
    PlayedRoute,
    Trap,
    find_traps,
    pick_poses,
    play_routes,
)
from kaccess.report.summary import Summary, summarize_study
from kaccess.study import ROUTES, RunsName, StoredClustering, Study, TestName
from kaccess.study.comparison import compare_clusterings, find_reach
from kaccess.study.graph_file import mark_graph
from kaccess.study.timing import read_times

__all__ = ["MAIN", "Contents", "read_contents", "read_scores"]

logger = logging.getLogger(__name__)

MAIN = DEFAULT_METHOD  # method whose clusters the page shows
SHOWN_SCORES = ("reward", "success", "success_loose")


@dataclass(frozen=True, eq=False)
class Contents:
    """Contents of a study.

    Args:
        study: Folder of the study, quoted for a command line.
        poses: Poses.
        summary: Summary of poses and times.
        times: Seconds from pose i to pose j, read when asked for.
        to_standing: (n,) seconds from each pose to standing.
        routes: Routes of all poses, as the simulator plays them; empty without a plan.
        examples: Poses whose routes are shown.
        traps: Some of the poses that did not stand up, with the reason.
        clusterings: Clusterings by method; empty while times are missing.
        rivals: Quality of these clusterings and of other starts, one row each.
        reach: What starts reach, by name of the starts; empty while nothing is
            clustered.
        curves: Learning curves by folder of runs, then by kind of starts.
        policies: Scores of the policies, by test.
        outdated: Tests of the guide before its graph changed; they are left out.
        motions: Motions of the best policies, by task.
        timings: Seconds that each stage took.
        album: Pictures of the robot.
    """

    study: str
    poses: Poses
    summary: Summary
    times: StoredTimes
    to_standing: Array
    routes: Sequence[PlayedRoute]
    examples: IntArray
    traps: Sequence[Trap]
    clusterings: Mapping[str, StoredClustering]
    rivals: Sequence[ComparisonRow]
    reach: Mapping[str, Reach]
    curves: Mapping[RunsName, Mapping[str, Curves]]
    policies: Mapping[TestName, Sequence[Mapping[str, Any]]]
    outdated: Sequence[TestName]
    motions: Mapping[str, Motion]
    timings: Mapping[str, float]
    album: Album

    @property
    def main(self) -> StoredClustering | None:
        """Clusters that the page shows."""
        return self.clusterings.get(MAIN)

    @cached_property
    def cases(self) -> list[str]:
        """(n,) parts on the ground in each pose, in words."""
        parts = np.array(self.poses.robot.parts)
        return [" + ".join(parts[touch]) or "none" for touch in self.poses.contacts]


def read_contents(study: Study) -> Contents:
    """Read everything that the page shows, and simulate some motions."""
    times = StoredTimes(study.arrays)
    done = study.partial is not None or not any(
        np.isnan(each).any() for _, each in iterate(times)
    )
    clusterings = study.clusterings if done else {}
    policies, outdated = read_scores(study)
    t_0 = study.robot.scale.fit(REGION_SECONDS)
    routes = play_routes(study, np.arange(study.n_poses))
    return Contents(
        study=shlex.quote(str(study.path)),
        poses=study.poses,
        summary=summarize_study(study),
        times=times,
        to_standing=study.to_standing,
        routes=routes,
        examples=pick_poses(study),
        traps=find_traps(study, routes),
        clusterings=clusterings,
        rivals=compare_clusterings(study) if done else [],
        reach=find_reach(study, t_0) if clusterings and not study.partial else {},
        curves=_read_curves(study),
        policies=policies,
        outdated=outdated,
        motions=_record_motions(study, policies),
        timings=read_times(study.path),
        album=Album(study.robot, study.path / ".cache" / "pictures"),
    )


def read_scores(
    study: Study,
) -> tuple[dict[TestName, list[Mapping[str, Any]]], list[TestName]]:
    """Return the scores of all tests, and the tests whose graph has changed since.

    Scores of the guide are left out of these.
    """
    found, outdated, graph = {}, [], mark_graph(study.path)
    for test, content in study.tests().items():
        scores = content.get("policies", [])
        if content.get("graph", graph) != graph:  # tests made before do not tell
            scores = [each for each in scores if each["name"] != ROUTES]
            outdated.append(test)
        if scores:
            found[test] = scores
    return found, outdated


def _read_curves(study: Study) -> dict[RunsName, dict[str, Curves]]:
    """Return the curves of all runs; folders without curves are skipped."""
    found = {}
    for runs, folder in study.runs().items():
        try:
            steps = _count_episode_steps(runs, folder)
            curves = load_curves(folder, episode_steps=steps)
            _require_scores(curves, folder)
            found[runs] = curves
        except InputError as error:  # no runs, not tested yet, or damaged
            logger.info("The page skips %s: %s", folder, error)
    return found


def _require_scores(curves: Mapping[str, Curves], folder: Path) -> None:
    """Raise `InputError` if curves lack a score that the page shows."""
    for starts, each in curves.items():
        if lacking := [score for score in SHOWN_SCORES if score not in each.scores]:
            raise InputError(
                f"evaluation.csv of {starts} in {folder} has no column {lacking[0]!r}."
            )


def _count_episode_steps(runs: RunsName, folder: Path) -> int:
    """Return the steps of the longest episode; if none has ended, those of the task."""
    try:
        return find_episode_steps(folder)
    except InputError:
        if runs.task not in TASKS:
            raise
        return make_task(runs.task).episode_steps


def _record_motions(
    study: Study, policies: Mapping[TestName, Sequence[Mapping[str, Any]]]
) -> dict[str, Motion]:
    found = {}
    for task in TASKS:
        scores = policies.get(TestName(RunsName(task), best=False, under=""), ())
        if motion := find_motion(study, make_task(task), scores):
            found[task] = motion
    return found
