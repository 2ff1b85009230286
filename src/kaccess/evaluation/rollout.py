"""Rollouts: a fixed policy acts from given states, step by step."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from kaccess.base.types import Array, BoolArray
from kaccess.config import EngineConfig, EngineName
from kaccess.envs.conditions import Conditions
from kaccess.envs.episodes import Episodes
from kaccess.envs.task import Task
from kaccess.robots import Robot

__all__ = ["Act", "Recording", "record", "roll_out"]

Act = Callable[[Array], Array]
"""Returns actions, (n, nu), for observations, (n, d)."""


def roll_out(
    episodes: Episodes, act: Act, qpos: Array, n_steps: int
) -> Iterator[tuple[int, Array]]:
    """Let a policy act from n states at rest.

    Args:
        episodes: Robots that act; their readings are those of the step just yielded.
        act: Policy.
        qpos: (n, nq) states to start from.
        n_steps: Control steps.

    Yields:
        Number of steps made, and rewards of the last one, (n,); both 0 at the start.
    """
    episodes.begin(qpos)
    yield 0, np.zeros(len(qpos))
    # BLAS threads spin while they wait, and take the cores that the physics needs.
    with threadpool_limits(1, user_api="blas"):
        for step in range(n_steps):
            reward, _ = episodes.step(act(episodes.observe()))
            yield step + 1, reward


@dataclass(frozen=True, eq=False)
class Recording:
    """States and torques of n robots over t control steps, including the start.

    Args:
        seconds: (t + 1,) time [s].
        qpos: (t + 1, n, nq) states.
        joints: (t + 1, n, nu) joint positions [rad].
        torque: (t + 1, n, nu) joint torques [N m].
        success: (t + 1, n) whether the robot has succeeded, strictly.
        reward: (n,) sum of the rewards.
    """

    seconds: Array
    qpos: Array
    joints: Array
    torque: Array
    success: BoolArray
    reward: Array

    def done_at(self, robot: int) -> float | None:
        """Return the time of a robot's lasting success [s]; None without success."""
        without = np.flatnonzero(~self.success[:, robot])
        first = without[-1] + 1 if len(without) else 0
        return float(self.seconds[first]) if first < len(self.seconds) else None


def record(
    task: Task,
    robot: Robot,
    act: Act,
    qpos: Array,
    *,
    seconds: float,
    conditions: Conditions | None = None,
    engine: EngineName | EngineConfig = "mujoco",
) -> Recording:
    """Let a policy act from n states at rest, and record every control step.

    Args:
        task: Task of the policy.
        robot: Robot that acts.
        act: Policy.
        qpos: (n, nq) states to start from.
        seconds: Duration, rounded to control steps [s].
        conditions: Conditions that differ from the study; by default none.
        engine: Name of the engine, or its settings.
    """
    episodes = Episodes(task, robot, len(qpos), conditions=conditions, engine=engine)
    n_steps = max(1, round(seconds * episodes.task.control_rate))
    pages, total = [], np.zeros(len(qpos))
    for _, reward in roll_out(episodes, act, qpos, n_steps):
        total += reward
        pages.append(_read(episodes))
    states, joints, torque, success = (
        np.stack(column) for column in zip(*pages, strict=True)
    )
    times = np.arange(n_steps + 1) * episodes.robots.readings.time_step
    return Recording(times, states, joints, torque, success, total)


def _read(episodes: Episodes) -> tuple[Array, Array, Array, BoolArray]:
    now = episodes.robots.readings
    success = episodes.get_info()["success"]
    return episodes.robots.qpos, now.joints.copy(), now.torque.copy(), success
