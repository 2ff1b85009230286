"""Types of the arrays and callbacks that modules pass to one another."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "BoolArray", "IntArray", "Progress", "TrainProgress"]

Array = NDArray[np.floating[Any]]
IntArray = NDArray[np.integer[Any]]
BoolArray = NDArray[np.bool_]

Progress = Callable[[int, int], None]
"""Callback that is called with (units done, units in total) during work."""

TrainProgress = Callable[[int, int, Mapping[str, float]], None]
"""Callback for training: (steps done, steps in total, metrics such as `return`)."""
