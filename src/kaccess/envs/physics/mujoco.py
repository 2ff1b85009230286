"""The simulations behind environments on CPU threads."""

import mujoco
import numpy as np
from mujoco.batch import Batch

from kaccess.base.machine import n_cpus
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines.mujoco import make_lean_model, silence_warnings
from kaccess.robots import Robot

__all__ = ["MujocoPhysics"]


class MujocoPhysics:
    """Simulations on CPU threads.

    One's numbers depend on that one alone: not on the others, nor on the number of
    threads.
    """

    def __init__(
        self, robot: Robot, n: int, *, n_substeps: int, n_threads: int
    ) -> None:
        self._n_substeps = n_substeps
        # Persistent: the last substep's look at the new state is the next one's first.
        threads = n_threads or n_cpus()
        self._batch = Batch(make_lean_model(robot), n, threads, persistent=True)
        bind = self._batch.bind
        self.qpos, self.qvel, self.ctrl = bind("qpos"), bind("qvel"), bind("ctrl")
        self.force = bind("actuator_force")
        self.geom_xpos, self.geom_xmat = bind("geom_xpos"), bind("geom_xmat")

    def reset(self, rows: IntArray, qpos: Array, targets: Array) -> None:
        """Put robots at rest into states, (m, nq), to hold targets, (m, nu)."""
        self._batch.reset(rows, stage=mujoco.mjtStage.mjSTAGE_NONE)
        self.qpos[rows] = qpos
        self.ctrl[rows] = targets
        with silence_warnings():
            self._batch.forward(rows, stage=mujoco.mjtStage.mjSTAGE_VEL)

    def step(self) -> BoolArray:
        """Make the physics steps of a control step; return who broke down, (n,)."""
        with silence_warnings():
            self._batch.step(nstep=self._n_substeps, stage=mujoco.mjtStage.mjSTAGE_VEL)
        return np.asarray(self._batch.warning[:, :, 1].any(axis=1))

    def get_state(self) -> Array:
        """Return all that the future depends on, (n, n_state), warm start included."""
        return np.array(self._batch.state)

    def set_state(self, state: Array) -> None:
        """Go on from what `get_state` returned."""
        self._batch.reset(stage=mujoco.mjtStage.mjSTAGE_NONE)
        self._batch.state[:] = state
        with silence_warnings():
            self._batch.forward(stage=mujoco.mjtStage.mjSTAGE_VEL)

    def data(self, row: int, data: mujoco.MjData | None) -> mujoco.MjData:
        """Return one robot's data, to look at."""
        return self._batch.get_data(row, data)
