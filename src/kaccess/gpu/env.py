"""Thousands of robots in episodes, on tensors that stay on their device.

It is the counterpart of `RobotVectorEnv` for learners on a GPU: the same task, the same
observations and rewards up to rounding. A robot whose episode ends begins the next one
within the same step.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from kaccess.base.errors import InputError
from kaccess.envs.arguments import Starts, assign_starts
from kaccess.envs.conditions import Conditions
from kaccess.envs.curriculum import Curriculum
from kaccess.envs.ground import find_shapes
from kaccess.envs.observations import OBSERVATIONS
from kaccess.envs.readings import JointAddresses
from kaccess.envs.robots_batch import count_substeps, find_standing_height
from kaccess.envs.task import Task
from kaccess.gpu.graphs import record_graph
from kaccess.gpu.interface import TensorOutcome
from kaccess.gpu.on_tensors import ALL, make_tensor_judge
from kaccess.gpu.readings import TensorReader, rotate_into_body
from kaccess.gpu.starts import Bank, MovingStarts, TensorStarts
from kaccess.gpu.worlds import Worlds
from kaccess.robots import Robot

__all__ = ["TensorRobots", "check_on_tensors"]


class TensorRobots:
    """n robots on a device, each in an episode of its own; a `TensorEnv`.

    Args:
        n: Number of robots.
        task: Learning task.
        robot: Robot.
        starts: Where episodes begin; by default in the standing pose.
        conditions: Differences from the physics of the study, the same for all robots.
        device: Device of Warp, such as `cuda:1` or `cpu`; by default the first GPU.

    Attributes:
        obs_range: (obs, 2) bounds of the observations.
        succeeded: (n,) which robots had succeeded after the last step, in the episode
            that this step belongs to.

    Raises:
        InputError: If the task or a condition cannot be computed on tensors.
    """

    def __init__(
        self,
        n: int,
        task: Task,
        robot: Robot,
        *,
        starts: Starts | None = None,
        conditions: Conditions | None = None,
        device: str | None = None,
    ) -> None:
        if n < 1:
            raise InputError(f"`n` must be at least 1, got {n}.")
        conditions = conditions or Conditions()
        self.task = task = conditions.adapt(task.fit_to(robot))
        self._judge = check_on_tensors(task, robot, conditions)
        changed = conditions.apply_to(robot)
        n_substeps = count_substeps(changed, task.control_rate)
        self._worlds = Worlds(changed, n, n_substeps=n_substeps, device=device)
        self.device, self.n_envs = self._worlds.device, n
        self._reader = self._make_reader(changed, n_substeps)
        self._starts = _make_starts(starts, robot, n, self.device)
        low, high = robot.joint_range.T
        self._middle = self._send((low + high) / 2)
        self._half = self._send((high - low) / 2)
        self.obs_range = OBSERVATIONS[conditions.observe].get_range(task, robot)
        self._low, self._high = (self._send(each) for each in self.obs_range.T)
        self.obs_dim, self.act_dim = len(self.obs_range), robot.model.nu
        self.low, self.high = np.full((2, self.act_dim), [[-1.0], [1.0]])
        self._steps = torch.zeros(n, dtype=torch.int64, device=self.device)
        self._memory = torch.zeros(n, len(task.memory), device=self.device)
        self._terms = torch.zeros(n, len(task.terms), device=self.device)
        self._last_quat = torch.zeros(n, 4, device=self.device)
        self._outcome = self._make_outcome()
        self.succeeded = self._outcome.done.clone()
        if self.device.type == "cuda" and self._starts.generator is not None:
            self._finish()  # loads kernels: not while recording
        self._finish_step = self._record()

    @torch.no_grad()
    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Start all episodes; return observations, (n, obs)."""
        self._starts.seed(seeds)
        everyone = torch.ones(self.n_envs, dtype=torch.bool, device=self.device)
        self._begin(everyone)
        self._remember()
        return self._outcome.obs.clone()

    @torch.no_grad()
    def step(self, actions: Tensor) -> TensorOutcome:
        """Step with actions, (n, act); those beyond -1 and 1 are clipped."""
        self._command(actions)
        self._worlds.step()
        self._finish_step()
        if self._worlds.look_at_buffers():
            self._finish_step = self._record()
        return TensorOutcome(*(each.clone() for each in vars(self._outcome).values()))

    def _command(self, actions: Tensor) -> None:
        """Set the joint targets, smoothed by the low-pass filter of the task."""
        ctrl = self._worlds.fields.ctrl
        new = self._middle + self._half * actions.to(ctrl).clamp(-1.0, 1.0)
        ctrl.copy_(torch.lerp(new, ctrl, self.task.low_pass))

    def _record(self) -> Callable[[], None]:
        """Return `_finish` as one CUDA graph, unless the starts need the host."""
        if self._starts.generator is None:
            return self._finish
        return record_graph(self._finish, self.device, [self._starts.generator])

    @torch.no_grad()
    def _finish(self) -> None:
        """Compute the outcome of a step of the physics, and begin new episodes."""
        lost, outcome = self._worlds.find_lost(), self._outcome
        readings = self._reader.read(self._worlds.fields, self._last_quat)
        self._judge(self.task, readings, ALL, self._memory, self._terms)
        outcome.rewards.copy_(self._terms.sum(1).masked_fill(lost, 0.0))
        self._steps += 1
        outcome.done.copy_((self._steps >= self.task.episode_steps) | lost)
        # As in `RobotVectorEnv`, nothing is terminal.
        outcome.time_outs.copy_(outcome.done)
        # As on the CPU, a robot whose simulation is lost stays where it was before.
        outcome.final_obs.copy_(
            torch.where(lost[:, None], outcome.obs, self._observe())
        )
        self.succeeded.copy_(self.get_success()[0] & ~lost)
        self._starts.record(self.succeeded, outcome.done)
        self._begin(outcome.done)
        self._remember()

    def _remember(self) -> None:
        """Keep what the next step needs to know of the current states."""
        self._outcome.obs.copy_(self._observe())
        self._last_quat.copy_(self._worlds.fields.qpos[:, 3:7])

    def _make_outcome(self) -> TensorOutcome:
        """Return tensors that each step writes its outcome to."""
        n = self.n_envs
        obs = torch.zeros(n, self.obs_dim, device=self.device)
        done = torch.zeros(n, dtype=torch.bool, device=self.device)
        return TensorOutcome(
            obs=obs,
            rewards=torch.zeros(n, device=self.device),
            done=done,
            time_outs=done.clone(),
            final_obs=obs.clone(),
        )

    def get_success(self) -> tuple[Tensor, Tensor]:
        """Return which robots have succeeded, strictly and loosely, (n,) each."""
        memory: Any = self._memory  # comparing works on tensors as on arrays
        strict, loose = self.task.has_succeeded(memory)
        return cast(Tensor, strict), cast(Tensor, loose)

    def set_lengths(self, lengths: Tensor) -> None:
        """Make so many steps of each episode count as made, (n,)."""
        self._steps.copy_(lengths)

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state that the next step depends on."""
        arrays = {name: each.cpu().numpy() for name, each in self._list_state().items()}
        return {name: each.copy() for name, each in arrays.items()} | (
            self._starts.get_state()
        )

    @torch.no_grad()
    def set_state(self, state: Mapping[str, np.ndarray]) -> bool:
        """Put back a state, after a reset; return whether that is possible."""
        own = self._list_state()
        if not {*own, "random"} <= state.keys():
            return False
        for name, tensor in own.items():
            tensor.copy_(torch.from_numpy(state[name].copy()))
        self._starts.set_state(state)
        self._remember()
        return True

    def _list_state(self) -> dict[str, Tensor]:
        now = self._worlds.fields
        return {
            "qpos": now.qpos,
            "qvel": now.qvel,
            "ctrl": now.ctrl,
            "warm_start": self._worlds.warm_start,
            "steps": self._steps,
            "memory": self._memory,
        }

    def _begin(self, rows: Tensor) -> None:
        """Begin new episodes of some robots, (n,) bool."""
        self._worlds.place(rows, self._starts.draw(rows))
        self._steps.masked_fill_(rows, 0)
        self._memory.masked_fill_(rows[:, None], 0.0)

    def _observe(self) -> Tensor:
        """Return observations, (n, obs); they need no positions of geoms."""
        now = self._worlds.fields
        gravity = rotate_into_body(self._reader.down, now.qpos[:, 3:7])
        joints = now.qpos[:, self._reader.joint_adr]
        obs = torch.cat([gravity, now.qvel[:, 3:6], joints], dim=1)
        return torch.clamp(obs, self._low, self._high)

    def _make_reader(self, robot: Robot, n_substeps: int) -> TensorReader:
        return TensorReader(
            find_shapes(robot),
            JointAddresses.of(robot),
            standing_height=find_standing_height(robot),
            standing_joints=robot.get_joints(robot.standing[None])[0],
            time_step=n_substeps * robot.timestep,
            like=self._worlds.fields.qpos,
        )

    def _send(self, array: np.ndarray) -> Tensor:
        return torch.as_tensor(array, dtype=torch.float32, device=self.device)


def _make_starts(
    starts: Starts | None, robot: Robot, n: int, device: torch.device
) -> TensorStarts:
    (checked,) = assign_starts(starts, robot, 1)
    if isinstance(checked, Curriculum):
        return MovingStarts(checked, robot, n, device)
    return Bank(checked, robot, n, device)


def check_on_tensors(
    task: Task, robot: Robot, conditions: Conditions
) -> Callable[..., None]:
    """Return the method `judge` of a task, on tensors.

    Raises:
        InputError: If the task or a condition cannot be computed on tensors.
    """
    _check_conditions(conditions)
    if type(task).observe is not Task.observe:
        raise InputError(
            f"Robots on tensors cannot compute the observations of {task.name!r}, "
            "because it has an `observe` of its own. Choose the engine mujoco."
        )
    return make_tensor_judge(task, robot.model.nu, find_shapes(robot).n_feet)


def _check_conditions(conditions: Conditions) -> None:
    """Refuse conditions that differ from robot to robot, or reach beyond the model."""
    is_late = conditions.delay > 0 or conditions.observe != Conditions().observe
    if conditions.is_drawn or conditions.is_sloped or is_late:
        raise InputError(
            f"Robots on tensors cannot have the conditions {conditions.text!r}: they "
            "share one model and level ground, and observe their joints without delay. "
            "Choose the engine mujoco."
        )
