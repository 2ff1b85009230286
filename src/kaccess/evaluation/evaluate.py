"""Tests of all policies of a study, in total and by groups of test poses."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from kaccess.base.types import Progress
from kaccess.config import EngineConfig, EngineName, EvaluateConfig
from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks import make_task
from kaccess.evaluation.held_out import (
    find_other_draw,
    find_test_poses,
    group_poses,
)
from kaccess.evaluation.policies import find_controllers, observe_as_trained
from kaccess.evaluation.pose_test import (
    Group,
    PoseTest,
    Scores,
    Summary,
    group_success,
    summarize,
)
from kaccess.evaluation.rollout import Act
from kaccess.study import LearnerName, RunsName, Study, TestName
from kaccess.study.graph_file import mark_graph

__all__ = ["Evaluation", "MakeTest", "ScoreAll", "evaluate_study", "score_here"]

MakeTest = Callable[..., PoseTest]
"""Makes a test, given `engine`."""

ScoreAll = Callable[
    [Mapping[str, Act], MakeTest, EngineConfig], Iterator[tuple[str, Scores]]
]
"""Tests policies: yields the name and the scores of each, in any order."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of one policy.

    Args:
        name: Name of its learner, such as `ka/seed-0`, or `ROUTES`.
        summary: Scores over all poses.
        groups: Success by groups of poses: `cluster`, `contact`.
    """

    name: str
    summary: Summary
    groups: Mapping[str, Sequence[Group]]

    @property
    def starts(self) -> str:
        """Kind of starts it was trained from, or `ROUTES`."""
        return LearnerName.parse(self.name).starts


def evaluate_study(
    study: Study,
    config: EvaluateConfig,
    *,
    engine: EngineName | EngineConfig = "mujoco",
    score: ScoreAll | None = None,
    progress: Progress | None = None,
) -> list[Evaluation]:
    """Test all policies of a study, and its guide, and store their scores.

    Args:
        study: Study that holds them.
        config: Policies, number of test poses, and conditions.
        engine: Name of the engine, or its settings.
        score: Tests the policies, by default in this process.
        progress: Called with (policies tested, policies to test).
    """
    before = Conditions.parse(config.trained_under)
    under = observe_as_trained(Conditions.parse(config.tested_under), before)
    task = under.adapt(make_task(config.task, study.robot))
    physics = EngineConfig.of(engine)
    n_threads = physics.threads
    graph = mark_graph(study.path)  # before it is read: it may grow meanwhile
    controllers = find_controllers(
        study,
        task,
        trained_under=before,
        under=under,
        n_robots=config.poses,
        best=config.best,
    )
    kind: Literal["final", "held-out"] = "held-out" if config.held_out else "final"
    held_out = find_test_poses(
        study, task, kind, config.poses, draw=config.draw, n_threads=n_threads
    )
    test = held_out.poses
    make_test = partial(PoseTest, task, test.robot, test.qpos, conditions=under)
    groups = group_poses(study, test, n_threads=n_threads)
    scored = (score or score_here)(controllers, make_test, physics)
    found = _summarize_all(list(controllers), scored, groups, progress)
    held_out.store()
    study.write_test(
        TestName(
            RunsName(task.name, before.text),
            config.best,
            under.text,
            config.held_out,
            draw=find_other_draw(study, config.draw),
            engine="bullet" if physics.engine == "bullet" else "",
        ),
        {
            "n_poses": config.poses,
            "trained_under": before.text,
            "conditions": under.text,
            "engine": physics.recorded,
            "graph": graph,
            "policies": found,
        },
    )
    return found


def score_here(
    controllers: Mapping[str, Act], make_test: MakeTest, engine: EngineConfig
) -> Iterator[tuple[str, Scores]]:
    """Yield the name and the scores of each policy, one after the other."""
    test = make_test(engine=engine)
    for name, act in controllers.items():
        yield name, test.score(act)


def _summarize_all(
    names: Sequence[str],
    scored: Iterator[tuple[str, Scores]],
    groups: Mapping[str, np.ndarray],
    progress: Progress | None,
) -> list[Evaluation]:
    """Return the scores of all policies in the order of their names."""
    found = {}
    for done, (name, scores) in enumerate(scored, start=1):
        each = {by: group_success(scores.success, of) for by, of in groups.items()}
        found[name] = Evaluation(name, summarize(scores), each)
        if progress:
            progress(done, len(names))
    return [found[name] for name in names]
