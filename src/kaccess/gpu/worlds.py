"""The physics of robots on a GPU, by MuJoCo Warp: its arrays as tensors, not copied."""

import logging
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor

# First, because it says what to install if MuJoCo Warp is missing.
from kaccess.engines.warp.engine import find_device, put_model, reduce_model  # isort: skip

import mujoco_warp as mjw
import warp as wp

from kaccess.engines.warp.buffers import MOST_DOUBLINGS, Buffers, make_overflow_error
from kaccess.engines.warp.graphs import record_graph
from kaccess.engines.warp.kernels import BUFFERS, LARGEST
from kaccess.gpu.readings import TensorFields
from kaccess.gpu.starts import TensorStart
from kaccess.robots import Robot

__all__ = ["Worlds"]

logger = logging.getLogger(__name__)

_LOOK_EVERY = 64  # steps between two looks at the buffers: each one waits for the GPU


class Worlds:
    """n simulations of a robot that stay on their device.

    Args:
        robot: Robot to simulate.
        n: Number of simulations.
        n_substeps: Physics steps in a control step.
        device: Device of Warp, such as `cuda:1` or `cpu`; by default the first GPU.

    Attributes:
        fields: MuJoCo's fields: views of its arrays, changed by every step.
        warm_start: (n, nv) accelerations that the solver starts from.
        device: Their device.
    """

    fields: TensorFields
    warm_start: Tensor

    def __init__(
        self, robot: Robot, n: int, *, n_substeps: int, device: str | None = None
    ) -> None:
        self._robot, self._n, self._n_substeps = robot, n, n_substeps
        self._warp_device = find_device(device)
        self.device = torch.device(wp.device_to_torch(self._warp_device))
        self._model = reduce_model(robot.model)
        self._buffers, self._n_doublings = Buffers.of(self._model), 0
        with wp.ScopedDevice(self._warp_device):
            self._warp_model = put_model(robot, self._model)
        self._n_steps = 0
        self._n_overflowed = torch.zeros((), dtype=torch.int64, device=self.device)
        self._make_worlds()

    def step(self) -> None:
        """Make one control step."""
        with wp.ScopedDevice(self._warp_device), self._use_stream():
            self._advance()

    def find_lost(self) -> Tensor:
        """Return which simulations cannot go on after a step, (n,).

        They have diverged, or have more contacts than the buffers hold. Place them
        anew: the buffers grow later, when they are looked at.
        """
        overflowed = (self._overflow & int(BUFFERS)) != 0
        largest = float(LARGEST)
        sound = (self.fields.qpos.abs() < largest).all(1)  # false for NaN, too
        sound &= (self.fields.qvel.abs() < largest).all(1)
        self._n_overflowed += (overflowed & sound).sum()
        return torch.logical_or(overflowed, ~sound)

    def look_at_buffers(self) -> bool:
        """Double the buffers if robots had more contacts than they hold.

        It waits for the GPU, so it does nothing in most steps.

        Returns:
            Whether there are new buffers, and so other `fields`.
        """
        self._n_steps += 1
        n_overflowed = 0 if self._n_steps % _LOOK_EVERY else int(self._n_overflowed)
        if n_overflowed:
            self._double_buffers(n_overflowed)
        return n_overflowed > 0

    def place(self, rows: Tensor, start: TensorStart) -> None:
        """Put some robots, (n,) bool, into states; the rest of `start` is not used."""
        now, chosen = self.fields, rows[:, None]
        for array, new in (
            (now.qpos, start.qpos),
            (now.qvel, start.qvel),
            (now.ctrl, start.targets),
            (now.force, torch.zeros_like(now.force)),
            (self.warm_start, torch.zeros_like(self.warm_start)),
        ):
            array.copy_(torch.where(chosen, new, array))

    def _make_worlds(self) -> None:
        """Make worlds with buffers for contacts, and record a control step."""
        with wp.ScopedDevice(self._warp_device):
            data = self._data = mjw.make_data(
                self._model,
                nworld=self._n,
                nconmax=self._buffers.n_contacts,
                njmax=self._buffers.n_rows,
            )
            mjw.step(self._warp_model, data)  # loads kernels: not while recording
            mjw.kinematics(self._warp_model, data)
            self._advance = record_graph(self._control_step, self._warp_device)
            wp.synchronize_device()  # torch may write these arrays in another stream
        with torch.inference_mode(False):  # learners may be in it while buffers grow
            self._view(data)

    def _view(self, data: mjw.Data) -> None:
        """Make tensors that share the memory of Warp's arrays."""
        self._overflow = wp.to_torch(data.overflow)
        self.warm_start = wp.to_torch(data.qacc_warmstart)
        self.fields = TensorFields(
            qpos=wp.to_torch(data.qpos),
            qvel=wp.to_torch(data.qvel),
            ctrl=wp.to_torch(data.ctrl),
            force=wp.to_torch(data.actuator_force),
            geom_xpos=wp.to_torch(data.geom_xpos),
            geom_xmat=wp.to_torch(data.geom_xmat),
        )

    def _control_step(self) -> None:
        self._data.overflow.zero_()
        for _ in range(self._n_substeps):
            mjw.step(self._warp_model, self._data)
        mjw.kinematics(self._warp_model, self._data)

    def _use_stream(self) -> Any:  # noqa: ANN401  # a context of Warp, without types
        """Let Warp work in torch's stream, so that neither is ahead of the other."""
        if not self._warp_device.is_cuda:
            return nullcontext()
        return wp.ScopedStream(
            wp.stream_from_torch(torch.cuda.current_stream(self.device))
        )

    def _double_buffers(self, n_overflowed: int) -> None:
        self._n_doublings += 1
        if self._n_doublings > MOST_DOUBLINGS:
            raise make_overflow_error(self._robot, self._buffers)
        self._buffers = self._buffers.double()
        logger.warning(
            "%d robots began new episodes because they had more contacts than the "
            "buffers hold. From now on there is room for %s.",
            n_overflowed,
            self._buffers,
        )
        old = (*self.fields, self.warm_start, self._overflow)
        self._make_worlds()
        new = (*self.fields, self.warm_start, self._overflow)
        for array, values in zip(new, old, strict=True):
            array.copy_(values)
        self._n_overflowed.zero_()
