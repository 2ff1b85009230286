"""Where the joints are, and how warm their servos get, as far as commands tell.

Bittle's stock servos report nothing. So the joints are estimated by the model of a
servo: the joint follows its command with a time constant, and no faster than a limit.
No board measures temperatures; the heat of a motor is estimated by the square of its
torque, which the distance from the command shows.
"""

import numpy as np

from kaccess.base.types import Array

__all__ = ["Heat", "ServoModel"]

_TIME_CONSTANT = 0.05  # [s], of our model (robots/bittle/bittle.xml)
_FASTEST = 15.0  # [rad/s], without load (the same file)
_FULL_TORQUE = 0.58  # [rad]: error at which our model's servo has its full torque
_COOLING = 60.0  # [s], time constant; ours, not measured


class ServoModel:
    """Estimates joint positions from commands.

    Args:
        joints: (nu,) positions at the start [rad].
        speed: Fastest speed of a joint [rad/s].
    """

    def __init__(self, joints: Array, speed: float = _FASTEST) -> None:
        self.joints: Array = np.array(joints, np.float64)
        self._speed = min(speed, _FASTEST)

    def follow(self, target: Array, seconds: float) -> Array:
        """Let time pass with a command [rad], and return the joints, (nu,)."""
        share = 1 - np.exp(-seconds / _TIME_CONSTANT)
        most = self._speed * seconds
        self.joints = self.joints + np.clip(share * (target - self.joints), -most, most)
        return self.joints.copy()


class Heat:
    """Estimates how long each servo has worked at full torque, as it cools meanwhile.

    Args:
        n: Number of servos.
    """

    def __init__(self, n: int) -> None:
        self.seconds = np.zeros(n)

    def add(self, error: Array, seconds: float) -> None:
        """Add some time [s] with joints at a distance from their commands [rad]."""
        load = np.clip(np.abs(error) / _FULL_TORQUE, 0.0, 1.0) ** 2
        self.seconds += seconds * (load - self.seconds / _COOLING)
