"""Episodes of n robots at a task: what they see, earn and have done, step by step.

What Gymnasium's two kinds of environment share, and all they leave to do is the form
in which it is handed out.
"""

import numpy as np
from numpy.typing import NDArray

from kaccess.base.compiled import compiled
from kaccess.base.errors import InputError
from kaccess.base.rotations import turn_quat
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import EngineConfig, EngineName
from kaccess.envs.conditions import Conditions
from kaccess.envs.ground import find_shapes
from kaccess.envs.robots_batch import RobotsBatch
from kaccess.envs.task import Task
from kaccess.robots import Robot
from kaccess.starts import InitialStates

__all__ = ["Episodes", "turn_heading"]


class Episodes:
    """n robots, each in an episode of its own.

    Args:
        task: The task.
        robot: The robot of the study.
        n: How many of them.
        conditions: What differs from the study; by default nothing.
        engine: Name of the engine, `mujoco` or `warp`, or its settings.
    """

    def __init__(
        self,
        task: Task,
        robot: Robot,
        n: int,
        *,
        conditions: Conditions | None = None,
        engine: EngineName | EngineConfig = "mujoco",
    ) -> None:
        self.task = task
        self.conditions = conditions or Conditions()
        self._robot, self._up = robot, find_shapes(robot).up
        self.robots = RobotsBatch(
            self.conditions.applied_to(robot),
            n,
            control_rate=task.control_rate,
            low_pass=task.low_pass,
            engine=engine,
        )
        n_late = self.conditions.n_late(task.control_rate)
        late = [[-1.0, 1.0]] * (n_late * robot.model.nu)
        seen = np.concatenate(
            [task.observation_range(robot), np.reshape(late, (-1, 2))]
        )
        self.low, self.high = seen.T.astype(np.float32)
        self._term_names = [f"reward_{name}" for name in task.terms]
        self._everyone = np.arange(n)
        self._steps = np.zeros(n, np.int64)
        self._memory = np.zeros((n, len(task.memory)))
        self._terms = np.zeros((n, len(task.terms)))
        self._diverged = np.zeros(n, bool)
        self._queue = np.zeros((n, n_late, robot.model.nu))  # commands on their way
        self._state = {"steps": self._steps, "memory": self._memory}
        if n_late:
            self._state["queue"] = self._queue

    def draw(self, starts: InitialStates, rng: np.random.Generator) -> Array:
        """Draw a start, (1, nq), and on a slope a heading for it."""
        qpos = starts.sample(rng, 1)
        if not self.conditions.slope:
            return qpos
        return turn_heading(qpos, rng.uniform(0.0, 2 * np.pi, 1), self._up)

    def begin(self, qpos: Array, rows: IntArray | None = None) -> None:
        """Begin new episodes of some robots, at rest in the states `qpos`, (m, nq)."""
        rows = self._everyone if rows is None else rows
        self.robots.reset(qpos, rows)
        self._steps[rows] = 0
        self._memory[rows] = 0.0
        held = self._robot.to_actions(self._robot.get_joints(qpos))
        self._queue[rows] = held[:, None]

    def step(self, actions: Array) -> tuple[Array, BoolArray]:
        """Let every robot act, and return rewards and who is at the end, (n,) each.

        An episode whose simulation breaks down ends too, with no reward for that step.
        """
        diverged = self._diverged = self.robots.step(self._arriving(actions))
        self.task.judge(self.robots.readings, self._everyone, self._memory, self._terms)
        reward, ended = np.zeros(len(diverged)), np.zeros(len(diverged), bool)
        limit = self.task.episode_steps
        _add_up(self._terms, diverged, self._steps, limit, reward, ended)
        return reward, ended

    def _arriving(self, actions: Array) -> Array:
        """Return the actions that arrive now, and send off those given."""
        if not self._queue.shape[1]:
            return actions
        actions = np.asarray(actions, np.float64)
        arriving = self._queue[:, 0].copy()
        if actions.shape != arriving.shape:
            raise InputError(
                f"`actions` must have shape {arriving.shape}, one target for each "
                f"joint of each robot, got {actions.shape}."
            )
        if not np.isfinite(actions).all():
            raise InputError("`actions` must be finite, got NaN or infinity.")
        self._queue[:, :-1] = self._queue[:, 1:]
        self._queue[:, -1] = actions
        return arriving

    def observe(self) -> NDArray[np.float32]:
        """Return what the robots see, (n, d), and after it any commands on their way.

        Without these the future would not depend on what is seen and done alone.
        """
        sights = [self.task.observe(self.robots.readings)]
        if self._queue.size:
            sights.append(self._queue.reshape(len(self._queue), -1))
        seen = np.concatenate(sights, axis=1).astype(np.float32)
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
        own = {name: mine.copy() for name, mine in self._state.items()}
        return {"physics": self.robots.get_state(), **own}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` returned."""
        for name, mine in self._state.items():
            if state[name].shape != mine.shape:
                raise InputError(
                    f"`{name}` must have shape {mine.shape} for {len(self._steps)} "
                    f"robots at {self.task.name!r}, got {state[name].shape}."
                )
        self.robots.set_state(state["physics"])
        for name, mine in self._state.items():
            mine[:] = state[name]


def turn_heading(qpos: Array, heading: Array, up: Array) -> Array:
    """Return states, (m, nq), turned by angles, (m,) [rad], about the normal `up`."""
    new = qpos.copy()
    new[:, 3:7] = turn_quat(qpos[:, 3:7], heading, up)
    return new


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
