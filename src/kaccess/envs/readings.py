"""Readings: the measured state of n robots at the end of a control step.

Tasks compute observations and rewards from readings alone.
"""

from typing import NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.envs.ground import Shapes, measure_clearances
from kaccess.envs.physics.physics import Fields
from kaccess.robots import Robot

__all__ = ["JointAddresses", "Readings", "make_readings", "update_readings"]


class Readings(NamedTuple):
    """The measured state of n robots, and the standing pose to compare it with.

    Attributes:
        height: (n,) height of the base above the floor [m].
        gravity: (n, 3) unit gravity vector in the body frame.
        angular_velocity: (n, 3) angular velocity of the body, in its frame [rad/s].
        turn: (n, 3) rotation since the last control step, as a rotation vector in the
            body frame [rad].
        joints: (n, nu) joint positions [rad].
        joint_velocity: (n, nu) joint velocities [rad/s].
        torque: (n, nu) actuator torques in the last physics step [N m].
        target: (n, nu) commanded joint positions, after the low-pass filter [rad].
        distance: (n,) shortest distance of the robot from the floor [m].
        foot_distance: (n, n_feet) distance of each foot from the floor [m].
        body_touches: (n,) whether the body touches the floor.
        foot_touches: (n, n_feet) whether each foot touches the floor.
        floor_cosine: (n,) cosine of the angle between the body's z axis and the floor's
            normal [-]. On a slope it differs from the tilt that `gravity` shows.
        standing_height: Height of the base when the standing pose is at rest [m].
        standing_joints: (nu,) joint positions of the standing pose [rad].
        time_step: Time between two readings, one control step [s].
    """

    height: Array
    gravity: Array
    angular_velocity: Array
    turn: Array
    joints: Array
    joint_velocity: Array
    torque: Array
    target: Array
    distance: Array
    foot_distance: Array
    body_touches: BoolArray
    foot_touches: BoolArray
    floor_cosine: Array
    standing_height: float
    standing_joints: Array
    time_step: float


def make_readings(
    n: int,
    nu: int,
    n_feet: int,
    *,
    standing_height: float,
    standing_joints: Array,
    time_step: float,
) -> Readings:
    """Return readings of n robots, all zero, for `update_readings` to fill in."""
    return Readings(
        height=np.zeros(n),
        gravity=np.zeros((n, 3)),
        angular_velocity=np.zeros((n, 3)),
        turn=np.zeros((n, 3)),
        joints=np.zeros((n, nu)),
        joint_velocity=np.zeros((n, nu)),
        torque=np.zeros((n, nu)),
        target=np.zeros((n, nu)),
        distance=np.zeros(n),
        foot_distance=np.zeros((n, n_feet)),
        body_touches=np.zeros(n, bool),
        foot_touches=np.zeros((n, n_feet), bool),
        floor_cosine=np.zeros(n),
        standing_height=float(standing_height),
        standing_joints=np.array(standing_joints, np.float64),
        time_step=float(time_step),
    )


class JointAddresses(NamedTuple):
    """Addresses of the actuated joints, (nu,) each.

    Attributes:
        qpos: Addresses in `qpos`.
        qvel: Addresses in `qvel`.
    """

    qpos: IntArray
    qvel: IntArray

    @classmethod
    def of(cls, robot: Robot) -> "JointAddresses":
        """Return the addresses of a robot's joints."""
        joints = robot.model.actuator_trnid[:, 0]
        velocity = robot.model.jnt_dofadr[joints]
        return cls(robot.joint_adr.astype(np.int64), velocity.astype(np.int64))


@compiled
def update_readings(
    now: Readings,
    rows: IntArray,
    fields: Fields,
    last_quat: Array,
    joints: JointAddresses,
    shapes: Shapes,
    down: Array,
) -> None:
    """Update the readings of some robots.

    Args:
        now: Readings of n robots, to be written to.
        rows: Indices of the robots to update.
        fields: MuJoCo's fields of the n simulations.
        last_quat: (n, 4) orientation of the base at the last readings.
        joints: Addresses of the actuated joints.
        shapes: Shapes of the robot, and its floor.
        down: (n, 3) direction of gravity in the world of each robot.
    """
    gaps = np.empty(len(shapes.geom))
    for i in rows:
        qpos, qvel = fields.qpos[i], fields.qvel[i]
        _read_base(now, i, shapes, down[i], last_quat[i], qpos, qvel)
        for j in range(len(joints.qpos)):
            now.joints[i, j] = qpos[joints.qpos[j]]
            now.joint_velocity[i, j] = qvel[joints.qvel[j]]
            now.torque[i, j] = fields.force[i, j]
            now.target[i, j] = fields.ctrl[i, j]
        measure_clearances(shapes, fields.geom_xpos[i], fields.geom_xmat[i], gaps)
        _read_distances(now, i, shapes, gaps)


@compiled
def _read_base(
    now: Readings,
    i: int,
    shapes: Shapes,
    down: Array,
    last_quat: Array,
    qpos: Array,
    qvel: Array,
) -> None:
    now.height[i] = 0.0
    for axis in range(3):
        now.height[i] += shapes.up[axis] * (qpos[axis] - shapes.floor[axis])
        # MuJoCo gives the angular velocity of a free joint in the frame of its body.
        now.angular_velocity[i, axis] = qvel[3 + axis]
    _rotate_into_body(-shapes.up, qpos[3:7], now.gravity[i])
    now.floor_cosine[i] = -now.gravity[i, 2]
    _rotate_into_body(down, qpos[3:7], now.gravity[i])
    _find_rotation(last_quat, qpos[3:7], now.turn[i])


@compiled
def _rotate_into_body(world: Array, quat: Array, out: Array) -> None:
    """Write a world-frame vector in the frame of a body with orientation `quat`."""
    w, x, y, z = quat[0], quat[1], quat[2], quat[3]
    a, b, c = world[0], world[1], world[2]
    size = w * w + x * x + y * y + z * z
    out[0] = 2.0 * c * (x * z - w * y) / size
    out[1] = 2.0 * c * (y * z + w * x) / size
    out[2] = -c * (x * x + y * y - w * w - z * z) / size
    if a != 0.0 or b != 0.0:  # adding 0 would change the sign of a zero above
        out[0] += (a * (w * w + x * x - y * y - z * z) + 2 * b * (x * y + w * z)) / size
        out[1] += (b * (w * w - x * x + y * y - z * z) + 2 * a * (x * y - w * z)) / size
        out[2] += 2.0 * (a * (x * z + w * y) + b * (y * z - w * x)) / size


@compiled
def _find_rotation(before: Array, after: Array, out: Array) -> None:
    """Write the rotation between two orientations, as a vector in the body frame."""
    w, x, y, z = after[0], after[1], after[2], after[3]
    a, b, c, d = before[0], -before[1], -before[2], -before[3]
    real = a * w - b * x - c * y - d * z
    out[0] = a * x + b * w + c * z - d * y
    out[1] = a * y - b * z + c * w + d * x
    out[2] = a * z + b * y - c * x + d * w
    sine = np.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2)
    if real < 0.0:  # q and -q are the same rotation: take the shorter way
        real, sine = -real, -sine
    scale = 2.0 * np.arctan2(abs(sine), real) / sine if sine != 0.0 else 2.0
    for axis in range(3):
        out[axis] *= scale


@compiled
def _read_distances(now: Readings, i: int, shapes: Shapes, gaps: Array) -> None:
    now.distance[i] = np.inf
    now.foot_distance[i] = np.inf
    now.body_touches[i] = False
    now.foot_touches[i] = False
    for k in range(len(gaps)):
        gap, foot = gaps[k], shapes.foot[k]
        touches = gap <= shapes.margin[k]
        now.distance[i] = min(now.distance[i], gap)
        if shapes.is_body[k] and touches:
            now.body_touches[i] = True
        if foot >= 0:
            now.foot_distance[i, foot] = min(now.foot_distance[i, foot], gap)
            now.foot_touches[i, foot] |= touches
