"""Recorded motions of one robot, with their outcomes in words."""

from dataclasses import dataclass

import mujoco
import numpy as np

from kaccess.access import Outcome, estimate_pairs
from kaccess.base.types import Array
from kaccess.config import AccessConfig, EngineConfig, StillConfig
from kaccess.engines import make_engine
from kaccess.engines.mujoco import make_lean_model
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import Task
from kaccess.evaluation.rollout import Act, record
from kaccess.poses import Poses
from kaccess.robots import Robot
from kaccess.robots.hold import silence_warnings

__all__ = ["Clip", "record_move", "describe_outcome", "record_policy"]


@dataclass(frozen=True, eq=False)
class Clip:
    """Recorded motion of one robot.

    Args:
        robot: The robot, in the world it moves in.
        seconds: (t,) times, evenly spaced, starting with 0 [s].
        qpos: (t, nq) states at these times.
        outcome: Outcome in one or two sentences.
    """

    robot: Robot
    seconds: Array
    qpos: Array
    outcome: str

    @property
    def length(self) -> float:
        """Duration [s]."""
        return float(self.seconds[-1])

    def at(self, seconds: Array | float) -> Array:
        """Return the states, (..., nq), nearest to given times, (...) [s]."""
        step = self.length / (len(self.seconds) - 1)
        nearest = np.rint(np.asarray(seconds) / step).astype(int)
        return np.asarray(self.qpos[nearest.clip(0, len(self.qpos) - 1)])


def record_policy(
    task: Task,
    robot: Robot,
    act: Act,
    start: Array,
    *,
    seconds: float,
    conditions: Conditions,
) -> Clip:
    """Record a policy that acts from a state at rest.

    Args:
        task: Task of the policy.
        robot: Robot that acts.
        act: Policy.
        start: (nq,) state to start from.
        seconds: Duration [s].
        conditions: Conditions that differ from the study.
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
    world = conditions.apply_to(robot)
    return Clip(world, recorded.seconds, recorded.qpos[:, 0], outcome)


def record_move(
    poses: Poses,
    source: int,
    goal: int,
    *,
    seconds: float,
    config: AccessConfig,
    still: StillConfig,
) -> Clip:
    """Record the move from pose `source` to pose `goal`, as `access` simulates it.

    Args:
        poses: Poses of a robot.
        source: Number of the pose to start from.
        goal: Number of the pose whose joints are commanded.
        seconds: Duration [s].
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
    outcome = describe_outcome(found.outcomes[0], found.times[0], config)
    return Clip(
        robot,
        np.arange(n_steps + 1) * robot.timestep,
        states,
        f"From pose {source} to pose {goal}: {outcome}.",
    )


def describe_outcome(outcome: int, time: float, config: AccessConfig) -> str:
    """Return in words how a move ended, with its time if it reached its goal.

    Args:
        outcome: An `Outcome`.
        time: Time of the move [s].
        config: Settings of the estimate, with its time limit.
    """
    return {
        Outcome.PENDING: "not estimated yet",
        Outcome.REACHED: f"reached after {time:.2f} s",
        Outcome.ELSEWHERE: "came to rest elsewhere",
        Outcome.RESTLESS: f"was not at rest within {config.time_limit:g} s",
        Outcome.DIVERGED: "the simulation diverged",
    }[Outcome(outcome)]


def _hold(robot: Robot, qpos: Array, targets: Array, n_steps: int) -> Array:
    """Return the states, (n_steps + 1, nq), while the joints are held at targets."""
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
