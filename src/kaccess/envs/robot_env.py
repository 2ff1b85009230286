"""The tasks as Gymnasium environments: one robot, or n of them in one batch.

Episodes begin at rest in a state drawn from `starts` and end after a number of steps,
by truncation, never by termination: a learner should bootstrap at the end.
"""

from collections.abc import Sequence
from dataclasses import replace
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
from kaccess.base.types import Array, BoolArray
from kaccess.config import EngineConfig, EngineName
from kaccess.envs.arguments import as_many_starts, as_robot, as_starts, as_states
from kaccess.envs.camera import Camera
from kaccess.envs.conditions import Conditions
from kaccess.envs.episodes import Episodes
from kaccess.envs.streams import Seed, get_streams, make_streams, set_streams
from kaccess.envs.task import CONTROL_RATE, Task
from kaccess.envs.tasks import make_task
from kaccess.robots import Robot
from kaccess.starts import InitialStates

__all__ = ["RobotEnv", "RobotVectorEnv"]

Observation = NDArray[np.float32]
Action = NDArray[np.floating[Any]]
_RENDER_MODES = ["rgb_array"]


class RobotEnv(gymnasium.Env[Observation, Action]):
    """One robot at a task.

    Args:
        task: Name of a task, or a task with numbers of one's own.
        robot: Name of a robot, path of an MJCF file, or a robot.
        starts: Where episodes begin; by default in the robot's standing pose.
        conditions: What differs from the world of the study, such as
            `torque=0.6,delay=0.04`; the starts stay those of the robot as it is.
        render_mode: `rgb_array`, or None for no pictures.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # ours is a constant
        "render_modes": _RENDER_MODES,
        "render_fps": CONTROL_RATE,
    }

    def __init__(
        self,
        task: str | Task = "fall-recovery",
        *,
        robot: str | Path | Robot = "bittle",
        starts: InitialStates | None = None,
        conditions: Conditions | str | None = None,
        render_mode: str | None = None,
    ) -> None:
        self.task = make_task(task)
        self.robot = as_robot(robot)
        self.starts = as_starts(starts, self.robot)
        self.render_mode = _check_render_mode(render_mode)
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
        self.observation_space = _observation_space(self._episodes)
        self.action_space = _action_space(self.robot)

    @property
    def episodes(self) -> Episodes:
        """The robot behind the environment, for what `step` does not tell."""
        return self._episodes

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Seed of the starts, of this episode and the following ones.
            options: `qpos`, (nq,): begin in this state instead.
        """
        super().reset(seed=seed)
        options = _check_options(options, ("qpos",))
        if "qpos" in options:
            qpos = as_states(options["qpos"], 1, self.robot)
        else:
            qpos = self._episodes.draw(self.starts, self.np_random)
        self._episodes.begin(qpos)
        return self._episodes.observe()[0], {}

    def step(
        self, action: Action
    ) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Act for one control step."""
        reward, ended = self._episodes.step(np.asarray(action)[None])
        info = {name: each[0].item() for name, each in self._episodes.info().items()}
        return (
            self._episodes.observe()[0],
            float(reward[0]),
            False,
            bool(ended[0]),
            info,
        )

    def render(self) -> NDArray[np.uint8] | None:
        """Return a picture of the robot, (480, 640, 3), in the mode `rgb_array`."""
        if self.render_mode is None:
            return None
        return self._camera.frame(self._episodes.robots.data(0))

    def close(self) -> None:
        """Free what rendering holds."""
        self._camera.close()


class RobotVectorEnv(VectorEnv[Observation, Action, np.ndarray]):
    """n robots at a task, in one batch.

    A sub-environment whose episode ends begins the next one in the same step; what it
    saw at the end is in `info["final_obs"]`. Each draws its starts from a random
    stream of its own: with others' starts changed, it goes through the same numbers.

    Args:
        num_envs: Number of robots.
        task: Name of a task, or a task with numbers of one's own.
        robot: Name of a robot, path of an MJCF file, or a robot.
        starts: Where episodes begin: for all, or one for each robot; by default in the
            robot's standing pose.
        conditions: What differs from the world of the study, such as
            `torque=0.6,delay=0.04`; the starts stay those of the robot as it is.
        engine: `mujoco` (CPU threads), `warp` (an NVIDIA GPU, for thousands), or
            `EngineConfig` to set threads or device as well.
        render_mode: `rgb_array`, or None for no pictures.
        max_episode_steps: Steps in an episode, if other than the task's.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # ours is a constant
        "render_modes": _RENDER_MODES,
        "render_fps": CONTROL_RATE,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        task: str | Task = "fall-recovery",
        *,
        robot: str | Path | Robot = "bittle",
        starts: InitialStates | Sequence[InitialStates] | None = None,
        conditions: Conditions | str | None = None,
        engine: EngineName | EngineConfig = "mujoco",
        render_mode: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        self.task = _with_length(make_task(task), max_episode_steps)
        self.robot = as_robot(robot)
        self.num_envs = num_envs
        self.starts = as_many_starts(starts, self.robot, num_envs)
        self.render_mode = _check_render_mode(render_mode)
        self.metadata = {**self.metadata, "render_fps": self.task.control_rate}  # type: ignore[misc]
        self.conditions = Conditions.of(conditions)
        self._episodes = Episodes(
            self.task,
            self.robot,
            num_envs,
            conditions=self.conditions,
            engine=engine,
        )
        self._camera = Camera(self.robot.model)
        self._streams: list[np.random.Generator] | None = None
        self._running = False
        self.single_observation_space = _observation_space(self._episodes)
        self.single_action_space = _action_space(self.robot)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @property
    def episodes(self) -> Episodes:
        """The robots behind the environment, for what `step` does not tell."""
        return self._episodes

    def reset(
        self,
        *,
        seed: int | Sequence[Seed] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every sub-environment, or in some.

        Args:
            seed: One for all, of which sub-environment i draws from
                `default_rng([seed, i])`; or one each. None goes on with the streams.
            options: `qpos`, (nq,) or (n, nq): begin in these states; `reset_mask`, (n,)
                bool: begin in these sub-environments only.
        """
        options = _check_options(options, ("qpos", "reset_mask"))
        if seed is not None or self._streams is None:
            self._streams = make_streams(seed, self.num_envs)
        rows = np.flatnonzero(self._mask(options.get("reset_mask")))
        if "qpos" in options:
            qpos = as_states(options["qpos"], self.num_envs, self.robot)[rows]
        else:
            qpos = self._draw(rows)
        self._episodes.begin(qpos, rows)
        self._running = True
        return self._episodes.observe(), {}

    def step(
        self, actions: Action
    ) -> tuple[Observation, Array, BoolArray, BoolArray, dict[str, Any]]:
        """Act for one control step in every sub-environment."""
        if not self._running:
            raise ResetNeeded("Call `reset` before the first `step`.")
        reward, ended = self._episodes.step(actions)
        info = self._episodes.info()
        seen = self._episodes.observe()
        if ended.any():
            seen, info = self._begin_again(ended, seen, info)
        else:
            info.update(_masks(info, ~ended))
        return seen, reward, np.zeros(self.num_envs, bool), ended, info

    def observe(self) -> Observation:
        """Return what every robot sees now, (n, d), as the last call returned it."""
        return self._episodes.observe()

    def get_state(self) -> dict[str, np.ndarray]:
        """Return all that the future depends on, but for the actions.

        `set_state` of an environment made with the same arguments goes on from there,
        bit for bit.
        """
        if self._streams is None:
            raise ResetNeeded("Call `reset` before `get_state`.")
        return {**self._episodes.get_state(), "streams": get_streams(self._streams)}

    def set_state(self, state: dict[str, np.ndarray]) -> None:
        """Go on from what `get_state` returned."""
        expected = {*self._episodes.get_state(), "streams"}
        if state.keys() != expected or state["streams"].shape != (self.num_envs, 6):
            raise InputError(
                f"`state` must hold {', '.join(sorted(expected))} of {self.num_envs} "
                f"environments, as `get_state` returns it, got {', '.join(state)}."
            )
        self._episodes.set_state(state)
        self._streams = set_streams(state["streams"])
        self._running = True

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return a picture of each robot, (480, 640, 3), in the mode `rgb_array`."""
        if self.render_mode is None:
            return None
        robots = self._episodes.robots
        return tuple(self._camera.frame(robots.data(i)) for i in range(self.num_envs))

    def close_extras(self, **_: Any) -> None:  # noqa: ANN401  # Gymnasium's signature
        """Free what rendering holds."""
        self._camera.close()

    def _begin_again(
        self, ended: BoolArray, seen: Observation, info: dict[str, np.ndarray]
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episodes of those at an end, and tell how the last ended."""
        rows = np.flatnonzero(ended)
        last = np.full(self.num_envs, None, dtype=object)
        for row in rows:
            last[row] = seen[row].copy()
        self._episodes.begin(self._draw(rows), rows)
        final, going = _only(info, ended), {}
        if not ended.all():
            going = _only(info, ~ended)
        return self._episodes.observe(), {
            **going,
            "final_obs": last,
            "_final_obs": ended.copy(),
            "final_info": final,
            "_final_info": ended.copy(),
        }

    def _draw(self, rows: NDArray[np.intp]) -> Array:
        assert self._streams is not None
        return np.concatenate(
            [self._episodes.draw(self.starts[row], self._streams[row]) for row in rows]
        )

    def _mask(self, mask: object) -> BoolArray:
        if mask is None:
            return np.ones(self.num_envs, bool)
        array = np.asarray(mask)
        if array.shape != (self.num_envs,) or array.dtype != bool or not array.any():
            raise InputError(
                f"`reset_mask` must be {self.num_envs} booleans, at least one of them "
                f"true, got {mask!r}."
            )
        if not self._running and not array.all():
            raise InputError("The first `reset` must be of all sub-environments.")
        return array


def _only(info: dict[str, np.ndarray], who: BoolArray) -> dict[str, np.ndarray]:
    """Return infos that only some sub-environments have: 0 for the others."""
    own = {
        name: np.where(who, each, np.zeros((), each.dtype))
        for name, each in info.items()
    }
    return own | _masks(info, who)


def _masks(info: dict[str, np.ndarray], who: BoolArray) -> dict[str, np.ndarray]:
    """Return Gymnasium's masks: `_name` says which sub-environments have `name`."""
    return dict.fromkeys(["_" + name for name in info], who)


def _observation_space(episodes: Episodes) -> gymnasium.Space[Observation]:
    return Box(episodes.low, episodes.high, dtype=np.float32)


def _action_space(robot: Robot) -> gymnasium.Space[Action]:
    return Box(-1.0, 1.0, (robot.model.nu,), np.float32)


def _check_options(
    options: dict[str, Any] | None, known: tuple[str, ...]
) -> dict[str, Any]:
    options = options or {}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise InputError(
            f"Unknown option {unknown[0]!r} of `reset`: none of {', '.join(known)}."
        )
    return options


def _check_render_mode(render_mode: str | None) -> str | None:
    if render_mode not in (None, *_RENDER_MODES):
        raise InputError(
            f"`render_mode` must be None or one of {', '.join(_RENDER_MODES)}, got "
            f"{render_mode!r}."
        )
    return render_mode


def _with_length(task: Task, n_steps: int | None) -> Task:
    return task if n_steps is None else replace(task, episode_steps=n_steps)
