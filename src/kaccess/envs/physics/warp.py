"""The simulations behind environments on an NVIDIA GPU, by MuJoCo Warp.

For thousands of robots at a time: to test many policies from many poses, or for a
learner with many environments. A control step is one CUDA graph; then the states come
to the host, where tasks judge them. Single precision, and sums of contacts round
differently in each run: results are alike, but not the same to the bit.
"""

import logging
from collections.abc import Callable
from functools import partial

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines.warp.buffers import MOST_DOUBLINGS, Buffers, make_overflow_error
from kaccess.engines.warp.engine import find_device, put_model, reduce_model
from kaccess.engines.warp.kernels import BUFFERS, LARGEST
from kaccess.robots import Robot

__all__ = ["WarpPhysics"]

logger = logging.getLogger(__name__)


class WarpPhysics:
    """Simulations on a GPU; see `Physics`."""

    def __init__(
        self, robot: Robot, n: int, *, n_substeps: int, device: str | None
    ) -> None:
        self._robot, self._device = robot, find_device(device)
        self._n, self._n_substeps = n, n_substeps
        self._model = reduce_model(robot.model)
        self._buffers = Buffers.of(self._model)
        self._broken = np.zeros(n, bool)
        with wp.ScopedDevice(self._device):
            self._warp_model = put_model(robot, self._model)
            self._build()
        model = self._model
        self.qpos, self.qvel = np.zeros((n, model.nq)), np.zeros((n, model.nv))
        self.ctrl, self.force = np.zeros((2, n, model.nu))
        self.geom_xpos = np.zeros((n, model.ngeom, 3))
        self.geom_xmat = np.zeros((n, model.ngeom, 9))

    def reset(self, rows: IntArray, qpos: Array, targets: Array) -> None:
        """Put robots at rest into states, (m, nq), to hold targets, (m, nu)."""
        warm_start = self._worlds.qacc_warmstart.numpy()
        self.qpos[rows], self.ctrl[rows] = qpos, targets
        self.qvel[rows], self.force[rows], warm_start[rows] = 0.0, 0.0, 0.0
        self._broken[rows] = False
        self._send(warm_start)

    def step(self) -> BoolArray:
        """Make the physics steps of a control step; return who broke down, (n,)."""
        with wp.ScopedDevice(self._device):
            self._worlds.ctrl.assign(self.ctrl)
            for _ in range(MOST_DOUBLINGS + 1):
                self._advance()
                n_overflowed = self._n_overflowed()
                if not n_overflowed:
                    break
                self._make_room(n_overflowed)
            else:
                raise make_overflow_error(self._robot, self._buffers)
            self._fetch_state()
            self.force[:] = self._worlds.actuator_force.numpy()
            self._fetch_geoms()
        self._hold_broken()
        return self._broken.copy()

    def get_state(self) -> Array:
        """Return all that the future depends on, (n, n_state), warm start included."""
        warm_start = self._worlds.qacc_warmstart.numpy()
        return np.concatenate([self.qpos, self.qvel, self.ctrl, warm_start], axis=1)

    def set_state(self, state: Array) -> None:
        """Go on from what `get_state` returned."""
        model = self._model
        ends = np.cumsum([model.nq, model.nv, model.nu])
        self.qpos[:], self.qvel[:], self.ctrl[:], warm_start = np.split(
            state, ends, axis=1
        )
        self._broken[:] = False
        self._send(warm_start)

    def data(self, row: int, data: mujoco.MjData | None) -> mujoco.MjData:
        """Return one robot's data, to look at."""
        data = data or mujoco.MjData(self._model)
        data.qpos[:], data.qvel[:] = self.qpos[row], self.qvel[row]
        data.ctrl[:] = self.ctrl[row]
        mujoco.mj_forward(self._model, data)
        return data

    def _build(self) -> None:
        """Make worlds with room for contacts, and record what a control step is."""
        self._worlds = mjw.make_data(
            self._model,
            nworld=self._n,
            nconmax=self._buffers.n_contacts,
            njmax=self._buffers.n_rows,
        )
        data = self._worlds
        self._state = (data.qpos, data.qvel, data.qacc_warmstart)
        self._before = tuple(wp.clone(array) for array in self._state)
        mjw.step(self._warp_model, data)  # kernels load outside of a recording
        mjw.kinematics(self._warp_model, data)
        self._advance = self._record(self._control_step)

    def _record(self, function: Callable[[], None]) -> Callable[[], None]:
        if not self._device.is_cuda:
            return function
        with wp.ScopedCapture() as capture:
            function()
        return partial(wp.capture_launch, capture.graph)

    def _control_step(self) -> None:
        for array, before in zip(self._state, self._before, strict=True):
            wp.copy(before, array)
        self._worlds.overflow.zero_()
        for _ in range(self._n_substeps):
            mjw.step(self._warp_model, self._worlds)
        mjw.kinematics(self._warp_model, self._worlds)

    def _n_overflowed(self) -> int:
        return int(np.count_nonzero(self._worlds.overflow.numpy() & BUFFERS))

    def _make_room(self, n_overflowed: int) -> None:
        """Go back to before the step, in worlds with more room for contacts."""
        self._buffers = self._buffers.double()
        logger.warning(
            "%d simulations had more contacts than there was room for: the step is "
            "made again, with %s.",
            n_overflowed,
            self._buffers,
        )
        before = [array.numpy() for array in self._before]
        self._build()
        for array, values in zip(self._state, before, strict=True):
            array.assign(values)
        self._worlds.ctrl.assign(self.ctrl)

    def _send(self, warm_start: Array) -> None:
        """Copy states to the device, and see where that puts the geoms."""
        with wp.ScopedDevice(self._device):
            for array, values in zip(
                self._state, (self.qpos, self.qvel, warm_start), strict=True
            ):
                array.assign(values.astype(np.float32))
            mjw.kinematics(self._warp_model, self._worlds)
            self._fetch_geoms()

    def _fetch_state(self) -> None:
        self.qpos[:], self.qvel[:] = (array.numpy() for array in self._state[:2])

    def _fetch_geoms(self) -> None:
        self.geom_xpos[:] = self._worlds.geom_xpos.numpy()
        self.geom_xmat[:] = self._worlds.geom_xmat.numpy().reshape(self._n, -1, 9)

    def _hold_broken(self) -> None:
        """Put those that broke down back to before the step, at rest, for good.

        A broken world would keep the solver of all worlds busy.
        """
        state = np.concatenate([self.qpos, self.qvel], axis=1)
        broken = ~(np.abs(state) < LARGEST).all(axis=1)  # NaN is not less
        if broken.any():
            rows = np.flatnonzero(broken)
            held = self._before[0].numpy()[rows].astype(np.float64)
            self.reset(rows, held, self.ctrl[rows])
            self._broken[rows] = True
