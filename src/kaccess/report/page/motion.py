"""The motion of the best policy of a task, recorded for the page."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, IntArray
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import Task
from kaccess.evaluation.held_out import get_test_poses
from kaccess.evaluation.policies import find_policy
from kaccess.evaluation.rollout import Recording, record
from kaccess.policies import LAST_POLICY
from kaccess.report.page.scores import find_best_run
from kaccess.robots import Robot
from kaccess.study import RunsName, Study
from kaccess.study.names import find_learners

__all__ = ["Motion", "choose_robot", "find_motion", "pick_snapshots"]

logger = logging.getLogger(__name__)

_N_TRIES = 100  # test poses to choose from
_AFTER = 0.4  # [s] from success to the last snapshot


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion of one robot.

    Args:
        run: Name of the learner.
        pose: Number of the test pose.
        seconds: (t,) time [s].
        qpos: (t, nq) states.
        joints: (t, nu) joint positions [rad].
        torque: (t, nu) joint torques [N m].
        names: (nu,) names of the joints.
        done_at: Time of lasting success [s]; None without success.
    """

    run: str
    pose: int
    seconds: Array
    qpos: Array
    joints: Array
    torque: Array
    names: tuple[str, ...]
    done_at: float | None


def find_motion(
    study: Study, task: Task, scores: Sequence[Mapping[str, Any]]
) -> Motion | None:
    """Return the motion of the best policy of a task; None if there is no policy.

    Args:
        study: Study that holds the policies.
        task: Task that they learned.
        scores: Scores of the policies, as `kaccess evaluate` stores them.
    """
    names = find_learners(study.runs_folder(RunsName(task.name)), LAST_POLICY)
    if not names:
        return None
    known = [each for each in scores if each["name"] in names]
    name = find_best_run(known) if known else next(iter(names))
    try:
        policy = find_policy(study, name, task, Conditions())
        qpos = get_test_poses(study, task, "final", _N_TRIES).qpos
    except InputError as error:
        logger.warning("The page does not show %s: %s", task.name, error)
        return None
    recording = record(task, study.robot, policy.act, qpos, seconds=study.test_seconds)
    return _cut(recording, choose_robot(recording), name, study.robot)


def choose_robot(recording: Recording) -> int:
    """Return the robot to show: with success, from the pose farthest from upright.

    If none has success, return the one with the most reward.
    """
    done = recording.success[-1]
    upright = -gravity_in_body(recording.qpos[0, :, 3:7])[:, 2]
    if done.any():
        return int(np.where(done, upright, np.inf).argmin())
    return int(recording.reward.argmax())


def _cut(recording: Recording, chosen: int, name: str, robot: Robot) -> Motion:
    return Motion(
        run=name,
        pose=chosen,
        seconds=recording.seconds,
        qpos=recording.qpos[:, chosen],
        joints=recording.joints[:, chosen],
        torque=recording.torque[:, chosen],
        names=robot.joint_names,
        done_at=recording.done_at(chosen),
    )


def pick_snapshots(motion: Motion, n: int = 8) -> IntArray:
    """Return n steps to show, evenly spaced, until shortly after success."""
    end = motion.seconds[-1] if motion.done_at is None else motion.done_at + _AFTER
    last = int(np.searchsorted(motion.seconds, min(end, motion.seconds[-1])))
    return np.linspace(0, last, n).round().astype(int)
