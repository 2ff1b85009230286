"""Thousands of robots on a GPU in an environment of Gymnasium, tensors in and out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from torch import Tensor

from kaccess.base.errors import InputError
from kaccess.config import DEFAULT_TASK
from kaccess.envs.arguments import Starts, resolve_robot, resolve_task
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import CONTROL_RATE, Task
from kaccess.gpu.env import TensorRobots
from kaccess.robots import Robot

__all__ = ["TensorVectorEnv"]


class TensorVectorEnv(VectorEnv[Tensor, Tensor, Tensor]):
    """Environment of n robots whose tensors stay on the GPU; see `TensorRobots`.

    Observations, rewards and infos are tensors on `device`, and so are the actions that
    it takes. A robot whose episode ends begins the next one in the same step; its last
    observation is in `info["final_obs"]`. Tensors of a step are copies, which later
    steps do not change.

    Args:
        num_envs: Number of robots.
        task: Name of a task, or a task with settings of your own.
        robot: Name of a robot, path of an MJCF file, or a robot.
        starts: Distribution of the starts, or a `Curriculum`; by default the robot's
            standing pose.
        conditions: Differences from the physics of the study, the same for all robots.
        device: `cuda:1` or the like, or `cpu`; by default the first GPU.
        max_episode_steps: Steps in an episode; by default the task's.

    Attributes:
        robots: The robots.
        device: Device of the tensors.
    """

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]  # ours is a constant
        "render_modes": [],
        "render_fps": CONTROL_RATE,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        task: str | Task = DEFAULT_TASK,
        *,
        robot: str | Path | Robot = "bittle",
        starts: Starts | None = None,
        conditions: Conditions | str | None = None,
        device: str | None = None,
        max_episode_steps: int | None = None,
    ) -> None:
        robot = resolve_robot(robot)
        self.robots = TensorRobots(
            num_envs,
            resolve_task(task, robot, max_episode_steps),
            robot,
            starts=starts,
            conditions=Conditions.of(conditions),
            device=device,
        )
        self.num_envs, self.device = num_envs, self.robots.device
        low, high = self.robots.obs_range.T.astype(np.float32)
        self.single_observation_space = Box(low, high)
        self.single_action_space = Box(-1.0, 1.0, (self.robots.act_dim,))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._is_running = False

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Begin an episode of every robot.

        Args:
            seed: One seed for all, or one for each robot. None continues the draws.
            options: None: robots begin where `starts` says.
        """
        if options:
            raise InputError(
                f"`options` must be empty, got {', '.join(options)}: robots on tensors "
                "begin where `starts` says. For states of your own, make `starts` of "
                "them, with `InitialStates.uniform`."
            )
        self._is_running = True
        return self.robots.reset(self._draw_seeds(seed)), {}

    def _draw_seeds(self, seed: int | Sequence[int] | None) -> Sequence[int]:
        """Return a seed for each robot."""
        if seed is None or isinstance(seed, int):
            super().reset(seed=seed)
            drawn: list[int] = self.np_random.integers(
                2**31, size=self.num_envs
            ).tolist()
            return drawn
        return seed

    def step(
        self, actions: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Make one control step of every robot, (n, act) actions."""
        if not self._is_running:
            raise ResetNeeded("Call `reset` before the first `step`.")
        outcome = self.robots.step(actions)
        info = {
            "success": self.robots.succeeded.clone(),
            "final_obs": outcome.final_obs,
            "_final_obs": outcome.done,
        }
        terminated = torch.zeros_like(outcome.done)  # as in `RobotVectorEnv`
        return outcome.obs, outcome.rewards, terminated, outcome.done, info
