"""The standing pose at rest: its height is the target height of tasks."""

from typing import NamedTuple

import mujoco
import numpy as np

from kaccess.base.types import Array
from kaccess.config import ForBittle
from kaccess.engines.mujoco import MujocoEngine
from kaccess.envs.ground import find_shapes
from kaccess.robots import Robot

__all__ = ["REST_TIME_LIMIT", "RestPose", "settle_standing"]

REST_TIME_LIMIT: float = ForBittle(3.0, "s")  # for the standing pose to come to rest


class RestPose(NamedTuple):
    """The base of a robot at rest in its standing pose.

    Attributes:
        height: Height of the base above the floor [m].
        z_axis: (3,) z axis of the base in the world frame.
    """

    height: float
    z_axis: Array


def settle_standing(robot: Robot) -> RestPose | None:
    """Let the standing pose come to rest; return None if it does not in time."""
    start, shapes = robot.standing[None], find_shapes(robot)
    engine = MujocoEngine(robot, n_threads=1, n_slots=1)
    limit = robot.scale.fit(REST_TIME_LIMIT)
    settled = engine.settle(start, robot.standing_targets[None], time_limit=limit)
    if not np.isfinite(settled.time[0]):
        return None
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, settled.qpos[0, 3:7])
    height = shapes.up @ (settled.qpos[0, :3] - shapes.floor)
    return RestPose(float(height), rotation[2::3])
