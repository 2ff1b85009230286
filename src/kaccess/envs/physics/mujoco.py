"""The physics of environments on CPU threads."""

import mujoco
import numpy as np
from mujoco.batch import Batch

from kaccess.base.machine import n_cpus
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines.mujoco import make_lean_model
from kaccess.envs.changes import CHANGED_FIELDS, TORQUE_LIMITS
from kaccess.envs.physics.physics import Fields
from kaccess.robots import Robot
from kaccess.robots.hold import silence_warnings

__all__ = ["MujocoPhysics"]


class MujocoPhysics:
    """Simulations on CPU threads; see `Physics`.

    The numbers of a simulation depend neither on the other simulations nor on the
    number of threads.
    """

    def __init__(
        self, robot: Robot, n: int, *, n_substeps: int, n_threads: int
    ) -> None:
        self._n_substeps = n_substeps
        self._limits: dict[str, Array] = {}
        # Contacts are soft: what touches the floor is inside it.
        self.touch_margin = np.zeros(robot.model.ngeom)
        threads = n_threads or n_cpus()
        # Persistent: the forward pass at the end of a step is reused by the next one.
        self._batch = Batch(make_lean_model(robot), n, threads, persistent=True)
        bind = self._batch.bind
        self.fields = Fields(
            qpos=bind("qpos"),
            qvel=bind("qvel"),
            ctrl=bind("ctrl"),
            force=bind("actuator_force"),
            geom_xpos=bind("geom_xpos"),
            geom_xmat=bind("geom_xmat"),
        )

    def reset(
        self, rows: IntArray, qpos: Array, targets: Array, qvel: Array | None = None
    ) -> None:
        """Put robots into states, (m, nq), with joint targets, (m, nu).

        They are at rest, unless velocities are given, (m, nv).
        """
        self._batch.reset(rows, stage=mujoco.mjtStage.mjSTAGE_NONE)
        self.fields.qpos[rows] = qpos
        self.fields.ctrl[rows] = targets
        if qvel is not None:
            self.fields.qvel[rows] = qvel
        with silence_warnings():
            self._batch.forward(rows, stage=mujoco.mjtStage.mjSTAGE_VEL)

    def step(self) -> BoolArray:
        """Make one control step; return which simulations have diverged, (n,)."""
        with silence_warnings():
            self._batch.step(nstep=self._n_substeps, stage=mujoco.mjtStage.mjSTAGE_VEL)
        return np.asarray(self._batch.warning[:, :, 1].any(axis=1))

    def vary(self, row: int, model: mujoco.MjModel) -> None:
        """Give one robot a model of its own; see `Physics`."""
        for name in CHANGED_FIELDS:
            self._batch.expand(name)[row] = getattr(model, name)
        self._batch.expand("opt.gravity")[row] = model.opt.gravity
        for name in TORQUE_LIMITS:
            self._find_limits(name)[row] = getattr(model, name)

    def limit_torque(self, strength: Array) -> None:
        """Scale the torque limits of each robot's model by factors, (n,)."""
        for name in TORQUE_LIMITS:
            limits = self._find_limits(name)
            self._batch.expand(name)[:] = limits * strength[:, None, None]

    def _find_limits(self, name: str) -> Array:
        """Return the torque limits of each robot's model, (n, k, 2)."""
        if name not in self._limits:
            self._limits[name] = self._batch.expand(name).copy()
        return self._limits[name]

    def get_state(self) -> Array:
        """Return the full state of the physics, (n, n_state), warm start included."""
        return np.array(self._batch.state)

    def set_state(self, state: Array) -> None:
        """Continue from a state that `get_state` returned."""
        self._batch.reset(stage=mujoco.mjtStage.mjSTAGE_NONE)
        self._batch.state[:] = state
        with silence_warnings():
            self._batch.forward(stage=mujoco.mjtStage.mjSTAGE_VEL)

    def get_data(self, row: int, data: mujoco.MjData | None) -> mujoco.MjData:
        """Return MuJoCo's data of one robot, for display; `data` is reused if given."""
        return self._batch.get_data(row, data)
