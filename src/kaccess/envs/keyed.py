"""Random numbers from keys: any of them can be drawn without those before it.

A number depends on its robot's key, a step and an index only. So noise is the same for
any number of robots, and after a training is resumed. The mixing function is SplitMix64
(Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
"""

import numpy as np

from kaccess.base.compiled import compiled

__all__ = ["draw_normal", "draw_uniform"]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@compiled
def _mix(z: np.uint64) -> np.uint64:
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@compiled
def draw_uniform(key: int, step: int, index: int) -> float:
    """Return a number in (0, 1)."""
    z = _mix(np.uint64(key) + _GOLDEN)
    z = _mix(z + np.uint64(step) * _GOLDEN)
    z = _mix(z + np.uint64(index) * _GOLDEN)
    return (float(z >> np.uint64(11)) + 0.5) / 9007199254740992.0  # 2^53


@compiled
def draw_normal(key: int, step: int, index: int) -> float:
    """Return a number with mean 0 and standard deviation 1 (Box and Muller)."""
    size = np.sqrt(-2.0 * np.log(draw_uniform(key, step, 2 * index)))
    turn = 2.0 * np.pi * draw_uniform(key, step, 2 * index + 1)
    return float(size * np.cos(turn))
