"""States of the model in which it lies as an IMU says."""

import numpy as np

from kaccess.base.rotations import quat_from_roll_pitch, roll_pitch
from kaccess.base.types import Array
from kaccess.config import EngineConfig
from kaccess.envs.robots_batch import RobotsBatch
from kaccess.robots import Robot

__all__ = ["place"]

_HIGH = 0.4  # [m], above the floor in any attitude


def place(robot: Robot, gravity: Array, joints: Array) -> Array:
    """Return states, (n, nq), that just touch the floor.

    Args:
        robot: The robot.
        gravity: (n, 3) gravity in the body frame.
        joints: (n, nu) joint positions [rad].
    """
    qpos = np.zeros((len(gravity), robot.model.nq))
    qpos[:, 2] = _HIGH
    qpos[:, 3:7] = quat_from_roll_pitch(*roll_pitch(gravity))
    qpos[:, robot.joint_adr] = joints
    batch = RobotsBatch(robot, len(qpos), engine=EngineConfig(threads=1))
    batch.reset(qpos)
    qpos[:, 2] -= batch.readings.distance
    return qpos
