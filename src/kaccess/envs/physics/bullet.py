"""The physics of environments in PyBullet, the paper's simulator.

Each control step is a loop in Python: compute the torques of all robots, step, read the
joints. PyBullet does not release Python's global lock, so each core needs a process.
"""

from dataclasses import replace

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines.bullet import ORDINARY
from kaccess.engines.bullet.contact import find_touch_margins
from kaccess.engines.bullet.engine import has_diverged
from kaccess.engines.bullet.model import describe_robot
from kaccess.engines.bullet.world import Crowd
from kaccess.envs.physics.physics import Fields
from kaccess.robots import Robot

__all__ = ["BulletPhysics"]


class BulletPhysics:
    """Simulations in PyBullet; see `Physics`.

    Args:
        robot: Robot to simulate.
        n: Number of simulations.
        n_substeps: Physics steps per control step.
        n_iterations: Iterations of the solver in each step; by default PyBullet's own.
    """

    def __init__(
        self, robot: Robot, n: int, *, n_substeps: int, n_iterations: int | None = None
    ) -> None:
        self._model, self._n_substeps = robot.model, n_substeps
        self._full = self._bullet_model = describe_robot(robot.model, robot.name)
        self._crowd = Crowd(self._bullet_model, np.arange(n), n_iterations or ORDINARY)
        self._data = mujoco.MjData(robot.model)
        self.touch_margin = find_touch_margins(robot.model)
        self._diverged = np.zeros(n, bool)
        model = robot.model
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
        now = self.fields
        now.qpos[rows], now.ctrl[rows] = qpos, targets
        now.qvel[rows], now.force[rows] = 0.0, 0.0
        self._diverged[rows] = False
        self._crowd.reset(rows, qpos)
        if qvel is not None:
            self._crowd.set_velocities(rows, qpos, qvel)
            now.qvel[rows] = qvel
        self._find_geoms(rows)

    def step(self) -> BoolArray:
        """Make one control step; return which simulations have diverged, (n,)."""
        now, model, before = self.fields, self._bullet_model, self.fields.qpos.copy()
        for _ in range(self._n_substeps):
            joints, speeds = self._crowd.read_joints()
            self._crowd.step(model.compute_force(now.ctrl, joints, speeds))
        now.force[:] = model.actuators.compute_each(now.ctrl, joints, speeds)
        now.qpos[:], now.qvel[:] = self._crowd.read_states()
        self._hold_diverged(before)
        self._find_geoms(np.arange(len(before)))
        return self._diverged.copy()

    def vary(self, row: int, model: mujoco.MjModel) -> None:
        """Refuse: the robots of a PyBullet world share one model."""
        raise InputError(
            "PyBullet cannot draw conditions for each robot (`randomize`). Choose the "
            "engine mujoco or warp; conditions that are the same for all, such as "
            "friction=0.3, work in every engine."
        )

    def limit_torque(self, strength: Array) -> None:
        """Scale the torque limits of each robot's model by factors, (n,)."""
        full, share = self._full.actuators, strength[:, None]
        scaled = replace(
            full,
            force_range=full.force_range[:, None] * share,
            joint_force_range=full.joint_force_range[:, None] * share,
        )
        self._bullet_model = replace(self._full, actuators=scaled)

    def get_state(self) -> Array:
        """Return states, velocities and targets, (n, n_state).

        Bullet's memory of contacts is not part of it.
        """
        now = self.fields
        return np.concatenate([now.qpos, now.qvel, now.ctrl], axis=1)

    def set_state(self, state: Array) -> None:
        """Continue from a state that `get_state` returned, with contacts found anew."""
        ends = np.cumsum([self._model.nq, self._model.nv])
        qpos, qvel, ctrl = np.split(state, ends, axis=1)
        rows = np.arange(len(state))
        self.reset(rows, qpos, ctrl)
        self._crowd.set_velocities(rows, qpos, qvel)
        self.fields.qvel[:] = qvel

    def get_data(self, row: int, data: mujoco.MjData | None) -> mujoco.MjData:
        """Return MuJoCo's data of one robot, for display; `data` is reused if given."""
        data = data or mujoco.MjData(self._model)
        data.qpos[:], data.qvel[:] = self.fields.qpos[row], self.fields.qvel[row]
        data.ctrl[:] = self.fields.ctrl[row]
        mujoco.mj_forward(self._model, data)
        return data

    def _find_geoms(self, rows: IntArray) -> None:
        """Compute where the geoms of some robots are, with MuJoCo's kinematics."""
        data, now = self._data, self.fields
        for row in rows:
            data.qpos[:] = now.qpos[row]
            mujoco.mj_kinematics(self._model, data)
            now.geom_xpos[row], now.geom_xmat[row] = data.geom_xpos, data.geom_xmat

    def _hold_diverged(self, before: Array) -> None:
        """Put diverged simulations back to the state before the step, at rest.

        They stay marked as diverged until reset.
        """
        now = self.fields
        states = zip(now.qpos, now.qvel, strict=True)
        diverged = np.array([has_diverged(qpos, qvel) for qpos, qvel in states])
        if diverged.any():
            rows = np.flatnonzero(diverged)
            self.reset(rows, before[rows], now.ctrl[rows])
            self._diverged[rows] = True
