"""Episodes of n robots at a task: what they see, earn and have done, step by step.

What Gymnasium's two kinds of environment share, and all they leave to do is the form
in which it is handed out.
"""

import numpy as np
from numpy.typing import NDArray

from kaccess.compiled import compiled
from kaccess.config import EngineName
from kaccess.envs.robots_batch import RobotsBatch
from kaccess.envs.task import Task
from kaccess.errors import InputError
from kaccess.robots import Robot
from kaccess.types import Array, BoolArray, IntArray

__all__ = ["Episodes"]


class Episodes:
    """n robots, each in an episode of its own.

    Args:
        task: The task.
        robot: The robot.
        n: How many of them.
        n_threads: CPU threads; 0 takes them all.
        engine: `mujoco` (CPU threads) or `warp` (an NVIDIA GPU).
        device: Where `warp` computes; by default the first GPU.
    """

    def __init__(
        self,
        task: Task,
        robot: Robot,
        n: int,
        *,
        n_threads: int = 0,
        engine: EngineName = "mujoco",
        device: str | None = None,
    ) -> None:
        self.task = task
        self.robots = RobotsBatch(
            robot,
            n,
            control_rate=task.control_rate,
            low_pass=task.low_pass,
            n_threads=n_threads,
            engine=engine,
            device=device,
        )
        self.low, self.high = task.observation_range(robot).T.astype(np.float32)
        self._term_names = [f"reward_{name}" for name in task.terms]
        self._everyone = np.arange(n)
        self._steps = np.zeros(n, np.int64)
        self._memory = np.zeros((n, len(task.memory)))
        self._terms = np.zeros((n, len(task.terms)))
        self._diverged = np.zeros(n, bool)

    def begin(self, qpos: Array, rows: IntArray | None = None) -> None:
        """Begin new episodes of some robots, at rest in the states `qpos`, (m, nq)."""
        rows = self._everyone if rows is None else rows
        self.robots.reset(qpos, rows)
        self._steps[rows] = 0
        self._memory[rows] = 0.0

    def step(self, actions: Array) -> tuple[Array, BoolArray]:
        """Let every robot act, and return rewards and who is at the end, (n,) each.

        An episode whose simulation breaks down ends too, with no reward for that step.
        """
        diverged = self._diverged = self.robots.step(actions)
        self.task.judge(self.robots.readings, self._everyone, self._memory, self._terms)
        reward, ended = np.zeros(len(diverged)), np.zeros(len(diverged), bool)
        limit = self.task.episode_steps
        _add_up(self._terms, diverged, self._steps, limit, reward, ended)
        return reward, ended

    def observe(self) -> NDArray[np.float32]:
        """Return what the robots see, (n, d)."""
        seen = self.task.observe(self.robots.readings).astype(np.float32)
        np.maximum(seen, self.low, out=seen)
        np.minimum(seen, self.high, out=seen)
        return seen

    def info(self) -> dict[str, np.ndarray]:
        """Return every reward term, what is remembered, and success, (n,) each."""
        info: dict[str, np.ndarray] = dict(
            zip(self._term_names, self._terms.T.copy(), strict=True)
        )
        info.update(zip(self.task.memory, self._memory.T.copy(), strict=True))
        info["success"], info["success_loose"] = self.task.success(self._memory)
        info["diverged"] = self._diverged.copy()
        return info

    def get_state(self) -> dict[str, np.ndarray]:
        """Return all that the rest of the episodes depends on, but for the actions."""
        return {
            "physics": self.robots.get_state(),
            "steps": self._steps.copy(),
            "memory": self._memory.copy(),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` returned."""
        for name, mine in (("steps", self._steps), ("memory", self._memory)):
            if state[name].shape != mine.shape:
                raise InputError(
                    f"`{name}` must have shape {mine.shape} for {len(self._steps)} "
                    f"robots at {self.task.name!r}, got {state[name].shape}."
                )
        self.robots.set_state(state["physics"])
        self._steps[:] = state["steps"]
        self._memory[:] = state["memory"]


@compiled
def _add_up(
    terms: Array,
    diverged: BoolArray,
    steps: IntArray,
    limit: int,
    reward: Array,
    ended: BoolArray,
) -> None:
    """Count a step; write the sum of each robot's terms and whether it is at the end.

    None of the terms count where the simulation broke down.
    """
    for i in range(len(reward)):
        steps[i] += 1
        ended[i] = steps[i] >= limit or diverged[i]
        for j in range(terms.shape[1]):
            if diverged[i]:
                terms[i, j] = 0.0
            reward[i] += terms[i, j]
