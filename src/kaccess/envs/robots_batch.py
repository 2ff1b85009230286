"""A batch of n robots, which are simulated and read together.

A control step sets joint targets, lets the position actuators follow them for a whole
number of physics steps, and then updates the readings.
"""

import mujoco
import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import EngineConfig, EngineName, ForBittle
from kaccess.envs.changes import change_model, check_torque_limits
from kaccess.envs.draws import Draws
from kaccess.envs.ground import find_down, find_shapes
from kaccess.envs.physics.physics import make_physics
from kaccess.envs.readings import JointAddresses, make_readings, update_readings
from kaccess.envs.rest import REST_TIME_LIMIT, settle_standing
from kaccess.envs.task import CONTROL_RATE
from kaccess.envs.wire import Wire, count_segments
from kaccess.robots import Robot

__all__ = ["MAX_DEPTH", "RobotsBatch", "count_substeps", "find_standing_height"]

# Largest depth of a soft contact in the floor.
MAX_DEPTH: float = ForBittle(0.01, "m")


class RobotsBatch:
    """n simulated robots of the same model.

    Args:
        robot: Robot to simulate.
        n: Number of robots.
        control_rate: Commands per second; must divide the rate of the physics [Hz].
        low_pass: Weight of the old target in the new one, for each command [-].
        engine: Name of the engine, or its settings.
        draws: Conditions of each robot, if they differ or reach beyond the model.
        varied: Whether the model of each robot follows its draws.

    Attributes:
        wire: The way of the commands to the motors; None if it is perfect.
        readings: Readings of the robots, as of their last step or reset.
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
        draws: Draws | None = None,
        varied: bool = False,
    ) -> None:
        if n < 1:
            raise InputError(f"`num_envs` must be at least 1, got {n}.")
        self.robot = robot
        self.n_substeps = count_substeps(robot, control_rate)
        self._low_pass = float(low_pass)
        low, high = robot.joint_range.T
        self._middle, self._half = (low + high) / 2, (high - low) / 2
        self._joints = JointAddresses.of(robot)
        self._n_segments = count_segments(self.n_substeps) if draws else 1
        self._physics = make_physics(
            engine, robot, n, n_substeps=self.n_substeps // self._n_segments
        )
        self._fields = self._physics.fields
        self._draws, self._varied = draws, varied
        self.wire = self._make_wire(draws, control_rate) if draws else None
        self._sags = draws is not None and draws.largest["sag"] > 0
        if self._sags:
            check_torque_limits(robot, "sag")
        shapes = find_shapes(robot)
        margin = shapes.margin + self._physics.touch_margin[shapes.geom]
        self._shapes = shapes._replace(margin=margin)
        self._down = np.tile(shapes.down, (n, 1))
        self._all_rows = np.arange(n)
        self.readings = make_readings(
            n,
            robot.model.nu,
            self._shapes.n_feet,
            standing_height=find_standing_height(robot),
            standing_joints=robot.get_joints(robot.standing[None])[0],
            time_step=self.n_substeps * robot.timestep,
        )

    def __len__(self) -> int:
        return len(self._all_rows)

    @property
    def qpos(self) -> Array:
        """Copy of the states of the robots, (n, nq)."""
        return np.array(self._fields.qpos)

    @property
    def qvel(self) -> Array:
        """Copy of the velocities of the robots, (n, nv)."""
        return np.array(self._fields.qvel)

    def reset(
        self,
        qpos: Array,
        rows: IntArray | None = None,
        *,
        qvel: Array | None = None,
        targets: Array | None = None,
    ) -> None:
        """Put robots into states.

        Args:
            qpos: (m, nq) states.
            rows: (m,) indices of the robots, ascending; by default all.
            qvel: (m, nv) velocities; by default they are at rest.
            targets: (m, nu) joint targets; by default, and where they are NaN, their
                joint positions [rad].

        Raises:
            InputError: If a state does not fit this robot, or is inside the floor.
        """
        rows = self._all_rows if rows is None else rows
        self._check_states(qpos, len(rows))
        joints = self.robot.get_joints(qpos)
        if targets is not None:
            joints = np.where(np.isnan(targets), joints, targets)
        if self._varied:
            self._vary(rows)
        self._physics.reset(rows, qpos, joints, qvel)
        if self.wire:
            self.wire.begin(rows, joints)
            if self._sags:
                self._physics.limit_torque(self.wire.strength)
        self._read(rows, self._fields.qpos[:, 3:7])
        self._check_above_floor(rows)

    def step(self, actions: Array) -> BoolArray:
        """Make one control step of all robots.

        Args:
            actions: (n, nu) targets; -1 and 1 are the ends of each joint's range.

        Returns:
            (n,) whether each simulation has diverged; such a robot needs a reset.
        """
        actions = self.check_actions(actions)
        last_quat = self._fields.qpos[:, 3:7].copy()
        if self.wire:
            diverged = self._step_by_wire(self.wire, actions)
        else:
            _set_targets(
                self._fields.ctrl, actions, self._middle, self._half, self._low_pass
            )
            diverged = self._physics.step()
        self._read(self._all_rows, last_quat)
        return diverged

    def _step_by_wire(self, wire: Wire, actions: Array) -> BoolArray:
        """Make one control step; commands reach the motors by a wire with faults."""
        wire.send(actions)
        diverged = np.zeros(len(self), bool)
        for segment in range(self._n_segments):
            wire.arrive(segment, self._fields.ctrl)
            diverged |= self._physics.step()
        if self._sags:
            wire.feel(self._fields.force, self._get_torque_limits())
            self._physics.limit_torque(wire.strength)
        return diverged

    def _make_wire(self, draws: Draws, control_rate: float) -> Wire:
        return Wire(
            draws,
            middle=self._middle,
            half=self._half,
            low_pass=self._low_pass,
            control_rate=control_rate,
            n_segments=self._n_segments,
        )

    def _get_torque_limits(self) -> Array:
        """Return the torque limits of all robots with a full battery, (n, nu) [N m]."""
        model = self.robot.model
        own = np.where(
            model.actuator_forcelimited, model.actuator_forcerange[:, 1], np.inf
        )
        joint = model.actuator_trnid[:, 0]
        of_joint = np.where(
            model.jnt_actfrclimited[joint], model.jnt_actfrcrange[joint, 1], np.inf
        )
        limit = np.tile(np.minimum(own, of_joint), (len(self), 1))
        if self._varied and self._draws:
            limit *= self._draws.get("torque")[:, None]
        return limit

    def _vary(self, rows: IntArray) -> None:
        """Give some robots the models of their draws."""
        assert self._draws is not None
        for row in rows.tolist():
            model = self.robot.model.__copy__()
            change_model(self.robot, model, self._draws.get_model_values(row))
            self._physics.vary(row, model)
            self._down[row] = find_down(model)

    def check_actions(self, actions: Array) -> Array:
        """Return actions as an array of floats, (n, nu)."""
        actions = np.asarray(actions, np.float64)
        expected = (len(self), self.robot.model.nu)
        if actions.shape != expected:
            raise InputError(
                f"`actions` must have shape {expected}, one target for each joint of "
                f"each robot, got {actions.shape}."
            )
        if not _is_finite(actions):
            raise InputError("`actions` must be finite, got NaN or infinity.")
        return actions

    def get_state(self) -> Array:
        """Return the full state of the physics, (n, n_state), warm start included."""
        return self._physics.get_state()

    def set_state(self, state: Array) -> None:
        """Continue from a state that `get_state` returned; set draws and wire first."""
        expected = self._physics.get_state().shape
        if state.shape != expected:
            raise InputError(
                f"`physics` must have shape {expected} for {len(self)} robots "
                f"{self.robot.name!r}, got {state.shape}."
            )
        if self._varied:
            self._vary(self._all_rows)
        if self.wire and self._sags:
            self._physics.limit_torque(self.wire.strength)
        self._physics.set_state(state)
        self._read(self._all_rows, self._fields.qpos[:, 3:7])

    def get_data(self, row: int, data: mujoco.MjData | None = None) -> mujoco.MjData:
        """Return MuJoCo's data of one robot, for display; `data` is reused if given."""
        return self._physics.get_data(row, data)

    def _read(self, rows: IntArray, last_quat: Array) -> None:
        update_readings(
            self.readings,
            rows,
            self._fields,
            last_quat,
            self._joints,
            self._shapes,
            self._down,
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
        if lowest < -self.robot.scale.fit(MAX_DEPTH):
            raise InputError(
                f"`qpos` must be above the floor, got a robot {-1000 * lowest:.0f} mm "
                "inside it. Raise its base, qpos[2], by that much."
            )


@compiled
def _is_finite(actions: Array) -> bool:
    for i in range(actions.shape[0]):
        for j in range(actions.shape[1]):
            if not np.isfinite(actions[i, j]):
                return False
    return True


@compiled
def _set_targets(
    ctrl: Array, actions: Array, middle: Array, half: Array, low_pass: float
) -> None:
    """Set joint targets: actions of -1 and 1 are the ends of a joint's range."""
    for i in range(len(ctrl)):
        for j in range(len(middle)):
            action = min(max(actions[i, j], -1.0), 1.0)
            new = middle[j] + half[j] * action
            ctrl[i, j] = low_pass * ctrl[i, j] + (1.0 - low_pass) * new


def count_substeps(robot: Robot, control_rate: float) -> int:
    """Return the number of physics steps in a control step."""
    ratio = 1.0 / (control_rate * robot.timestep)
    if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-6 * ratio:
        raise InputError(
            f"`control_rate` must divide the rate of the physics, got {control_rate:g} "
            f"Hz and {1 / robot.timestep:g} Hz ({robot.name}, timestep "
            f"{robot.timestep:g} s)."
        )
    return round(ratio)


def find_standing_height(robot: Robot) -> float:
    """Return the height of the base with the standing pose at rest [m]."""
    if not robot.stance.stands:
        raise InputError(
            f"{robot.name} has no standing pose, which tasks aim at: "
            f"{robot.stance.how}. Make a study with other gains (`kp`, `kd`) or with "
            "another keyframe (`stand_key`)."
        )
    pose = settle_standing(robot)
    if pose is None:
        raise InputError(
            f"{robot.name} does not come to rest in its standing pose within "
            f"{robot.scale.fit(REST_TIME_LIMIT):g} s, so the standing height is "
            "unknown. Give it a keyframe `stand` in which it stands still."
        )
    return pose.height
