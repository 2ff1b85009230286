"""Tasks as Gymnasium environments: one robot, or n robots in one batch.

Episodes start in a state drawn from `starts`, usually at rest. They end after a number
of steps, always by truncation and never by termination, so a learner should bootstrap
at the end.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import DEFAULT_TASK, EngineConfig, EngineName
from kaccess.envs.arguments import (
    RENDER_MODES,
    Starts,
    assign_starts,
    broadcast_states,
    broadcast_velocities,
    check_mask,
    check_options,
    check_render_mode,
    check_starts,
    resolve_robot,
    resolve_task,
)
from kaccess.envs.camera import Camera
from kaccess.envs.conditions import Conditions
from kaccess.envs.curriculum import StartDraws
from kaccess.envs.episodes import Episodes
from kaccess.envs.streams import Seed, get_streams, make_streams, set_streams
from kaccess.envs.task import CONTROL_RATE, Task
from kaccess.envs.tasks import make_task
from kaccess.envs.vector_info import add_masks, make_final_info
from kaccess.robots import Robot
from kaccess.starts import InitialStates

__all__ = ["RobotEnv", "RobotVectorEnv"]

Observation = NDArray[np.float32]
Action = NDArray[np.floating[Any]]


class RobotEnv(gymnasium.Env[Observation, Action]):
    """Environment of one robot.

    Args:
        task: Name of a task, or a task with settings of your own.
        robot: Name of a robot, path of an MJCF file, or a robot.
        starts: Distribution of the starts; by default the robot's standing pose.
        conditions: Differences from the physics of the study, such as
            `torque=0.6,delay=0.04`. The starts stay those of the study's robot. With
            `randomize=1`, each robot draws its own in each episode, from
            `config.Ranges`; with `observe=imu`, observations have no joint positions.
        render_mode: `rgb_array`, or None for no pictures.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # ours is a constant
        "render_modes": RENDER_MODES,
        "render_fps": CONTROL_RATE,
    }

    def __init__(
        self,
        task: str | Task = DEFAULT_TASK,
        *,
        robot: str | Path | Robot = "bittle",
        starts: InitialStates | None = None,
        conditions: Conditions | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.robot = resolve_robot(robot)
        self.task = make_task(task, self.robot)
        self.starts = check_starts(starts, self.robot)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {**self.metadata, "render_fps": self.task.control_rate}  # type: ignore[misc]
        self.conditions = Conditions.of(conditions)
        self._episodes = Episodes(
            self.task,
            self.robot,
            1,
            conditions=self.conditions,
            engine=EngineConfig(threads=1),
        )
        self._camera = Camera(self.robot.model)
        self.observation_space = _make_observation_space(self._episodes)
        self.action_space = _make_action_space(self.robot)

    @property
    def episodes(self) -> Episodes:
        """The episodes behind the environment, for data that `step` does not return."""
        return self._episodes

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Seed of the starts, of this episode and the following ones.
            options: `qpos`, (nq,): state to start in, instead of a draw; `qvel`,
                (nv,): its velocity, if it is not at rest.
        """
        super().reset(seed=seed)
        options = check_options(options, ("qpos", "qvel"))
        qvel = broadcast_velocities(options.get("qvel"), 1, self.robot)
        if "qpos" in options:
            qpos = broadcast_states(options["qpos"], 1, self.robot)
        else:
            qpos = self._episodes.draw_start(self.starts, self.np_random)
        self._episodes.begin(qpos, streams=[self.np_random], qvel=qvel)
        return self._episodes.observe()[0], {}

    def step(
        self, action: Action
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make one control step."""
        reward, ended = self._episodes.step(np.asarray(action)[None])
        info = {
            name: values[0].item() for name, values in self._episodes.get_info().items()
        }
        obs = self._episodes.observe()[0]
        return obs, float(reward[0]), False, bool(ended[0]), info

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of the robot, (480, 640, 3), in the mode `rgb_array`."""
        if self.render_mode is None:
            return None
        return self._camera.render(self._episodes.robots.get_data(0))

    def close(self) -> None:
        """Close the renderer."""
        self._camera.close()


class RobotVectorEnv(VectorEnv[Observation, Action, np.ndarray]):
    """Environment of n robots, which are simulated in one batch.

    A sub-environment whose episode ends begins the next one in the same step; its last
    observation is in `info["final_obs"]`. Each sub-environment draws its starts from
    its own random stream, so changes to the starts of others do not affect it.

    Args:
        num_envs: Number of robots.
        task: Name of a task, or a task with settings of your own.
        robot: Name of a robot, path of an MJCF file, or a robot.
        starts: Distribution of the starts, one for all or one for each robot, or a
            `Curriculum`; by default the robot's standing pose.
        conditions: Differences from the physics of the study, such as
            `torque=0.6,delay=0.04`. The starts stay those of the study's robot. With
            `randomize=1`, each robot draws its own in each episode, from
            `config.Ranges`; with `observe=imu`, observations have no joint positions.
        engine: `mujoco` (CPU threads), `warp` (an NVIDIA GPU, for thousands of robots),
            `bullet` (PyBullet), or an `EngineConfig` that also sets threads or device.
        render_mode: `rgb_array`, or None for no pictures.
        max_episode_steps: Steps in an episode; by default the task's.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # ours is a constant
        "render_modes": RENDER_MODES,
        "render_fps": CONTROL_RATE,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        task: str | Task = DEFAULT_TASK,
        *,
        robot: str | Path | Robot = "bittle",
        starts: Starts | Sequence[Starts] | None = None,
        conditions: Conditions | str | None = None,
        engine: EngineName | EngineConfig = "mujoco",
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        self.robot = resolve_robot(robot)
        self.task = resolve_task(task, self.robot, max_episode_steps)
        self.num_envs = num_envs
        self.starts = assign_starts(starts, self.robot, num_envs)
        self.render_mode = check_render_mode(render_mode)
        self.metadata = {**self.metadata, "render_fps": self.task.control_rate}  # type: ignore[misc]
        self.conditions = Conditions.of(conditions)
        self._episodes = Episodes(
            self.task,
            self.robot,
            num_envs,
            conditions=self.conditions,
            engine=engine,
        )
        self._draws = StartDraws(self.starts, self._episodes)
        self._camera = Camera(self.robot.model)
        self._streams: list[np.random.Generator] | None = None
        self._is_running = False
        self.single_observation_space = _make_observation_space(self._episodes)
        self.single_action_space = _make_action_space(self.robot)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @property
    def episodes(self) -> Episodes:
        """The episodes behind the environment, for data that `step` does not return."""
        return self._episodes

    def reset(
        self,
        *,
        seed: int | Sequence[Seed] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every sub-environment, or in some.

        Args:
            seed: One seed for all (sub-environment i draws from
                `default_rng([seed, i])`), or one seed each. None continues the streams.
            options: `qpos`, (nq,) or (n, nq): states to start in, instead of draws;
                `qvel`, (nv,) or (n, nv): their velocities, if they are not at rest;
                `reset_mask`, (n,) bool: sub-environments to reset.
        """
        options = check_options(options, ("qpos", "qvel", "reset_mask"))
        if seed is not None or self._streams is None:
            self._streams = make_streams(seed, self.num_envs)
        mask = check_mask(options.get("reset_mask"), self.num_envs)
        if not self._is_running and not mask.all():
            raise InputError(
                "The first `reset` must be of all sub-environments: leave out "
                "`reset_mask`."
            )
        rows = np.flatnonzero(mask)
        if "qpos" in options:
            qpos = broadcast_states(options["qpos"], self.num_envs, self.robot)[rows]
            qvel = broadcast_velocities(options.get("qvel"), self.num_envs, self.robot)
            self._draws.forget(rows)
            self._episodes.begin(
                qpos,
                rows,
                streams=self._get_streams(rows),
                qvel=None if qvel is None else qvel[rows],
            )
        else:
            self._begin(rows)
        self._is_running = True
        return self._episodes.observe(), {}

    def step(
        self, actions: Action
    ) -> tuple[Observation, Array, BoolArray, BoolArray, dict[str, Any]]:
        """Make one control step of every sub-environment."""
        if not self._is_running:
            raise ResetNeeded("Call `reset` before the first `step`.")
        reward, ended = self._episodes.step(actions)
        info, obs = self._episodes.get_info(), self._episodes.observe()
        self._draws.record(info["success"], ended)
        if ended.any():
            info = make_final_info(info, ended, obs)
            self._begin(np.flatnonzero(ended))
            obs = self._episodes.observe()
        else:
            info = add_masks(info, ~ended)
        return obs, reward, np.zeros(self.num_envs, bool), ended, info

    def observe(self) -> Observation:
        """Return the observations, (n, d), as the last call returned them."""
        return self._episodes.observe()

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the full state of the environment, random streams included.

        After `set_state`, an environment made with the same arguments continues from
        it: on a CPU bit for bit, on a GPU up to rounding.
        """
        if self._streams is None:
            raise ResetNeeded("Call `reset` before `get_state`.")
        return {
            **self._episodes.get_state(),
            **self._draws.get_state(),
            "streams": get_streams(self._streams),
        }

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Continue from a state that `get_state` returned."""
        own = self._draws.get_state()
        expected = {*self._episodes.get_state(), *own, "streams"}
        if state.keys() != expected or state["streams"].shape != (self.num_envs, 6):
            raise InputError(
                f"`state` must hold {', '.join(sorted(expected))} of {self.num_envs} "
                f"environments, as `get_state` returns it, got {', '.join(state)}."
            )
        self._episodes.set_state(state)
        self._draws.set_state(state)
        self._streams = set_streams(state["streams"])
        self._is_running = True

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return a picture of each robot, (480, 640, 3), in the mode `rgb_array`."""
        if self.render_mode is None:
            return None
        robots = self._episodes.robots
        return tuple(
            self._camera.render(robots.get_data(i)) for i in range(self.num_envs)
        )

    def close_extras(self, **_: Any) -> None:  # noqa: ANN401  # Gymnasium's signature
        """Close the renderer."""
        self._camera.close()

    def _begin(self, rows: IntArray) -> None:
        """Begin the next episodes of some sub-environments."""
        assert self._streams is not None
        starts = self._draws.draw(rows, self._streams)
        self._episodes.begin(
            starts.qpos,
            rows,
            streams=self._get_streams(rows),
            qvel=starts.qvel,
            targets=starts.targets,
        )

    def _get_streams(self, rows: IntArray) -> list[np.random.Generator]:
        assert self._streams is not None
        return [self._streams[row] for row in rows]


def _make_observation_space(episodes: Episodes) -> gymnasium.Space[Observation]:
    return Box(episodes.low, episodes.high, dtype=np.float32)


def _make_action_space(robot: Robot) -> gymnasium.Space[Action]:
    return Box(-1.0, 1.0, (robot.model.nu,), np.float32)
