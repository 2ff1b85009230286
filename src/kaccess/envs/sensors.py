"""Sensors with faults: noise, an IMU that is mounted askew, joints with offsets."""

from typing import NamedTuple

import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.types import Array, IntArray
from kaccess.config import SENSOR_NOISE
from kaccess.envs.draws import Draws
from kaccess.envs.keyed import draw_normal
from kaccess.envs.readings import Readings

__all__ = ["Sensed", "sense"]


class Sensed(NamedTuple):
    """What the sensors of n robots report; see `Readings`.

    Attributes:
        gravity: (n, 3) unit gravity vector in the body frame.
        angular_velocity: (n, 3) angular velocity in the body frame [rad/s].
        joints: (n, nu) joint positions [rad].
    """

    gravity: Array
    angular_velocity: Array
    joints: Array


def sense(now: Readings, draws: Draws, steps: IntArray) -> Sensed:
    """Return what the sensors report, given the true readings.

    Args:
        now: True readings of n robots.
        draws: Conditions of the robots.
        steps: (n,) control steps since the start: with the robot's key, they say which
            noise it gets, however often it is asked for.
    """
    sensed = Sensed(now.gravity.copy(), now.angular_velocity.copy(), now.joints.copy())
    sensed.joints[:] -= draws.offset
    noise = draws.get("noise")
    sizes = np.array([SENSOR_NOISE.gravity, SENSOR_NOISE.rate, SENSOR_NOISE.joints])
    _disturb(sensed, draws.tilt, draws.drift, noise, sizes, draws.key, steps)
    return sensed


@compiled
def _disturb(
    sensed: Sensed,
    tilt: Array,
    drift: Array,
    noise: Array,
    sizes: Array,
    key: IntArray,
    steps: IntArray,
) -> None:
    nu = sensed.joints.shape[1]
    for i in range(len(noise)):
        _turn(tilt[i], sensed.gravity[i])
        _turn(tilt[i], sensed.angular_velocity[i])
        size = 0.0
        for k in range(3):
            gravity = draw_normal(key[i], steps[i], k)
            rate = draw_normal(key[i], steps[i], 3 + k)
            sensed.gravity[i, k] += noise[i] * sizes[0] * gravity
            sensed.angular_velocity[i, k] += drift[i, k] + noise[i] * sizes[1] * rate
            size += sensed.gravity[i, k] ** 2
        sensed.gravity[i] /= np.sqrt(size)
        for j in range(nu):
            error = draw_normal(key[i], steps[i], 6 + j)
            sensed.joints[i, j] += noise[i] * sizes[2] * error


@compiled
def _turn(turn: Array, vector: Array) -> None:
    """Turn a vector by a rotation vector [rad], in place (Rodrigues)."""
    angle = np.sqrt(turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2)
    if angle == 0.0:
        return
    x, y, z = turn[0] / angle, turn[1] / angle, turn[2] / angle
    a, b, c = vector[0], vector[1], vector[2]
    along = (x * a + y * b + z * c) * (1.0 - np.cos(angle))
    cosine, sine = np.cos(angle), np.sin(angle)
    vector[0] = cosine * a + sine * (y * c - z * b) + along * x
    vector[1] = cosine * b + sine * (z * a - x * c) + along * y
    vector[2] = cosine * c + sine * (x * b - y * a) + along * z
