"""A robot in motion: simulated first, with what came of it, to be shown afterwards."""

from dataclasses import dataclass

import mujoco
import numpy as np

from kaccess.access import Outcome, estimate_pairs
from kaccess.base.types import Array
from kaccess.config import AccessConfig, EngineConfig, StillConfig
from kaccess.engines import make_engine
from kaccess.engines.mujoco import make_lean_model, silence_warnings
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import Task
from kaccess.evaluation.rollout import Act, record
from kaccess.poses import Poses
from kaccess.robots import Robot

__all__ = ["Clip", "move_clip", "outcome_text", "policy_clip"]


@dataclass(frozen=True, eq=False)
class Clip:
    """One robot in motion.

    Args:
        robot: The robot, and the world it moves in.
        seconds: (t,) times from 0 on, evenly spaced [s].
        qpos: (t, nq) states at these times.
        outcome: What came of it, in a sentence or two.
    """

    robot: Robot
    seconds: Array
    qpos: Array
    outcome: str

    @property
    def length(self) -> float:
        """How long it is [s]."""
        return float(self.seconds[-1])

    def at(self, seconds: Array | float) -> Array:
        """Return the states, (..., nq), nearest to some times, (...)."""
        step = self.length / (len(self.seconds) - 1)
        nearest = np.rint(np.asarray(seconds) / step).astype(int)
        return np.asarray(self.qpos[nearest.clip(0, len(self.qpos) - 1)])


def policy_clip(
    task: Task,
    robot: Robot,
    act: Act,
    start: Array,
    *,
    seconds: float,
    conditions: Conditions,
) -> Clip:
    """Let a policy act from a state at rest.

    Args:
        task: The task.
        robot: The robot.
        act: The policy.
        start: (nq,) state.
        seconds: How long [s].
        conditions: What differs from the study.
    """
    recorded = record(
        task, robot, act, start[None], seconds=seconds, conditions=conditions
    )
    done_at = recorded.done_at(0)
    outcome = (
        f"It has not succeeded in {task.name} within {recorded.seconds[-1]:.2f} s."
        if done_at is None
        else f"It has succeeded in {task.name}, after {done_at:.2f} s."
    )
    world = conditions.applied_to(robot)
    return Clip(world, recorded.seconds, recorded.qpos[:, 0], outcome)


def move_clip(
    poses: Poses,
    source: int,
    goal: int,
    *,
    seconds: float,
    config: AccessConfig,
    still: StillConfig,
) -> Clip:
    """Hold the joints of pose `goal` from rest at pose `source`, as `access` does.

    Args:
        poses: Poses of a robot.
        source: Number of the pose to start from.
        goal: Number of the pose to get to.
        seconds: How long to hold on [s].
        config: When a pose counts as reached.
        still: When a robot counts as static.
    """
    robot = poses.robot
    engine = make_engine(EngineConfig(threads=1), robot, still)
    pair = np.array([source]), np.array([goal])
    found = estimate_pairs(poses, *pair, config, engine=engine)
    targets = robot.get_joints(poses.qpos[[goal]])[0]
    n_steps = max(1, round(seconds / robot.timestep))
    states = _hold(robot, poses.qpos[source], targets, n_steps)
    said = outcome_text(found.outcomes[0], found.times[0], config)
    return Clip(
        robot,
        np.arange(n_steps + 1) * robot.timestep,
        states,
        f"From pose {source} to pose {goal}: {said}.",
    )


def outcome_text(outcome: int, time: float, config: AccessConfig) -> str:
    """Return in words how a move ended, and after how many seconds if it arrived."""
    return {
        Outcome.PENDING: "not estimated yet",
        Outcome.REACHED: f"arrived after {time:.2f} s",
        Outcome.ELSEWHERE: "came to rest elsewhere",
        Outcome.RESTLESS: f"was not at rest within {config.time_limit:g} s",
        Outcome.DIVERGED: "the simulation broke down",
    }[Outcome(outcome)]


def _hold(robot: Robot, qpos: Array, targets: Array, n_steps: int) -> Array:
    """Return the states, (n_steps + 1, nq), that the engine goes through."""
    model = make_lean_model(robot)
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = qpos, targets
    states = np.empty((n_steps + 1, model.nq))
    states[0] = qpos
    with silence_warnings():
        for state in states[1:]:
            mujoco.mj_step(model, data)
            state[:] = data.qpos
    return states
