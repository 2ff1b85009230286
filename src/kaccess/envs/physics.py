"""The simulations behind environments: n worlds with a robot each, stepped together."""

from typing import Protocol

import mujoco
import numpy as np
from mujoco.batch import Batch

from kaccess.config import EngineName
from kaccess.engines.cpus import n_cpus
from kaccess.engines.mujoco import lean_model, silent_warnings
from kaccess.errors import InputError
from kaccess.robots import Robot
from kaccess.types import Array, BoolArray, IntArray

__all__ = ["MujocoPhysics", "Physics", "make_physics"]


class Physics(Protocol):
    """n simulations of a robot, each held by its position actuators.

    Attributes:
        qpos: (n, nq) states, as of now; so are all of these.
        qvel: (n, nv) velocities.
        ctrl: (n, nu) joint targets, to be written to before a step.
        force: (n, nu) what the actuators gave in the last physics step.
        geom_xpos: (n, ngeom, 3) where the geoms are.
        geom_xmat: (n, ngeom, 9) how they are turned.
    """

    qpos: Array
    qvel: Array
    ctrl: Array
    force: Array
    geom_xpos: Array
    geom_xmat: Array

    def reset(self, rows: IntArray, qpos: Array, targets: Array) -> None:
        """Put robots at rest into states, (m, nq), to hold targets, (m, nu)."""

    def step(self) -> BoolArray:
        """Make the physics steps of a control step; return who broke down, (n,)."""

    def get_state(self) -> Array:
        """Return all that the future depends on, (n, n_state)."""

    def set_state(self, state: Array) -> None:
        """Go on from what `get_state` returned."""

    def data(self, row: int, data: mujoco.MjData | None) -> mujoco.MjData:
        """Return one robot's data, to look at."""


def make_physics(
    engine: EngineName,
    robot: Robot,
    n: int,
    *,
    n_substeps: int,
    n_threads: int,
    device: str | None,
) -> Physics:
    """Return n simulations of a robot.

    Args:
        engine: `mujoco` (CPU threads) or `warp` (an NVIDIA GPU).
        robot: The robot.
        n: How many.
        n_substeps: Physics steps in a control step.
        n_threads: CPU threads; 0 takes them all.
        device: Where `warp` computes: `cuda:1`, `cpu`; by default the first GPU.
    """
    if device is not None and engine != "warp":
        raise InputError(f"`device` is for the engine 'warp', not for {engine!r}.")
    if engine == "warp":
        from kaccess.envs.warp_physics import WarpPhysics

        return WarpPhysics(robot, n, n_substeps=n_substeps, device=device)
    if engine != "mujoco":
        raise InputError(
            f"Environments run on the engines 'mujoco' and 'warp', not on {engine!r}."
        )
    return MujocoPhysics(robot, n, n_substeps=n_substeps, n_threads=n_threads)


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
        self._batch = Batch(lean_model(robot), n, threads, persistent=True)
        bind = self._batch.bind
        self.qpos, self.qvel, self.ctrl = bind("qpos"), bind("qvel"), bind("ctrl")
        self.force = bind("actuator_force")
        self.geom_xpos, self.geom_xmat = bind("geom_xpos"), bind("geom_xmat")

    def reset(self, rows: IntArray, qpos: Array, targets: Array) -> None:
        """Put robots at rest into states, (m, nq), to hold targets, (m, nu)."""
        self._batch.reset(rows, stage=mujoco.mjtStage.mjSTAGE_NONE)
        self.qpos[rows] = qpos
        self.ctrl[rows] = targets
        with silent_warnings():
            self._batch.forward(rows, stage=mujoco.mjtStage.mjSTAGE_VEL)

    def step(self) -> BoolArray:
        """Make the physics steps of a control step; return who broke down, (n,)."""
        with silent_warnings():
            self._batch.step(nstep=self._n_substeps, stage=mujoco.mjtStage.mjSTAGE_VEL)
        return np.asarray(self._batch.warning[:, :, 1].any(axis=1))

    def get_state(self) -> Array:
        """Return all that the future depends on, (n, n_state), warm start included."""
        return np.array(self._batch.state)

    def set_state(self, state: Array) -> None:
        """Go on from what `get_state` returned."""
        self._batch.reset(stage=mujoco.mjtStage.mjSTAGE_NONE)
        self._batch.state[:] = state
        with silent_warnings():
            self._batch.forward(stage=mujoco.mjtStage.mjSTAGE_VEL)

    def data(self, row: int, data: mujoco.MjData | None) -> mujoco.MjData:
        """Return one robot's data, to look at."""
        return self._batch.get_data(row, data)
