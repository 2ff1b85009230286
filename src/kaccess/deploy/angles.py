"""Bittle's joints and attitude in OpenCat's angles, and back.

A joint angle of our model in radians is OpenCat's in degrees, without offsets or signs
(`robots/bittle/bittle.xml`); only the order differs. OpenCat's pitch is positive with
the nose down, its roll with the left side down (PetoiCamp/docs,
en/desktop-app/skill-composer/README.md). That is the attitude of a sensor whose x axis
points backwards: `atan2` of gravity's components in MPU6050_6Axis_MotionApps_V6_12.h,
where the pitch is folded beyond 90 degrees if the robot lies on its back.
"""

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.deploy.protocol import FARTHEST, LEGS, Attitude
from kaccess.robots import ROBOTS, Robot, load_robot

__all__ = ["Angles", "find_attitude", "find_gravity"]

MEASURED = "bittle-real"  # the robot of the registry with measured joint limits


class Angles:
    """Joint angles of Bittle: in radians and in our order, or as OpenCat has them.

    Args:
        robot: Bittle, with the joints that are converted.

    Attributes:
        order: (8,) places of the joints 8 to 15 in our order.
        low: (8,) lowest angles of the joints 8 to 15 that are sent [deg].
        high: (8,) highest ones.
    """

    def __init__(self, robot: Robot) -> None:
        names = ROBOTS[MEASURED].firmware_joints
        ours = [names[index] for index in LEGS]
        self.order = np.array([robot.joint_names.index(name) for name in ours])
        limits = np.rad2deg(load_robot(MEASURED).joint_range)
        real = [load_robot(MEASURED).joint_names.index(name) for name in ours]
        low, high = limits[real].T
        self.low = np.maximum(np.ceil(low - 1e-6), -FARTHEST).astype(np.int64)
        self.high = np.minimum(np.floor(high + 1e-6), FARTHEST).astype(np.int64)

    def to_degrees(self, joints: Array) -> IntArray:
        """Return whole degrees within the measured limits, (..., 8), as OpenCat's."""
        degrees = np.rint(np.rad2deg(joints[..., self.order]))
        return np.asarray(np.clip(degrees, self.low, self.high).astype(np.int64))

    def to_radians(self, degrees: Array | IntArray) -> Array:
        """Return joint positions [rad], (..., 8), in our order."""
        joints = np.empty(np.shape(degrees))
        joints[..., self.order] = np.deg2rad(degrees)
        return joints

    def limit(self, joints: Array) -> Array:
        """Return joint positions within the measured limits [rad], not rounded."""
        low, high = self.to_radians(self.low), self.to_radians(self.high)
        return np.asarray(np.clip(joints, low, high))


def find_gravity(attitude: Attitude) -> Array:
    """Return unit gravity in the body frame, (3,), from the firmware's attitude."""
    pitch, roll = np.deg2rad(attitude.pitch), np.deg2rad(attitude.roll)
    level = abs(np.cos(pitch))  # the pitch may be folded
    return np.array([np.sin(pitch), level * np.sin(roll), -level * np.cos(roll)])


def find_attitude(gravity: Array) -> Attitude:
    """Return the firmware's attitude from unit gravity in the body frame, (3,)."""
    x, y, z = gravity
    pitch = float(np.rad2deg(np.arctan2(x, np.hypot(y, z))))
    roll = float(np.rad2deg(np.arctan2(y, -z)))
    if z > 0:  # on its back
        pitch = (180.0 if pitch > 0 else -180.0) - pitch
    return Attitude(pitch, roll)
