"""The physics of environments: n robots, moved and read together.

All robots are one `mujoco.batch.Batch`. A control step commands joint targets, lets the
position actuators follow them for a whole number of physics steps, and reads how the
robots are at the end of it. A robot's numbers depend on that robot alone: not on the
others, nor on the number of threads.
"""

import mujoco
import numpy as np
from mujoco.batch import Batch

from kaccess.compiled import compiled
from kaccess.engines.cpus import n_cpus
from kaccess.engines.mujoco import MujocoEngine, silent_warnings
from kaccess.envs.ground import Shapes, find_shapes
from kaccess.envs.readings import Joints, blank_readings, read
from kaccess.errors import InputError
from kaccess.robots import Robot
from kaccess.types import Array, BoolArray, IntArray

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
        n_threads: CPU threads; 0 takes them all.

    Attributes:
        readings: How the robots are, as of their last step or reset.
        n_substeps: Physics steps in a control step.
    """

    def __init__(
        self,
        robot: Robot,
        n: int,
        *,
        control_rate: float = 25.0,
        low_pass: float = 0.0,
        n_threads: int = 0,
    ) -> None:
        _check_counts(n, n_threads)
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
        model = robot.model.__copy__()
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR  # none is read
        # Persistent: the last substep's look at the new state is the next one's first.
        self._batch = Batch(model, n, n_threads or n_cpus(), persistent=True)
        self._everyone = np.arange(n)
        self._qpos, self._qvel, self._ctrl, self._force, self._xpos, self._xmat = (
            self._batch.bind(field)
            for field in (
                "qpos",
                "qvel",
                "ctrl",
                "actuator_force",
                "geom_xpos",
                "geom_xmat",
            )
        )
        self.readings = blank_readings(
            n,
            robot.model.nu,
            self._shapes.n_feet,
            standing_height=_standing_height(robot, self._shapes),
            standing_joints=robot.joints(robot.standing[None])[0],
            time_step=self.n_substeps * robot.timestep,
        )

    def __len__(self) -> int:
        return len(self._everyone)

    @property
    def qpos(self) -> Array:
        """(n, nq) states of the robots, a copy."""
        return np.array(self._qpos)

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
        self._batch.reset(rows, stage=mujoco.mjtStage.mjSTAGE_NONE)
        self._qpos[rows] = qpos
        self._ctrl[rows] = self.robot.joints(qpos)
        with silent_warnings():
            self._batch.forward(rows, stage=mujoco.mjtStage.mjSTAGE_VEL)
        self._read(rows, self._qpos[:, 3:7])
        self._check_above_floor(rows)

    def step(self, actions: Array, rows: IntArray | None = None) -> BoolArray:
        """Let robots act for one control step.

        Args:
            actions: (m, nu) targets in [-1, 1], over the range of each joint.
            rows: (m,) the robots that act, in ascending order; by default all. Time
                stands still for the others.

        Returns:
            (m,) whether the simulation of a robot broke down; it is to be reset.
        """
        rows = self._everyone if rows is None else rows
        actions = np.asarray(actions, np.float64)
        self._check_shape(actions, len(rows))
        before = self._qpos[:, 3:7].copy()
        if not _aim(
            self._ctrl, rows, actions, self._middle, self._half, self._low_pass
        ):
            raise InputError("`actions` must be finite, got NaN or infinity.")
        with silent_warnings():
            self._batch.step(
                None if rows is self._everyone else rows,
                nstep=self.n_substeps,
                stage=mujoco.mjtStage.mjSTAGE_VEL,
            )
        self._read(rows, before)
        diverged = np.zeros(len(rows), bool)
        _find_warned(self._batch.warning, rows, diverged)
        return diverged

    def get_state(self) -> Array:
        """Return all that the future depends on, (n, n_state), warm start included."""
        return np.array(self._batch.state)

    def set_state(self, state: Array) -> None:
        """Go on from what `get_state` returned."""
        if state.shape != self._batch.state.shape:
            raise InputError(
                f"`physics` must have shape {self._batch.state.shape} for {len(self)} "
                f"robots {self.robot.name!r}, got {state.shape}."
            )
        self._batch.reset(stage=mujoco.mjtStage.mjSTAGE_NONE)
        self._batch.state[:] = state
        with silent_warnings():
            self._batch.forward(stage=mujoco.mjtStage.mjSTAGE_VEL)
        self._read(self._everyone, self._qpos[:, 3:7])

    def data(self, row: int, data: mujoco.MjData | None = None) -> mujoco.MjData:
        """Return the data of one robot, to look at."""
        return self._batch.get_data(row, data)

    def _read(self, rows: IntArray, before: Array) -> None:
        read(
            self.readings,
            rows,
            self._joints,
            self._shapes,
            before,
            self._qpos,
            self._qvel,
            self._ctrl,
            self._force,
            self._xpos,
            self._xmat,
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

    def _check_shape(self, actions: Array, m: int) -> None:
        if actions.shape != (m, self.robot.model.nu):
            raise InputError(
                f"`actions` must have shape ({m}, {self.robot.model.nu}), one target "
                f"for each joint of each robot, got {actions.shape}."
            )


@compiled
def _aim(
    ctrl: Array,
    rows: IntArray,
    actions: Array,
    middle: Array,
    half: Array,
    low_pass: float,
) -> bool:
    """Command targets: -1 and 1 are the ends of a joint's range, smoothed.

    Returns:
        Whether all actions are finite; else nothing is commanded.
    """
    for k in range(len(rows)):
        for j in range(len(middle)):
            if not np.isfinite(actions[k, j]):
                return False
    for k in range(len(rows)):
        for j in range(len(middle)):
            action = min(max(actions[k, j], -1.0), 1.0)
            new = middle[j] + half[j] * action
            ctrl[rows[k], j] = low_pass * ctrl[rows[k], j] + (1.0 - low_pass) * new
    return True


@compiled
def _find_warned(warning: IntArray, rows: IntArray, out: BoolArray) -> None:
    """Write for which robots MuJoCo has counted warnings since their reset."""
    for k in range(len(rows)):
        for kind in range(warning.shape[1]):
            out[k] |= warning[rows[k], kind, 1] > 0


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
    settled = engine.settle(stand, robot.joints(stand), time_limit=_STANDING_TIME)
    if not np.isfinite(settled.time[0]):
        raise InputError(
            f"{robot.name} does not come to rest in its standing pose within "
            f"{_STANDING_TIME:g} s, so there is no height to stand up to. Give it a "
            "keyframe `stand` in which it stands still."
        )
    return float(shapes.up @ (settled.qpos[0, :3] - shapes.floor))


def _check_counts(n: int, n_threads: int) -> None:
    if n < 1:
        raise InputError(f"`num_envs` must be at least 1, got {n}.")
    if n_threads < 0:
        raise InputError(f"`n_threads` must not be negative, got {n_threads}.")
