"""Policies at work, written down: states, joints and torques of every control step."""

from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from kaccess.envs.conditions import Conditions
from kaccess.envs.episodes import Episodes
from kaccess.envs.task import Task
from kaccess.evaluate import Act
from kaccess.robots import Robot
from kaccess.types import Array, BoolArray

__all__ = ["Recording", "record"]


@dataclass(frozen=True, eq=False)
class Recording:
    """n robots at a task for t control steps, their start included.

    Args:
        seconds: (t + 1,) time [s].
        qpos: (t + 1, n, nq) states.
        joints: (t + 1, n, nu) joint positions [rad].
        torque: (t + 1, n, nu) joint torques [N m].
        success: (t + 1, n) whether it has succeeded, strictly.
        reward: (n,) sum of the rewards.
    """

    seconds: Array
    qpos: Array
    joints: Array
    torque: Array
    success: BoolArray
    reward: Array

    def done_at(self, robot: int) -> float | None:
        """Return when a robot had succeeded for good [s]; None if it has not."""
        without = np.flatnonzero(~self.success[:, robot])
        first = without[-1] + 1 if len(without) else 0
        return float(self.seconds[first]) if first < len(self.seconds) else None


def record(
    task: Task,
    robot: Robot,
    act: Act,
    qpos: Array,
    *,
    n_steps: int,
    conditions: Conditions | None = None,
    n_threads: int = 0,
) -> Recording:
    """Let a policy act from n states at rest, and write down what happens.

    Args:
        task: The task.
        robot: The robot.
        act: The policy.
        qpos: (n, nq) states.
        n_steps: Control steps.
        conditions: What differs from the study; by default nothing.
        n_threads: CPU threads; 0 takes them all.
    """
    episodes = Episodes(
        task, robot, len(qpos), conditions=conditions, n_threads=n_threads
    )
    episodes.begin(qpos)
    pages = [_look(episodes)]
    earned = np.zeros(len(qpos))
    with threadpool_limits(1, user_api="blas"):  # they would wait for one another
        for _ in range(n_steps):
            reward, _ = episodes.step(act(episodes.observe()))
            earned += reward
            pages.append(_look(episodes))
    states, joints, torque, success = (
        np.stack(column) for column in zip(*pages, strict=True)
    )
    seconds = np.arange(n_steps + 1) * episodes.robots.readings.time_step
    return Recording(seconds, states, joints, torque, success, earned)


def _look(episodes: Episodes) -> tuple[Array, Array, Array, BoolArray]:
    now = episodes.robots.readings
    success = episodes.info()["success"]
    return episodes.robots.qpos, now.joints.copy(), now.torque.copy(), success
