"""Episodes of n robots: observations, rewards, success and resets.

`RobotEnv` and `RobotVectorEnv` share this class and add Gymnasium's interface.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kaccess.base.compiled import compiled
from kaccess.base.errors import InputError
from kaccess.base.rotations import turn_quat
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import EngineConfig, EngineName, Ranges
from kaccess.envs.changes import check_torque_limits
from kaccess.envs.conditions import Conditions
from kaccess.envs.draws import Draws
from kaccess.envs.ground import find_shapes
from kaccess.envs.observations import OBSERVATIONS
from kaccess.envs.robots_batch import RobotsBatch
from kaccess.envs.sensors import Sensed, sense
from kaccess.envs.task import Task
from kaccess.robots import Robot
from kaccess.starts import InitialStates

__all__ = ["Episodes", "turn_heading"]


class Episodes:
    """n robots, each in an episode of its own.

    Args:
        task: Learning task.
        robot: Robot of the study.
        n: Number of robots.
        conditions: Differences from the physics of the study; by default none.
        engine: Name of the engine, or its settings.
        ranges: What conditions are drawn from, with `randomize`.

    Attributes:
        robots: The robots and their readings.
        draws: Conditions of each robot; None if all are the same.
        low: (d,) lower limits of the observations.
        high: (d,) upper limits of the observations.
    """

    def __init__(
        self,
        task: Task,
        robot: Robot,
        n: int,
        *,
        conditions: Conditions | None = None,
        engine: EngineName | EngineConfig = "mujoco",
        ranges: Ranges | None = None,
    ) -> None:
        self.conditions = conditions or Conditions()
        self.task = task = self.conditions.adapt(task.fit_to(robot))
        self._robot, self._up = robot, find_shapes(robot).up
        drawn, random = self.conditions.is_drawn, bool(self.conditions.randomize)
        self.draws = Draws(self.conditions, robot, n, ranges) if drawn else None
        if random:
            check_torque_limits(robot, "randomize")
        self.robots = RobotsBatch(
            robot if random else self.conditions.apply_to(robot),
            n,
            control_rate=task.control_rate,
            low_pass=task.low_pass,
            engine=engine,
            draws=self.draws,
            varied=random,
        )
        n_delay = self.conditions.count_delay_steps(task.control_rate)
        self._observation = OBSERVATIONS[self.conditions.observe]
        limits = self._observation.get_range(task, robot)
        self.low, self.high = _add_delayed(limits, n_delay * robot.model.nu)
        self._term_names = [f"reward_{name}" for name in task.terms]
        self._all_rows = np.arange(n)
        self._steps = np.zeros(n, np.int64)
        self._memory = np.zeros((n, len(task.memory)))
        self._terms = np.zeros((n, len(task.terms)))
        self._diverged = np.zeros(n, bool)
        self._queue = np.zeros((n, n_delay, robot.model.nu))  # delayed actions
        self._frames = np.zeros((n, self._observation.n_frames, 0))
        self._state = {"steps": self._steps, "memory": self._memory}
        self._state |= self._list_more_state(len(limits))

    def _list_more_state(self, n_observed: int) -> dict[str, np.ndarray]:
        """Return arrays that are part of the state under some conditions only."""
        more: dict[str, np.ndarray] = {}
        if self._queue.shape[1]:
            more["queue"] = self._queue
        if self._observation.n_frames > 1:
            n, n_frames = len(self._steps), self._observation.n_frames
            self._frames = np.zeros((n, n_frames, n_observed // n_frames))
            more["frames"] = self._frames
        if self.draws and self.robots.wire:
            more |= self.draws.get_arrays() | self.robots.wire.get_arrays()
        return more

    def draw_start(self, starts: InitialStates, rng: np.random.Generator) -> Array:
        """Draw a start, (1, nq), with a random heading if the floor has a slope."""
        qpos = starts.sample(rng, 1)
        if not self.conditions.is_sloped:
            return qpos
        return turn_heading(qpos, rng.uniform(0.0, 2 * np.pi, 1), self._up)

    def begin(
        self,
        qpos: Array,
        rows: IntArray | None = None,
        *,
        streams: Sequence[np.random.Generator] | None = None,
        qvel: Array | None = None,
        targets: Array | None = None,
    ) -> None:
        """Begin new episodes of some robots, in states, (m, nq).

        Args:
            qpos: (m, nq) states.
            rows: (m,) indices of the robots, ascending; by default all.
            streams: Random stream of each of them, from which conditions are drawn. By
                default robot i draws the same conditions in every episode, as in tests.
            qvel: (m, nv) velocities; by default they are at rest.
            targets: (m, nu) joint targets; by default their joint positions [rad].
        """
        rows = self._all_rows if rows is None else rows
        if self.draws:
            self.draws.draw(rows, streams)
        self.robots.reset(qpos, rows, qvel=qvel, targets=targets)
        self._steps[rows] = 0
        self._memory[rows] = 0.0
        # Until the first delayed action arrives, a robot holds the joints of its start.
        held = self._robot.to_actions(self._robot.get_joints(qpos))
        self._queue[rows] = held[:, None]
        if self._frames.size:
            self._frames[rows] = self._make_frame()[rows, None]

    def step(self, actions: Array) -> tuple[Array, BoolArray]:
        """Make one control step of every robot.

        An episode whose simulation diverges ends too, with no reward for that step.

        Args:
            actions: (n, nu) actions in [-1, 1].

        Returns:
            (n,) rewards, and (n,) whether each episode has ended.
        """
        diverged = self._diverged = self.robots.step(self._delay_actions(actions))
        self.task.judge(self.robots.readings, self._all_rows, self._memory, self._terms)
        reward, ended = np.zeros(len(diverged)), np.zeros(len(diverged), bool)
        limit = self.task.episode_steps
        _sum_rewards(self._terms, diverged, self._steps, limit, reward, ended)
        if self._frames.size:
            self._frames[:, 1:] = self._frames[:, :-1].copy()
            self._frames[:, 0] = self._make_frame()
        return reward, ended

    def _make_frame(self) -> Array:
        """Return the newest frame of observations, (n, size)."""
        now, wire = self.robots.readings, self.robots.wire
        true = Sensed(now.gravity, now.angular_velocity, now.joints)
        sensed = sense(now, self.draws, self._steps) if self.draws else true
        parts = {**sensed._asdict(), "commands": wire.commands if wire else now.target}
        return np.concatenate([parts[part] for part in self._observation.parts], axis=1)

    def _delay_actions(self, actions: Array) -> Array:
        """Put actions into the queue, and return those whose delay is over."""
        if not self._queue.shape[1]:
            return actions
        actions = self.robots.check_actions(actions)
        due = self._queue[:, 0].copy()
        self._queue[:, :-1] = self._queue[:, 1:]
        self._queue[:, -1] = actions
        return due

    def observe(self) -> NDArray[np.float32]:
        """Return observations, (n, d), then any delayed actions.

        Delayed actions are part of the state: without them it would not be Markov.
        """
        parts = [self._observe_task()]
        if self._queue.size:
            parts.append(self._queue.reshape(len(self._queue), -1))
        obs = np.concatenate(parts, axis=1).astype(np.float32)
        np.maximum(obs, self.low, out=obs)
        np.minimum(obs, self.high, out=obs)
        return obs

    def _observe_task(self) -> Array:
        """Return the task's observations, or frames, (n, d)."""
        if self._frames.size:
            return self._frames.reshape(len(self._frames), -1)
        now = self.robots.readings
        if self.draws:
            now = now._replace(**sense(now, self.draws, self._steps)._asdict())
        return self.task.observe(now)

    def get_info(self) -> dict[str, np.ndarray]:
        """Return reward terms, remembered values and success, (n,) each."""
        info: dict[str, np.ndarray] = dict(
            zip(self._term_names, self._terms.T.copy(), strict=True)
        )
        info.update(zip(self.task.memory, self._memory.T.copy(), strict=True))
        info["success"], info["success_loose"] = self.task.has_succeeded(self._memory)
        info["diverged"] = self._diverged.copy()
        return info

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state of all episodes, from which `set_state` continues."""
        own = {name: array.copy() for name, array in self._state.items()}
        return {"physics": self.robots.get_state(), **own}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Continue from a state that `get_state` returned."""
        for name, array in self._state.items():
            if state[name].shape != array.shape:
                raise InputError(
                    f"`{name}` must have shape {array.shape} for {len(self._steps)} "
                    f"robots at {self.task.name!r}, got {state[name].shape}."
                )
        for name, array in self._state.items():
            array[:] = state[name]
        self.robots.set_state(state["physics"])


def turn_heading(qpos: Array, heading: Array, up: Array) -> Array:
    """Return states, (m, nq), turned by angles, (m,) [rad], about the normal `up`."""
    new = qpos.copy()
    new[:, 3:7] = turn_quat(qpos[:, 3:7], heading, up)
    return new


def _add_delayed(
    limits: Array, n_delayed: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the limits of observations, delayed actions included."""
    delayed = np.reshape([[-1.0, 1.0]] * n_delayed, (-1, 2))
    low, high = np.concatenate([limits, delayed]).T
    return low.astype(np.float32), high.astype(np.float32)


@compiled
def _sum_rewards(
    terms: Array,
    diverged: BoolArray,
    steps: IntArray,
    limit: int,
    reward: Array,
    ended: BoolArray,
) -> None:
    """Count a step; write each robot's reward and whether its episode has ended.

    Where the simulation diverged, all terms are set to 0.
    """
    for i in range(len(reward)):
        steps[i] += 1
        ended[i] = steps[i] >= limit or diverged[i]
        for j in range(terms.shape[1]):
            if diverged[i]:
                terms[i, j] = 0.0
            reward[i] += terms[i, j]
