"""The robots of environments: n of them, moved and read together.

A control step commands joint targets, lets the position actuators follow them for a
whole number of physics steps, and reads how the robots are at the end of it.
"""

import mujoco
import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import EngineConfig, EngineName
from kaccess.engines.mujoco import MujocoEngine
from kaccess.envs.ground import Shapes, find_shapes
from kaccess.envs.physics.physics import make_physics
from kaccess.envs.readings import Joints, blank_readings, read
from kaccess.envs.task import CONTROL_RATE
from kaccess.robots import Robot

__all__ = ["RobotsBatch"]

_STANDING_TIME = 3.0  # [s], by which the standing pose must have settled
_DEEPEST = 0.01  # [m], below the floor: deeper is a mistake, not a soft contact


class RobotsBatch:
    """n robots of one kind.

    Args:
        robot: The robot.
        n: How many of them.
        control_rate: Commands per second; must divide the rate of the physics [Hz].
        low_pass: Share of the old target in the new one, for each command [-].
        engine: Name of the engine, `mujoco` or `warp`, or its settings.

    Attributes:
        readings: How the robots are, as of their last step or reset.
        n_substeps: Physics steps in a control step.
    """

    def __init__(
        self,
        robot: Robot,
        n: int,
        *,
        control_rate: float = CONTROL_RATE,
        low_pass: float = 0.0,
        engine: EngineName | EngineConfig = "mujoco",
    ) -> None:
        if n < 1:
            raise InputError(f"`num_envs` must be at least 1, got {n}.")
        self.robot = robot
        self.n_substeps = _n_substeps(robot, control_rate)
        self._low_pass = float(low_pass)
        self._shapes = find_shapes(robot)
        low, high = robot.joint_range.T
        self._middle, self._half = (low + high) / 2, (high - low) / 2
        self._joints = Joints(
            robot.joint_adr.astype(np.int64),
            robot.model.jnt_dofadr[robot.model.actuator_trnid[:, 0]].astype(np.int64),
        )
        self._physics = make_physics(engine, robot, n, n_substeps=self.n_substeps)
        self._everyone = np.arange(n)
        self.readings = blank_readings(
            n,
            robot.model.nu,
            self._shapes.n_feet,
            standing_height=_standing_height(robot, self._shapes),
            standing_joints=robot.get_joints(robot.standing[None])[0],
            time_step=self.n_substeps * robot.timestep,
        )

    def __len__(self) -> int:
        return len(self._everyone)

    @property
    def qpos(self) -> Array:
        """(n, nq) states of the robots, a copy."""
        return np.array(self._physics.qpos)

    def reset(self, qpos: Array, rows: IntArray | None = None) -> None:
        """Put robots at rest into given states, each holding the joints it has.

        Args:
            qpos: (m, nq) states.
            rows: (m,) the robots, in ascending order; by default all.

        Raises:
            InputError: If a state is none of this robot, or under the floor.
        """
        rows = self._everyone if rows is None else rows
        self._check_states(qpos, len(rows))
        self._physics.reset(rows, qpos, self.robot.get_joints(qpos))
        self._read(rows, self._physics.qpos[:, 3:7])
        self._check_above_floor(rows)

    def step(self, actions: Array) -> BoolArray:
        """Let all robots act for one control step.

        Args:
            actions: (n, nu) targets in [-1, 1], over the range of each joint.

        Returns:
            (n,) whether the simulation of a robot broke down; it is to be reset.
        """
        actions = np.asarray(actions, np.float64)
        self._check_shape(actions)
        physics = self._physics
        before = physics.qpos[:, 3:7].copy()
        if not _aim(physics.ctrl, actions, self._middle, self._half, self._low_pass):
            raise InputError("`actions` must be finite, got NaN or infinity.")
        diverged = physics.step()
        self._read(self._everyone, before)
        return diverged

    def get_state(self) -> Array:
        """Return all that the future depends on, (n, n_state), warm start included."""
        return self._physics.get_state()

    def set_state(self, state: Array) -> None:
        """Go on from what `get_state` returned."""
        expected = self._physics.get_state().shape
        if state.shape != expected:
            raise InputError(
                f"`physics` must have shape {expected} for {len(self)} robots "
                f"{self.robot.name!r}, got {state.shape}."
            )
        self._physics.set_state(state)
        self._read(self._everyone, self._physics.qpos[:, 3:7])

    def data(self, row: int, data: mujoco.MjData | None = None) -> mujoco.MjData:
        """Return the data of one robot, to look at."""
        return self._physics.data(row, data)

    def _read(self, rows: IntArray, before: Array) -> None:
        physics = self._physics
        read(
            self.readings,
            rows,
            self._joints,
            self._shapes,
            before,
            physics.qpos,
            physics.qvel,
            physics.ctrl,
            physics.force,
            physics.geom_xpos,
            physics.geom_xmat,
        )

    def _check_states(self, qpos: Array, m: int) -> None:
        nq = self.robot.model.nq
        if qpos.shape != (m, nq):
            raise InputError(
                f"`qpos` must have shape ({m}, {nq}) for {m} robots "
                f"{self.robot.name!r}, got {qpos.shape}."
            )
        if not np.isfinite(qpos).all():
            raise InputError("`qpos` must be finite, got NaN or infinity.")
        norm = np.linalg.norm(qpos[:, 3:7], axis=1)
        if (np.abs(norm - 1) > 0.01).any():
            raise InputError(
                "`qpos[3:7]` must be the unit quaternion w-x-y-z of the base, got one "
                f"of length {norm[np.abs(norm - 1).argmax()]:.3g}."
            )

    def _check_above_floor(self, rows: IntArray) -> None:
        lowest = self.readings.distance[rows].min(initial=np.inf)
        if lowest < -_DEEPEST:
            raise InputError(
                f"`qpos` would put the robot {-1000 * lowest:.0f} mm into the floor. "
                f"Raise its base, qpos[2], by as much."
            )

    def _check_shape(self, actions: Array) -> None:
        expected = (len(self), self.robot.model.nu)
        if actions.shape != expected:
            raise InputError(
                f"`actions` must have shape {expected}, one target for each joint of "
                f"each robot, got {actions.shape}."
            )


@compiled
def _aim(
    ctrl: Array, actions: Array, middle: Array, half: Array, low_pass: float
) -> bool:
    """Command targets: -1 and 1 are the ends of a joint's range, smoothed.

    Returns:
        Whether all actions are finite; else nothing is commanded.
    """
    for i in range(len(ctrl)):
        for j in range(len(middle)):
            if not np.isfinite(actions[i, j]):
                return False
    for i in range(len(ctrl)):
        for j in range(len(middle)):
            action = min(max(actions[i, j], -1.0), 1.0)
            new = middle[j] + half[j] * action
            ctrl[i, j] = low_pass * ctrl[i, j] + (1.0 - low_pass) * new
    return True


def _n_substeps(robot: Robot, control_rate: float) -> int:
    ratio = 1.0 / (control_rate * robot.timestep)
    if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-6 * ratio:
        raise InputError(
            f"`control_rate` must divide the rate of the physics, got {control_rate:g} "
            f"Hz and {1 / robot.timestep:g} Hz ({robot.name}, timestep "
            f"{robot.timestep:g} s)."
        )
    return round(ratio)


def _standing_height(robot: Robot, shapes: Shapes) -> float:
    """Return the height above the floor at which the standing pose settles [m]."""
    stand = robot.standing[None]
    engine = MujocoEngine(robot, n_threads=1, n_slots=1)
    settled = engine.settle(stand, robot.get_joints(stand), time_limit=_STANDING_TIME)
    if not np.isfinite(settled.time[0]):
        raise InputError(
            f"{robot.name} does not come to rest in its standing pose within "
            f"{_STANDING_TIME:g} s, so there is no height to stand up to. Give it a "
            "keyframe `stand` in which it stands still."
        )
    return float(shapes.up @ (settled.qpos[0, :3] - shapes.floor))
