"""A policy at work, for the page: the best one, from the pose that shows the most."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kaccess.envs.task import make_task
from kaccess.errors import InputError
from kaccess.learning import test_poses
from kaccess.policy import LAST_POLICY, Policy
from kaccess.report.page.scores import best_run
from kaccess.report.recording import Recording, record
from kaccess.robots import Robot
from kaccess.rotations import gravity_in_body
from kaccess.study import Study
from kaccess.types import Array, IntArray

__all__ = ["Motion", "choose_robot", "find_motion", "snapshots"]

logger = logging.getLogger(__name__)

_N_TRIES = 100  # test poses from which the one to show is chosen
_TIME = 3.0  # [s], as in the test
_AFTER = 0.4  # [s] to go on showing after success


@dataclass(frozen=True, eq=False)
class Motion:
    """One robot at a task.

    Args:
        run: Name of the learner.
        pose: Number of the test pose.
        seconds: (t,) time [s].
        qpos: (t, nq) states.
        joints: (t, nu) joint positions [rad].
        torque: (t, nu) joint torques [N m].
        names: (nu,) names of the joints.
        done_at: When it had succeeded for good [s]; None if it has not.
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
    study: Study, robot: Robot, task: str, policies: Sequence[Mapping[str, Any]]
) -> Motion | None:
    """Return the best policy of a study at a task; None if there is none.

    Args:
        study: The study.
        robot: Its robot.
        task: Name of the task.
        policies: What came of its policies, as `kaccess evaluate` stores it.
    """
    folder = study.path / "train" / task
    paths = sorted(folder.glob(f"*/seed-*/{LAST_POLICY}"))
    if not paths:
        return None
    names = [str(path.parent.relative_to(folder)) for path in paths]
    known = [policy for policy in policies if policy["name"] in names]
    name = best_run(known) if known else names[0]
    policy, made = Policy.load(folder / name / LAST_POLICY), make_task(task)
    if policy.metadata.get("model") != robot.fingerprint:
        logger.warning("%s is of another robot; the page goes without it.", name)
        return None
    try:
        qpos = test_poses(study, made, "final", _N_TRIES).qpos
    except InputError as error:
        logger.warning("The page goes without %s: %s", task, error)
        return None
    n_steps = round(_TIME * made.control_rate)
    recording = record(made, robot, policy.act, qpos, n_steps=n_steps)
    return _cut(recording, choose_robot(recording), name, robot)


def choose_robot(recording: Recording) -> int:
    """Return the robot to show: one that succeeds, from as far over as there is."""
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


def snapshots(motion: Motion, n: int = 8) -> IntArray:
    """Return the steps to show, (n,): evenly, until shortly after success."""
    end = motion.seconds[-1] if motion.done_at is None else motion.done_at + _AFTER
    last = int(np.searchsorted(motion.seconds, min(end, motion.seconds[-1])))
    return np.linspace(0, last, n).round().astype(int)
