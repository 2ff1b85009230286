"""Fresh poses: drawn for a test of a policy, and never used before."""

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray
from kaccess.config import PlayConfig, SampleConfig
from kaccess.engines import make_engine
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import Task
from kaccess.evaluation.pose_test import PoseTest, Scores, summarize
from kaccess.evaluation.rollout import Act
from kaccess.poses import Stream, draw_poses
from kaccess.robots import Robot

__all__ = ["choose_pose", "describe_test", "draw_fresh", "score"]

_UPSIDE_DOWN = -0.5  # cosine of the angle between the up axes of body and world


def score(
    task: Task, robot: Robot, qpos: Array, act: Act, conditions: Conditions
) -> Scores:
    """Return the scores of a policy; the simulations are freed on return."""
    return PoseTest(task, robot, qpos, conditions=conditions).score(act)


def draw_fresh(robot: Robot, task: Task, config: PlayConfig) -> Array:
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


def choose_pose(config: PlayConfig, qpos: Array, among: BoolArray | None = None) -> int:
    """Return the pose to show: the one set, or the first one that is upside down.

    Args:
        config: Settings; they may name a pose.
        qpos: (n, nq) poses.
        among: (n,) poses to prefer; by default all.
    """
    if config.pose is not None:
        if config.pose >= len(qpos):
            last = len(qpos) - 1
            raise InputError(f"`pose` must be one of 0 to {last}, got {config.pose}.")
        return config.pose
    up = -gravity_in_body(qpos[:, 3:7])[:, 2]
    preferred = np.ones(len(qpos), bool) if among is None else among
    return int((preferred + 0.5 * (up < _UPSIDE_DOWN)).argmax())


def describe_test(scores: Scores, task: Task, seconds: float) -> str:
    """Say how often a policy succeeds within a time [s]."""
    found = summarize(scores)
    time = "" if np.isnan(found.time) else f", in {found.time:.2f} s (median)"
    return (
        f"{task.name} from {found.n} freshly sampled poses, within {seconds:g} s: "
        f"{found.success.text('.1%')}{time}."
    )
