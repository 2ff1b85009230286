"""How well a policy does from many poses, without exploration noise.

A policy starts at rest in each test pose and acts for 3 s, as in the paper, section
III-D; a larger robot has more time. The task decides what counts as success.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.base.stats import Interval, wilson
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import EngineConfig, EngineName
from kaccess.envs.conditions import Conditions
from kaccess.envs.episodes import Episodes, turn_heading
from kaccess.envs.ground import find_shapes
from kaccess.envs.task import Task
from kaccess.evaluation.rollout import Act, roll_out
from kaccess.robots import Robot

__all__ = [
    "Group",
    "Scores",
    "Summary",
    "PoseTest",
    "group_success",
    "place_test_poses",
    "summarize",
]

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))  # [rad]; its multiples spread evenly


@dataclass(frozen=True)
class Scores:
    """Scores of a policy from each of n poses.

    Args:
        reward: (n,) sum of the rewards.
        success: (n,) whether it had succeeded strictly at the end.
        success_loose: (n,) whether it had succeeded loosely at the end.
        time: (n,) time of lasting success [s]; inf without success.
        energy: (n,) mechanical work of the joints, sampled at the control rate [J].
        roughness: (n,) mean change of a joint's target between two steps [rad].
    """

    reward: Array
    success: BoolArray
    success_loose: BoolArray
    time: Array
    energy: Array
    roughness: Array

    def __len__(self) -> int:
        return len(self.reward)

    def __getitem__(self, rows: slice | IntArray | BoolArray) -> "Scores":
        """Return the scores from some of the poses."""
        return Scores(**{name: values[rows] for name, values in vars(self).items()})


@dataclass(frozen=True)
class Summary:
    """Scores of a policy over all poses.

    Args:
        n: Number of poses.
        reward: Mean episode reward.
        reward_sd: Standard deviation of the reward over the poses.
        success: Share of poses with strict success, and its Wilson interval.
        success_loose: Share of poses with loose success, and its Wilson interval.
        time: Median time to success over successful poses [s]; NaN if there are none.
        energy: Mean work [J].
        roughness: Mean change of the targets [rad].
    """

    n: int
    reward: float
    reward_sd: float
    success: Interval
    success_loose: Interval
    time: float
    energy: float
    roughness: float


@dataclass(frozen=True)
class Group:
    """Success from a group of similar poses.

    Args:
        name: Name of the group.
        n: Number of poses in it.
        success: Share of them with strict success, and its Wilson interval.
    """

    name: str
    n: int
    success: Interval


class PoseTest:
    """Tests policies from the same poses.

    Args:
        task: Task to be done.
        robot: Robot that does it.
        qpos: (n, nq) poses to start from, at rest.
        conditions: Conditions that differ from the study; by default none.
        n_policies: Policies tested at the same time, each from all poses.
        engine: Name of the engine, or its settings.
    """

    def __init__(
        self,
        task: Task,
        robot: Robot,
        qpos: Array,
        *,
        conditions: Conditions | None = None,
        n_policies: int = 1,
        engine: EngineName | EngineConfig = "mujoco",
    ) -> None:
        self._robot, self._conditions = robot, conditions or Conditions()
        self._n_policies = n_policies
        self.place(qpos)
        task = task.fit_to(robot)
        self._n_steps = round(robot.test_seconds * task.control_rate)
        self._episodes = Episodes(
            task, robot, len(self._qpos), conditions=self._conditions, engine=engine
        )

    def place(self, qpos: Array) -> None:
        """Test from other poses from now on, (n, nq); n must stay the same."""
        placed = place_test_poses(qpos, self._robot, self._conditions)
        self._qpos = np.tile(placed, (self._n_policies, 1))

    def score(self, act: Act) -> Scores:
        """Return the scores of policies; row i starts from pose i.

        With several policies, the rows of the first come first, then those of the next.
        """
        tally: _Tally | None = None
        for step, reward in roll_out(self._episodes, act, self._qpos, self._n_steps):
            tally = tally or _Tally(self._episodes)
            tally.add(reward, step)
        assert tally is not None
        return tally.scores(self._n_steps)


def place_test_poses(qpos: Array, robot: Robot, conditions: Conditions) -> Array:
    """Return test poses, (n, nq), with their headings under the conditions.

    On a slope, pose i is turned by i golden angles.
    """
    if not conditions.is_sloped:
        return qpos
    return turn_heading(
        qpos, _GOLDEN_ANGLE * np.arange(len(qpos)), find_shapes(robot).up
    )


class _Tally:
    """Adds up rewards, work and target changes of n robots, step by step."""

    def __init__(self, episodes: Episodes) -> None:
        self._episodes, n = episodes, len(episodes.robots)
        self._reward, self._energy, self._change = np.zeros((3, n))
        self._last_without = np.zeros(n, int)  # the last step without success
        self._target = episodes.robots.readings.target.copy()

    def add(self, reward: Array, step: int) -> None:
        """Add a step; step 0 is the start and adds nothing."""
        if step == 0:
            return
        now, info = self._episodes.robots.readings, self._episodes.get_info()
        power = np.abs(now.torque * now.joint_velocity).sum(axis=1)
        self._reward += reward
        self._energy += power * now.time_step
        self._change += np.abs(now.target - self._target).mean(axis=1)
        self._target = now.target.copy()
        self._last_without[~info["success"]] = step

    def scores(self, n_steps: int) -> Scores:
        """Return the scores after `n_steps` steps."""
        info = self._episodes.get_info()
        since = (self._last_without + 1) * self._episodes.robots.readings.time_step
        return Scores(
            reward=self._reward,
            success=info["success"],
            success_loose=info["success_loose"],
            time=np.where(info["success"], since, np.inf),
            energy=self._energy,
            roughness=self._change / n_steps,
        )


def summarize(scores: Scores) -> Summary:
    """Return the scores of a policy over all poses."""
    n, times = len(scores), scores.time[scores.success]
    return Summary(
        n=n,
        reward=float(scores.reward.mean()),
        reward_sd=float(scores.reward.std()),
        success=wilson(int(scores.success.sum()), n),
        success_loose=wilson(int(scores.success_loose.sum()), n),
        time=float(np.median(times)) if len(times) else np.nan,
        energy=float(scores.energy.mean()),
        roughness=float(scores.roughness.mean()),
    )


def group_success(success: BoolArray, names: np.ndarray) -> list[Group]:
    """Return success by group of poses, the worst group first.

    Args:
        success: (n,) whether the policy succeeds from each pose.
        names: (m,) group of each of the first m poses; the others do not count.
    """
    success = success[: len(names)]
    groups = [
        Group(
            str(name), int(who.sum()), wilson(int(success[who].sum()), int(who.sum()))
        )
        for name in np.unique(names)
        for who in [names == name]
    ]
    return sorted(groups, key=lambda group: (group.success.value, -group.n))
