"""Rewards on tensors, from the same source as the compiled loops.

A task is defined once, as a loop over robots that Numba compiles. Its body consists of
the building blocks of `kaccess.envs.kernels`. Here the same body runs once, with a
slice in place of the number of a robot and with building blocks on tensors in place of
the compiled ones. So each line computes all robots at once, on any device.
"""

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import torch
from torch import Tensor

from kaccess.envs import kernels

__all__ = ["ALL", "on_tensors"]

ALL = (slice(None),)
"""In place of the numbers of the robots: one step of the loop handles all of them."""


def _square_tilt(gravity: Tensor) -> Tensor:
    x, y, z = gravity.unbind(-1)
    return x * x + y * y + (z + 1.0) * (z + 1.0)


_BLOCKS: Mapping[Any, Callable[..., Any]] = {
    kernels.rbf: lambda squared_error, alpha: torch.exp(alpha * squared_error),
    kernels.square: torch.square,
    kernels.square_norm: lambda x: (x * x).sum(-1),
    kernels.square_distance: lambda x, y: torch.square(x - y).sum(-1),
    kernels.square_tilt: _square_tilt,
    kernels.larger: torch.maximum,
    kernels.smaller: torch.clamp_max,
    kernels.both: torch.logical_and,
    kernels.negate: torch.logical_not,
    kernels.as_number: Tensor.float,
    kernels.count_true: lambda x: x.sum(-1),
}


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of robots in a loop as one of all robots at once, on tensors.

    Args:
        function: Compiled function, or one that calls compiled functions. Those that
            take the numbers of robots are given `ALL` instead.
    """
    if function in _BLOCKS:
        return _BLOCKS[function]
    plain: Any = getattr(function, "py_func", function)  # Numba keeps the source's
    names = plain.__code__.co_names
    used = {
        name: plain.__globals__[name] for name in names if name in plain.__globals__
    }
    new = {
        name: on_tensors(value) for name, value in used.items() if _is_compiled(value)
    }
    return FunctionType(
        plain.__code__, plain.__globals__ | new, plain.__name__, plain.__defaults__
    )


def _is_compiled(value: object) -> bool:
    return hasattr(value, "py_func")
