"""Orientation of a robot's base: quaternions w-x-y-z, roll and pitch, gravity, mirror.

Poses have no heading: roll (about x) and pitch (about y) say all about how a robot lies
on a flat floor, and so does the unit gravity vector in the body frame,
`(sin p, -cos p sin r, -cos p cos r)`.
"""

import numpy as np
from scipy.spatial.transform import Rotation

from kaccess.base.types import Array

__all__ = [
    "gravity_in_body",
    "mirror_quat",
    "quat_from_roll_pitch",
    "roll_pitch",
    "turn_quat",
]


def gravity_in_body(quat: Array) -> Array:
    """Return the unit gravity vector in the frame of a body, (n, 3), from (n, 4)."""
    rotation = Rotation.from_quat(quat, scalar_first=True)
    return np.asarray(rotation.inv().apply([0.0, 0.0, -1.0]))


def roll_pitch(gravity: Array) -> tuple[Array, Array]:
    """Return roll in (-pi, pi] and pitch in [-pi/2, pi/2], (n,) each, from (n, 3)."""
    x, y, z = gravity.T
    return np.arctan2(-y, -z), np.arcsin(np.clip(x, -1.0, 1.0))


def quat_from_roll_pitch(roll: Array, pitch: Array) -> Array:
    """Return quaternions, (n, 4), of bodies with these angles and no yaw."""
    angles = np.stack([np.zeros_like(roll), pitch, roll], axis=-1)
    return np.asarray(Rotation.from_euler("ZYX", angles).as_quat(scalar_first=True))


def mirror_quat(quat: Array) -> Array:
    """Return the orientations reflected left to right, in the plane y = 0, (n, 4)."""
    return np.asarray(quat * [1.0, -1.0, 1.0, -1.0])


def turn_quat(quat: Array, angle: Array, axis: Array) -> Array:
    """Return orientations, (n, 4), turned by angles, (n,) [rad], about one axis, (3,).

    The axis is a unit vector of the world.
    """
    turn = Rotation.from_rotvec(angle[:, None] * axis)
    turned = turn * Rotation.from_quat(quat, scalar_first=True)
    return np.asarray(turned.as_quat(scalar_first=True))
