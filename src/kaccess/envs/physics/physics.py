"""The interface of physics engines to environments: n simulations, stepped together."""

from typing import NamedTuple, Protocol

import mujoco

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import EngineConfig, EngineName
from kaccess.robots import Robot

__all__ = ["Fields", "Physics", "make_physics"]


class Fields(NamedTuple):
    """MuJoCo's fields of n simulations, updated in place by every step and reset.

    Attributes:
        qpos: (n, nq) states.
        qvel: (n, nv) velocities.
        ctrl: (n, nu) joint targets, to be set before a step.
        force: (n, nu) actuator forces in the last physics step.
        geom_xpos: (n, ngeom, 3) centres of the geoms [m].
        geom_xmat: (n, ngeom, 9) rotation matrices of the geoms, row by row.
    """

    qpos: Array
    qvel: Array
    ctrl: Array
    force: Array
    geom_xpos: Array
    geom_xmat: Array


class Physics(Protocol):
    """n simulations of a robot whose joints follow targets by position control.

    Attributes:
        fields: MuJoCo's fields of the simulations.
        touch_margin: (ngeom,) distance from the floor below which a geom touches it, in
            addition to its margin in the model [m].
    """

    fields: Fields
    touch_margin: Array

    def reset(
        self, rows: IntArray, qpos: Array, targets: Array, qvel: Array | None = None
    ) -> None:
        """Put robots into states, (m, nq), with joint targets, (m, nu).

        They are at rest, unless velocities are given, (m, nv).
        """

    def step(self) -> BoolArray:
        """Make one control step; return which simulations have diverged, (n,)."""

    def vary(self, row: int, model: mujoco.MjModel) -> None:
        """Give one robot a model of its own, until it is given another.

        The model may differ in gravity and in `CHANGED_FIELDS`. A reset must follow.
        """

    def limit_torque(self, strength: Array) -> None:
        """Scale the torque limits of each robot's model by factors, (n,)."""

    def get_state(self) -> Array:
        """Return the full state of the physics, (n, n_state)."""

    def set_state(self, state: Array) -> None:
        """Continue from a state that `get_state` returned."""

    def get_data(self, row: int, data: mujoco.MjData | None) -> mujoco.MjData:
        """Return MuJoCo's data of one robot, for display; `data` is reused if given."""


def make_physics(
    engine: EngineName | EngineConfig, robot: Robot, n: int, *, n_substeps: int
) -> Physics:
    """Return n simulations of a robot.

    Args:
        engine: Name of the engine, or its settings.
        robot: Robot to simulate.
        n: Number of simulations.
        n_substeps: Physics steps per control step.
    """
    config = EngineConfig.of(engine)
    if config.engine == "warp":
        from kaccess.envs.physics.warp import WarpPhysics

        return WarpPhysics(robot, n, n_substeps=n_substeps, device=config.device)
    if config.engine == "bullet":
        from kaccess.envs.physics.bullet import BulletPhysics

        return BulletPhysics(
            robot, n, n_substeps=n_substeps, n_iterations=config.solver_iterations
        )
    from kaccess.envs.physics.mujoco import MujocoPhysics

    return MujocoPhysics(robot, n, n_substeps=n_substeps, n_threads=config.threads)
