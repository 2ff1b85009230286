"""The simulations behind environments: n worlds with a robot each, stepped together."""

from typing import Protocol

import mujoco

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import EngineConfig, EngineName
from kaccess.robots import Robot

__all__ = ["Physics", "make_physics"]


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
    engine: EngineName | EngineConfig, robot: Robot, n: int, *, n_substeps: int
) -> Physics:
    """Return n simulations of a robot.

    Args:
        engine: Name of the engine, `mujoco` or `warp`, or its settings.
        robot: Robot to simulate.
        n: Number of simulations.
        n_substeps: Physics steps per control step.
    """
    config = EngineConfig.of(engine)
    if config.engine == "bullet":
        raise InputError(
            "Environments run on the engines 'mujoco' and 'warp', not on 'bullet'."
        )
    if config.engine == "warp":
        from kaccess.envs.physics.warp import WarpPhysics

        return WarpPhysics(robot, n, n_substeps=n_substeps, device=config.device)
    from kaccess.envs.physics.mujoco import MujocoPhysics

    return MujocoPhysics(robot, n, n_substeps=n_substeps, n_threads=config.threads)
