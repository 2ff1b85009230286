"""What policies observe: named parts, of the last step or of several.

An observation is a row of frames, the newest first; each frame has the same parts. So
every observation begins with gravity, angular velocity and joints, or what stands for
them: `imu` has the robot's own commands in place of joint positions, because Bittle's
stock servos do not report any.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kaccess.base.types import Array
from kaccess.config import ObserveName
from kaccess.envs.task import Task
from kaccess.robots import Robot

__all__ = ["OBSERVATIONS", "Observation", "describe_observation"]

_UNITS = {"gravity": "1", "angular_velocity": "rad/s", "joints": "rad"}
_UNITS |= {"commands": "rad", "delayed_actions": "1"}


@dataclass(frozen=True)
class Observation:
    """Parts of an observation.

    Args:
        parts: Names of the parts of a frame, in their order.
        n_frames: Number of frames: of this control step, the one before, and so on.
    """

    parts: tuple[str, ...]
    n_frames: int = 1

    def get_range(self, task: Task, robot: Robot) -> Array:
        """Return limits of the observations, (d, 2); values beyond are clipped."""
        if self == OBSERVATIONS["joints"]:
            return task.get_observation_range(robot)
        limits = task.get_observation_range(robot)
        nu = robot.model.nu
        ranges = {
            "gravity": limits[:3],
            "angular_velocity": limits[3:6],
            "joints": limits[6 : 6 + nu],
            "commands": limits[6 : 6 + nu],
        }
        frame = np.concatenate([ranges[part] for part in self.parts])
        return np.tile(frame, (self.n_frames, 1))


_FRAMES = 4  # 160 ms: the longest latency of commands, and a time constant of a servo

OBSERVATIONS: Mapping[ObserveName, Observation] = {
    "joints": Observation(("gravity", "angular_velocity", "joints")),
    "imu": Observation(("gravity", "angular_velocity", "commands"), _FRAMES),
    "history": Observation(
        ("gravity", "angular_velocity", "joints", "commands"), _FRAMES
    ),
}
"""Every choice of observations: those of the paper (gravity, angular velocity and joint
positions), of a robot without joint sensors, and of one that has both."""


def describe_observation(
    name: ObserveName, robot: Robot, *, n_delayed: int = 0
) -> dict[str, Any]:
    """Return what a policy observes, for its metadata.

    Args:
        name: Choice of observations.
        robot: Robot of the policy.
        n_delayed: Commands in the queue, which it also observes.
    """
    nu = robot.model.nu
    sizes = {"gravity": 3, "angular_velocity": 3, "joints": nu, "commands": nu}
    made = OBSERVATIONS[name]
    described: dict[str, Any] = {
        "name": name,
        "frames": made.n_frames,
        "parts": [
            {"name": part, "size": sizes[part], "unit": _UNITS[part]}
            for part in made.parts
        ],
    }
    if n_delayed:
        part = {"name": "delayed_actions", "size": n_delayed * nu, "unit": "1"}
        described["after"] = [part]
    return described
