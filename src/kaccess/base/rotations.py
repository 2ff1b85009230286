"""Orientation of a robot's base: quaternions w-x-y-z, roll and pitch, gravity, mirror.

Poses have no heading. Roll r (about x) and pitch p (about y) fully describe how a robot
lies on a flat floor. So does the unit gravity vector in the body frame,
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
    """Return unit gravity in the body frame, (n, 3), from quaternions, (n, 4)."""
    rotation = Rotation.from_quat(quat, scalar_first=True)
    return np.asarray(rotation.inv().apply([0.0, 0.0, -1.0]))


def roll_pitch(gravity: Array) -> tuple[Array, Array]:
    """Return roll and pitch [rad], (n,) each, from gravity in the body frame, (n, 3).

    Roll is in (-pi, pi], pitch in [-pi/2, pi/2].
    """
    x, y, z = gravity.T
    return np.arctan2(-y, -z), np.arcsin(np.clip(x, -1.0, 1.0))


def quat_from_roll_pitch(roll: Array, pitch: Array) -> Array:
    """Return quaternions, (n, 4), from roll and pitch, (n,) [rad] each, without yaw."""
    angles = np.stack([np.zeros_like(roll), pitch, roll], axis=-1)
    return np.asarray(Rotation.from_euler("ZYX", angles).as_quat(scalar_first=True))


def mirror_quat(quat: Array) -> Array:
    """Return quaternions, (n, 4), mirrored left to right, in the plane y = 0."""
    return np.asarray(quat * [1.0, -1.0, 1.0, -1.0])


def turn_quat(quat: Array, angle: Array, axis: Array) -> Array:
    """Return quaternions, (n, 4), turned about one axis.

    Args:
        quat: (n, 4) quaternions.
        angle: (n,) angles of the turns [rad].
        axis: (3,) unit vector in the world frame.
    """
    turn = Rotation.from_rotvec(angle[:, None] * axis)
    turned = turn * Rotation.from_quat(quat, scalar_first=True)
    return np.asarray(turned.as_quat(scalar_first=True))
