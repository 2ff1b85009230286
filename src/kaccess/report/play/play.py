"""Motions that `kaccess play` shows: of a policy, or from one pose to another."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array
from kaccess.config import TEST_SECONDS, PlayConfig, SampleConfig
from kaccess.engines import make_engine
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import Task
from kaccess.envs.tasks import make_task
from kaccess.evaluation.held_out import get_test_poses
from kaccess.evaluation.policies import act_under, find_policy
from kaccess.evaluation.pose_test import (
    PoseTest,
    Scores,
    place_test_poses,
    summarize,
)
from kaccess.evaluation.rollout import Act
from kaccess.guide import Guide, follow_guide
from kaccess.policies.shipped import find_shipped, has_shipped
from kaccess.poses import Stream, draw_poses
from kaccess.report.play.clip import Clip, describe_outcome, record_move, record_policy
from kaccess.robots import Robot, load_robot
from kaccess.study import ROUTES, Study, StudyLike

__all__ = ["Played", "play_motion"]

_UPSIDE_DOWN = -0.5  # cosine of the angle between the up axes of body and world


@dataclass(frozen=True)
class Played:
    """A motion and, for a shipped policy, a test.

    Args:
        clip: Recorded motion.
        test: Result of the test in words; empty without a test.
        scores: Scores of the test; None without a test.
    """

    clip: Clip
    test: str = ""
    scores: Scores | None = None

    @property
    def text(self) -> str:
        """Results of test and motion in words."""
        return f"{self.test}\n{self.clip.outcome}".strip()


def play_motion(study: StudyLike, config: PlayConfig) -> Played:
    """Return the motion that the settings ask for.

    Args:
        study: Study or its folder; or the name of a robot with a shipped policy.
        config: Motion to show.
    """
    if config.transition is not None:
        opened = Study.open(study)
        seconds = opened.robot.scale.fit(config.seconds)
        return Played(_play_move(opened, *config.transition, seconds))
    if config.run is None and _names_shipped(study):
        return _play_shipped(str(study), config)
    return Played(_play_policy(Study.open(study), config))


def _names_shipped(study: StudyLike) -> bool:
    """Return whether this is a robot with a shipped policy, and no study's folder."""
    if isinstance(study, Study) or Path(study).exists():
        return False
    return has_shipped(str(study))


def _play_move(study: Study, source: int, goal: int, seconds: float) -> Clip:
    """Return the move between two poses, and the outcome in the study's matrix."""
    for pose in (source, goal):
        if not 0 <= pose < study.n_poses:
            raise InputError(
                f"`transition` must be two poses of 0 to {study.n_poses - 1}, got "
                f"{pose}."
            )
    config = study.access_config
    clip = record_move(
        study.poses, source, goal, seconds=seconds, config=config, still=study.still
    )
    pair = source, goal
    stored = describe_outcome(study.outcomes[pair], study.times[pair], config)
    engine = study.settings.get("access", {}).get("engine")
    by = f" (engine {engine})" if engine else ""
    return replace(clip, outcome=f"{clip.outcome} The study's matrix{by}: {stored}.")


def _play_policy(study: Study, config: PlayConfig) -> Clip:
    """Return the motion of a policy of a study, or of its guide, from a test pose."""
    pose = config.pose or 0
    if pose < 0:
        raise InputError(f"`pose` must not be negative, got {pose}.")
    task = make_task(config.task, study.robot)
    under = Conditions.parse(config.shown_under)
    if config.run == ROUTES:
        act = follow_guide(Guide.of(study, 1, task=task))
    else:
        before = Conditions.parse(config.trained_under)
        policy = find_policy(study, config.run, task, before, best=config.best)
        act = act_under(policy, under)
    poses = get_test_poses(study, task, "final", pose + 1)
    start = place_test_poses(poses.qpos, study.robot, under)[pose]
    seconds = study.robot.scale.fit(config.seconds)
    return record_policy(
        task, study.robot, act, start, seconds=seconds, conditions=under
    )


def _play_shipped(name: str, config: PlayConfig) -> Played:
    """Test a shipped policy on fresh poses, and return its motion from one of them."""
    under, task = Conditions.parse(config.conditions or ""), make_task(config.task)
    act, robot = act_under(find_shipped(name, task.name), under), load_robot(name)
    qpos = _draw_fresh(robot, task, config)
    pose = _find_upside_down(qpos) if config.pose is None else config.pose
    if not 0 <= pose < len(qpos):
        raise InputError(f"`pose` must be one of 0 to {len(qpos) - 1}, got {pose}.")
    scores = _score(task, robot, qpos, act, under)
    start = place_test_poses(qpos, robot, under)[pose]
    seconds = robot.scale.fit(config.seconds)
    clip = record_policy(task, robot, act, start, seconds=seconds, conditions=under)
    in_time = robot.scale.fit(TEST_SECONDS)
    return Played(clip, _describe(scores, task, in_time), scores)


def _score(
    task: Task, robot: Robot, qpos: Array, act: Act, conditions: Conditions
) -> Scores:
    """Return the scores of a policy; the simulations are freed on return."""
    return PoseTest(task, robot, qpos, conditions=conditions).score(act)


def _draw_fresh(robot: Robot, task: Task, config: PlayConfig) -> Array:
    """Return fresh poses that the task can start from, (n, nq)."""
    sampling = SampleConfig(n=config.poses, seed=config.seed)
    engine = make_engine("mujoco", robot)
    drawn, _ = draw_poses(robot, sampling, engine=engine, stream=Stream.FRESH)
    qpos = drawn.qpos[task.qualifies(drawn.qpos)]
    if not len(qpos):
        raise InputError(
            f"{task.name!r} can start from none of the {config.poses} poses. Draw "
            "more with `--poses`."
        )
    return qpos


def _find_upside_down(qpos: Array) -> int:
    """Return the first pose whose base is upside down; without any, return 0."""
    up = -gravity_in_body(qpos[:, 3:7])[:, 2]
    return int((up < _UPSIDE_DOWN).argmax())


def _describe(scores: Scores, task: Task, seconds: float) -> str:
    """Say how often a policy succeeds within a time [s]."""
    found = summarize(scores)
    time = "" if np.isnan(found.time) else f", in {found.time:.2f} s (median)"
    return (
        f"{task.name} from {found.n} freshly sampled poses, within {seconds:g} s: "
        f"{found.success.text('.1%')}{time}."
    )
