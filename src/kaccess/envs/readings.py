"""What tasks know of robots: how n of them are at the end of a control step."""

from typing import NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.envs.ground import Shapes, clearances

__all__ = ["Joints", "Readings", "blank_readings", "read"]


class Readings(NamedTuple):
    """How n robots are, and what they are measured against.

    Args:
        height: (n,) height of the base above the floor [m].
        gravity: (n, 3) unit gravity vector in the body frame.
        angular_velocity: (n, 3) of the body, in its frame [rad/s].
        velocity: (n, 3) of the base, in the world frame [m/s].
        turn: (n, 3) rotation since the last control step, as a rotation vector in the
            body frame [rad].
        joints: (n, nu) joint positions [rad].
        joint_velocity: (n, nu) [rad/s].
        torque: (n, nu) what the actuators give, in the last physics step [N m].
        target: (n, nu) joint positions commanded, after the low-pass [rad].
        distance: (n,) shortest distance of the robot from the floor [m].
        foot_distance: (n, n_feet) of each foot [m].
        body_touches: (n,) whether the body touches the floor.
        foot_touches: (n, n_feet) whether a foot does.
        square: (n,) cosine of the angle between the body's z axis and the normal of the
            floor [-]: on a slope, a robot may stand square to it instead of upright.
        standing_height: Height of the base where the standing pose settles [m].
        standing_joints: (nu,) joint positions of the standing pose [rad].
        time_step: Time between two readings, a control step [s].
    """

    height: Array
    gravity: Array
    angular_velocity: Array
    velocity: Array
    turn: Array
    joints: Array
    joint_velocity: Array
    torque: Array
    target: Array
    distance: Array
    foot_distance: Array
    body_touches: BoolArray
    foot_touches: BoolArray
    square: Array
    standing_height: float
    standing_joints: Array
    time_step: float


def blank_readings(
    n: int,
    nu: int,
    n_feet: int,
    *,
    standing_height: float,
    standing_joints: Array,
    time_step: float,
) -> Readings:
    """Return readings of n robots to be filled in."""
    return Readings(
        height=np.zeros(n),
        gravity=np.zeros((n, 3)),
        angular_velocity=np.zeros((n, 3)),
        velocity=np.zeros((n, 3)),
        turn=np.zeros((n, 3)),
        joints=np.zeros((n, nu)),
        joint_velocity=np.zeros((n, nu)),
        torque=np.zeros((n, nu)),
        target=np.zeros((n, nu)),
        distance=np.zeros(n),
        foot_distance=np.zeros((n, n_feet)),
        body_touches=np.zeros(n, bool),
        foot_touches=np.zeros((n, n_feet), bool),
        square=np.zeros(n),
        standing_height=float(standing_height),
        standing_joints=np.array(standing_joints, np.float64),
        time_step=float(time_step),
    )


class Joints(NamedTuple):
    """Addresses of the actuated joints, (nu,) each.

    Args:
        position: In qpos.
        velocity: In qvel.
    """

    position: IntArray
    velocity: IntArray


@compiled
def read(
    now: Readings,
    rows: IntArray,
    joints: Joints,
    shapes: Shapes,
    before: Array,
    qpos: Array,
    qvel: Array,
    ctrl: Array,
    force: Array,
    geom_xpos: Array,
    geom_xmat: Array,
) -> None:
    """Fill in the readings of some robots.

    Args:
        now: The readings, of n robots.
        rows: Which robots to read.
        joints: Addresses of their joints.
        shapes: Their shapes, the floor, and gravity.
        before: (n, 4) orientation of the base at the last readings.
        qpos: (n, nq) MuJoCo's fields, as the others.
        qvel: (n, nv)
        ctrl: (n, nu)
        force: (n, nu) of the actuators.
        geom_xpos: (n, ngeom, 3)
        geom_xmat: (n, ngeom, 9)
    """
    gaps = np.empty(len(shapes.geom))
    for i in rows:
        _read_base(now, i, shapes, before[i], qpos[i], qvel[i])
        for j in range(len(joints.position)):
            now.joints[i, j] = qpos[i, joints.position[j]]
            now.joint_velocity[i, j] = qvel[i, joints.velocity[j]]
            now.torque[i, j] = force[i, j]
            now.target[i, j] = ctrl[i, j]
        clearances(shapes, geom_xpos[i], geom_xmat[i], gaps)
        _read_distances(now, i, shapes, gaps)


@compiled
def _read_base(
    now: Readings, i: int, shapes: Shapes, before: Array, qpos: Array, qvel: Array
) -> None:
    now.height[i] = 0.0
    for axis in range(3):
        now.height[i] += shapes.up[axis] * (qpos[axis] - shapes.floor[axis])
        now.velocity[i, axis] = qvel[axis]
        # MuJoCo gives the angular velocity of a free joint in the frame of its body.
        now.angular_velocity[i, axis] = qvel[3 + axis]
    _in_body(-shapes.up, qpos[3:7], now.gravity[i])
    now.square[i] = -now.gravity[i, 2]
    _in_body(shapes.down, qpos[3:7], now.gravity[i])
    _rotation_vector(before, qpos[3:7], now.turn[i])


@compiled
def _in_body(world: Array, quat: Array, out: Array) -> None:
    """Write a vector of the world in the frame of a body with orientation `quat`."""
    w, x, y, z = quat[0], quat[1], quat[2], quat[3]
    a, b, c = world[0], world[1], world[2]
    size = w * w + x * x + y * y + z * z
    out[0] = 2.0 * c * (x * z - w * y) / size
    out[1] = 2.0 * c * (y * z + w * x) / size
    out[2] = -c * (x * x + y * y - w * w - z * z) / size
    if a != 0.0 or b != 0.0:  # else the zeros above keep their signs
        out[0] += (a * (w * w + x * x - y * y - z * z) + 2 * b * (x * y + w * z)) / size
        out[1] += (b * (w * w - x * x + y * y - z * z) + 2 * a * (x * y - w * z)) / size
        out[2] += 2.0 * (a * (x * z + w * y) + b * (y * z - w * x)) / size


@compiled
def _rotation_vector(before: Array, after: Array, out: Array) -> None:
    """Write the rotation from one orientation to another, in the frame of the body."""
    w, x, y, z = after[0], after[1], after[2], after[3]
    a, b, c, d = before[0], -before[1], -before[2], -before[3]
    real = a * w - b * x - c * y - d * z
    out[0] = a * x + b * w + c * z - d * y
    out[1] = a * y - b * z + c * w + d * x
    out[2] = a * z + b * y - c * x + d * w
    sine = np.sqrt(out[0] ** 2 + out[1] ** 2 + out[2] ** 2)
    if real < 0.0:  # the same rotation, the short way round
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
        touches = gap <= shapes.reach[k]
        now.distance[i] = min(now.distance[i], gap)
        if shapes.is_body[k] and touches:
            now.body_touches[i] = True
        if foot >= 0:
            now.foot_distance[i, foot] = min(now.foot_distance[i, foot], gap)
            now.foot_touches[i, foot] |= touches
