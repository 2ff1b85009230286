"""The physics of environments on an NVIDIA GPU, by MuJoCo Warp.

It suits thousands of robots: tests of many policies from many poses, or a learner with
many environments. A control step is one CUDA graph; then states are copied to the host,
where tasks compute rewards. Arithmetic is in single precision, and contact forces are
summed in a different order in each run: results repeat only up to rounding.
"""

import logging
from dataclasses import fields

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines.warp.buffers import MOST_DOUBLINGS, Buffers, make_overflow_error
from kaccess.engines.warp.engine import find_device, put_model, reduce_model
from kaccess.engines.warp.graphs import record_graph
from kaccess.engines.warp.kernels import BUFFERS, LARGEST
from kaccess.envs.changes import CHANGED_FIELDS, TORQUE_LIMITS
from kaccess.envs.physics.physics import Fields
from kaccess.robots import Robot

__all__ = ["WarpPhysics"]

_KNOWN = {field.name for field in fields(mjw.Model)}
# Others only save time: MuJoCo skips frames that coincide, and uses bounding boxes.
VARIED_FIELDS = tuple(
    name
    for name in CHANGED_FIELDS
    if name in _KNOWN and not name.endswith(("frame", "simple", "aabb", "length"))
)

logger = logging.getLogger(__name__)


class WarpPhysics:
    """Simulations on a GPU; see `Physics`."""

    def __init__(
        self, robot: Robot, n: int, *, n_substeps: int, device: str | None
    ) -> None:
        self._robot, self._device = robot, find_device(device)
        self._n, self._n_substeps = n, n_substeps
        self.touch_margin = np.zeros(robot.model.ngeom)  # as in MuJoCo
        self._model = reduce_model(robot.model)
        self._buffers = Buffers.of(self._model)
        self._diverged = np.zeros(n, bool)
        self._own: dict[str, Array] = {}  # values of fields that differ between robots
        self._stale: set[str] = set()  # those that the device does not have yet
        self._strength: Array = np.ones(n)
        self._is_recorded = True
        with wp.ScopedDevice(self._device):
            self._warp_model = put_model(robot, self._model)
            self._make_worlds()
        model = self._model
        self.fields = Fields(
            qpos=np.zeros((n, model.nq)),
            qvel=np.zeros((n, model.nv)),
            ctrl=np.zeros((n, model.nu)),
            force=np.zeros((n, model.nu)),
            geom_xpos=np.zeros((n, model.ngeom, 3)),
            geom_xmat=np.zeros((n, model.ngeom, 9)),
        )

    def reset(
        self, rows: IntArray, qpos: Array, targets: Array, qvel: Array | None = None
    ) -> None:
        """Put robots into states, (m, nq), with joint targets, (m, nu).

        They are at rest, unless velocities are given, (m, nv).
        """
        now, warm_start = self.fields, self._worlds.qacc_warmstart.numpy()
        now.qpos[rows], now.ctrl[rows] = qpos, targets
        now.qvel[rows] = 0.0 if qvel is None else qvel
        now.force[rows], warm_start[rows] = 0.0, 0.0
        self._diverged[rows] = False
        self._copy_to_device(warm_start)

    def step(self) -> BoolArray:
        """Make one control step; return which simulations have diverged, (n,)."""
        with wp.ScopedDevice(self._device):
            self._copy_models()
            self._worlds.ctrl.assign(self.fields.ctrl)
            for _ in range(MOST_DOUBLINGS + 1):
                self._advance()
                n_overflowed = self._count_overflowed()
                if not n_overflowed:
                    break
                self._grow_buffers(n_overflowed)
            else:
                raise make_overflow_error(self._robot, self._buffers)
            self._copy_state()
            self.fields.force[:] = self._worlds.actuator_force.numpy()
            self._copy_geoms()
        self._hold_diverged()
        return self._diverged.copy()

    def vary(self, row: int, model: mujoco.MjModel) -> None:
        """Give one robot a model of its own; see `Physics`."""
        for name in VARIED_FIELDS:
            self._own_values(name)[row] = getattr(model, name)
        self._own_values("gravity")[row] = model.opt.gravity
        self._stale |= {*VARIED_FIELDS, "gravity"}

    def limit_torque(self, strength: Array) -> None:
        """Scale the torque limits of each robot's model by factors, (n,)."""
        self._strength = strength.copy()
        for name in TORQUE_LIMITS:
            self._own_values(name)
        self._stale |= {*TORQUE_LIMITS}

    def _own_values(self, name: str) -> Array:
        """Return the values of a field of each robot's model, (n, ...).

        On the device, fields that all robots share become fields of each robot. A
        recorded step has their addresses, so it is recorded anew.
        """
        if name not in self._own:
            source = self._model.opt if name == "gravity" else self._model
            shared = np.array(getattr(source, name))
            self._own[name] = np.tile(shared, (self._n,) + (1,) * shared.ndim)
            holder = self._warp_model.opt if name == "gravity" else self._warp_model
            old = getattr(holder, name)
            with wp.ScopedDevice(self._device):
                new = wp.zeros((self._n, *old.shape[1:]), dtype=old.dtype)
                setattr(holder, name, new)
            self._is_recorded = False
        return self._own[name]

    def _copy_models(self) -> None:
        """Copy fields of the robots' models to the device, where they have changed."""
        for name in sorted(self._stale):
            values = self._own[name]
            if name in TORQUE_LIMITS:
                values = values * self._strength[:, None, None]
            holder = self._warp_model.opt if name == "gravity" else self._warp_model
            getattr(holder, name).assign(values.astype(np.float32))
        self._stale.clear()
        if not self._is_recorded:
            self._advance = record_graph(self._control_step, self._device)
            self._is_recorded = True

    def get_state(self) -> Array:
        """Return the full state of the physics, (n, n_state), warm start included."""
        now, warm_start = self.fields, self._worlds.qacc_warmstart.numpy()
        return np.concatenate([now.qpos, now.qvel, now.ctrl, warm_start], axis=1)

    def set_state(self, state: Array) -> None:
        """Continue from a state that `get_state` returned."""
        now, model = self.fields, self._model
        ends = np.cumsum([model.nq, model.nv, model.nu])
        now.qpos[:], now.qvel[:], now.ctrl[:], warm_start = np.split(
            state, ends, axis=1
        )
        self._diverged[:] = False
        self._copy_to_device(warm_start)

    def get_data(self, row: int, data: mujoco.MjData | None) -> mujoco.MjData:
        """Return MuJoCo's data of one robot, for display; `data` is reused if given."""
        data = data or mujoco.MjData(self._model)
        data.qpos[:], data.qvel[:] = self.fields.qpos[row], self.fields.qvel[row]
        data.ctrl[:] = self.fields.ctrl[row]
        mujoco.mj_forward(self._model, data)
        return data

    def _make_worlds(self) -> None:
        """Make worlds with buffers for contacts, and record a control step."""
        self._worlds = mjw.make_data(
            self._model,
            nworld=self._n,
            nconmax=self._buffers.n_contacts,
            njmax=self._buffers.n_rows,
        )
        data = self._worlds
        self._state = (data.qpos, data.qvel, data.qacc_warmstart)
        self._before = tuple(wp.clone(array) for array in self._state)
        mjw.step(self._warp_model, data)  # loads kernels: not allowed while recording
        mjw.kinematics(self._warp_model, data)
        self._advance = record_graph(self._control_step, self._device)

    def _control_step(self) -> None:
        for array, before in zip(self._state, self._before, strict=True):
            wp.copy(before, array)
        self._worlds.overflow.zero_()
        for _ in range(self._n_substeps):
            mjw.step(self._warp_model, self._worlds)
        mjw.kinematics(self._warp_model, self._worlds)

    def _count_overflowed(self) -> int:
        """Return how many simulations need larger buffers; diverged ones never do."""
        overflowed = np.flatnonzero(self._worlds.overflow.numpy() & BUFFERS)
        if not len(overflowed):
            return 0
        qpos, qvel = (array.numpy()[overflowed] for array in self._state[:2])
        return int(np.count_nonzero(~_find_diverged(qpos, qvel)))

    def _grow_buffers(self, n_overflowed: int) -> None:
        """Go back to the state before the step, in worlds with larger buffers."""
        self._buffers = self._buffers.double()
        logger.warning(
            "%d simulations had more contacts than the buffers can hold. The step is "
            "repeated with %s.",
            n_overflowed,
            self._buffers,
        )
        before = [array.numpy() for array in self._before]
        self._make_worlds()
        for array, values in zip(self._state, before, strict=True):
            array.assign(values)
        self._worlds.ctrl.assign(self.fields.ctrl)

    def _copy_to_device(self, warm_start: Array) -> None:
        """Copy states to the device, and compute the positions of geoms there."""
        with wp.ScopedDevice(self._device):
            for array, values in zip(
                self._state,
                (self.fields.qpos, self.fields.qvel, warm_start),
                strict=True,
            ):
                array.assign(values.astype(np.float32))
            mjw.kinematics(self._warp_model, self._worlds)
            self._copy_geoms()

    def _copy_state(self) -> None:
        self.fields.qpos[:], self.fields.qvel[:] = (
            array.numpy() for array in self._state[:2]
        )

    def _copy_geoms(self) -> None:
        self.fields.geom_xpos[:] = self._worlds.geom_xpos.numpy()
        self.fields.geom_xmat[:] = self._worlds.geom_xmat.numpy().reshape(
            self._n, -1, 9
        )

    def _hold_diverged(self) -> None:
        """Put diverged simulations back to the state before the step, at rest.

        They stay marked as diverged until reset. In a diverged world, the solver would
        iterate to its limit and delay all worlds.
        """
        diverged = _find_diverged(self.fields.qpos, self.fields.qvel)
        if diverged.any():
            rows = np.flatnonzero(diverged)
            held = self._before[0].numpy()[rows].astype(np.float64)
            self.reset(rows, held, self.fields.ctrl[rows])
            self._diverged[rows] = True


def _find_diverged(qpos: Array, qvel: Array) -> BoolArray:
    """Return which states are too large to be real, or not finite, (n,)."""
    size = np.abs(np.concatenate([qpos, qvel], axis=1)).max(axis=1)
    return np.asarray(~(size < LARGEST))  # true for NaN, too
