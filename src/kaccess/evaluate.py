"""How well policies do: from each of many poses, without the noise of learning.

A policy starts at rest in each test pose and acts for 3 s, as in the paper, section
III-D. What counts as success is the task's to say.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from kaccess.config import EngineName
from kaccess.envs.conditions import Conditions
from kaccess.envs.episodes import Episodes, turned
from kaccess.envs.ground import find_shapes
from kaccess.envs.task import Task
from kaccess.robots import Robot
from kaccess.stats import Interval, wilson
from kaccess.types import Array, BoolArray, IntArray

__all__ = [
    "Act",
    "Group",
    "Scores",
    "Summary",
    "PoseTest",
    "by_group",
    "placed",
    "summarize",
]

Act = Callable[[Array], Array]
"""Returns actions, (n, nu), for observations, (n, d)."""

TEST_TIME = 3.0  # [s], 75 steps: the paper, section III-D
_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))  # [rad], whose multiples are spread evenly


@dataclass(frozen=True)
class Scores:
    """What came of a policy from each of n poses.

    Args:
        reward: (n,) sum of the rewards.
        success: (n,) whether it had succeeded at the end, strictly.
        success_loose: (n,) likewise loosely.
        time: (n,) when it had succeeded for good [s]; inf if it has not.
        energy: (n,) mechanical work of the joints, sampled at the control rate [J].
        roughness: (n,) mean change of a joint's target from step to step [rad].
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
    """Figures of a policy over all poses.

    Args:
        n: Number of poses.
        reward: Mean episode reward.
        reward_sd: Standard deviation over the poses.
        success: Share that succeeds strictly, with its Wilson interval.
        success_loose: Share that succeeds loosely, likewise.
        time: Median time to success, of those that succeed [s]; NaN if none does.
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
    """Success from some of the poses that have something in common.

    Args:
        name: What they have in common.
        n: How many.
        success: Share of them that succeeds strictly, with its Wilson interval.
    """

    name: str
    n: int
    success: Interval


class PoseTest:
    """Lets policies act from the same poses.

    Args:
        task: The task.
        robot: The robot.
        qpos: (n, nq) poses, to be started from at rest.
        conditions: What differs from the study; by default nothing.
        n_policies: Policies that act at the same time, each from all the poses.
        n_threads: CPU threads; 0 takes them all.
        engine: `mujoco` (CPU threads) or `warp` (an NVIDIA GPU).
    """

    def __init__(
        self,
        task: Task,
        robot: Robot,
        qpos: Array,
        *,
        conditions: Conditions | None = None,
        n_policies: int = 1,
        n_threads: int = 0,
        engine: EngineName = "mujoco",
    ) -> None:
        conditions = conditions or Conditions()
        self._qpos = np.tile(placed(qpos, robot, conditions), (n_policies, 1))
        self._n_steps = round(TEST_TIME * task.control_rate)
        self._episodes = Episodes(
            task,
            robot,
            len(self._qpos),
            conditions=conditions,
            n_threads=n_threads,
            engine=engine,
        )

    def score(self, act: Act) -> Scores:
        """Return what comes of policies; row i of what they get is from pose i.

        Of several policies, the rows of the first come first, then those of the next.
        """
        self._episodes.begin(self._qpos)
        tally = _Tally(self._episodes)
        # Threads of small matrix products wait in loops, where the physics needs them.
        with threadpool_limits(1, user_api="blas"):
            for step in range(self._n_steps):
                reward, _ = self._episodes.step(act(self._episodes.observe()))
                tally.add(reward, step)
        return tally.scores(self._n_steps)


def placed(qpos: Array, robot: Robot, conditions: Conditions) -> Array:
    """Return test poses, (n, nq), as they lie under conditions.

    On a slope pose i is turned by i golden angles, whatever the other poses are.
    """
    if not conditions.slope:
        return qpos
    return turned(qpos, _GOLDEN_ANGLE * np.arange(len(qpos)), find_shapes(robot).up)


class _Tally:
    """Adds up what n robots earn and spend."""

    def __init__(self, episodes: Episodes) -> None:
        self._episodes, n = episodes, len(episodes.robots)
        self._reward, self._energy, self._change = np.zeros((3, n))
        self._last_without = np.full(n, -1)  # step at whose end it had not succeeded
        self._target = episodes.robots.readings.target.copy()

    def add(self, reward: Array, step: int) -> None:
        now, info = self._episodes.robots.readings, self._episodes.info()
        power = np.abs(now.torque * now.joint_velocity).sum(axis=1)
        self._reward += reward
        self._energy += power * now.time_step
        self._change += np.abs(now.target - self._target).mean(axis=1)
        self._target = now.target.copy()
        self._last_without[~info["success"]] = step

    def scores(self, n_steps: int) -> Scores:
        info = self._episodes.info()
        # It has succeeded at the end of the step after the last without.
        since = (self._last_without + 2) * self._episodes.robots.readings.time_step
        return Scores(
            reward=self._reward,
            success=info["success"],
            success_loose=info["success_loose"],
            time=np.where(info["success"], since, np.inf),
            energy=self._energy,
            roughness=self._change / n_steps,
        )


def summarize(scores: Scores) -> Summary:
    """Return the figures of a policy over all poses."""
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


def by_group(success: BoolArray, names: np.ndarray) -> list[Group]:
    """Return success in each group of poses, the worst first.

    Args:
        success: (n,) whether the policy succeeds from a pose.
        names: (n,) what group a pose is in.
    """
    groups = [
        Group(
            str(name), int(who.sum()), wilson(int(success[who].sum()), int(who.sum()))
        )
        for name in np.unique(names)
        for who in [names == name]
    ]
    return sorted(groups, key=lambda group: (group.success.value, -group.n))
