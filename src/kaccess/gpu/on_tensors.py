"""Rewards on tensors, from the same source as the compiled loops.

A task is defined once, as a loop over robots that Numba compiles. Its body consists of
the building blocks of `kaccess.envs.kernels`. Here the same body runs once, with a
slice in place of the number of a robot and with building blocks on tensors in place of
the compiled ones. So each line computes all robots at once, on any device. A body with
other ingredients may compute something else, so each task is compared with its loop
before it is used.
"""

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kaccess.base.errors import InputError
from kaccess.envs import kernels
from kaccess.envs.readings import Readings, make_readings
from kaccess.envs.task import Task

__all__ = ["ALL", "make_tensor_judge", "on_tensors"]

ALL = (slice(None),)
"""In place of the numbers of the robots: one step of the loop handles all of them."""
_SOME_ROBOTS = 17  # in the comparison with the loop
_ROUNDING = 1e-9


def _square_tilt(gravity: Tensor) -> Tensor:
    x, y, z = gravity.unbind(-1)
    return x * x + y * y + (z + 1.0) * (z + 1.0)


_BLOCKS: Mapping[Any, Callable[..., Any]] = {
    kernels.rbf: lambda squared_error, alpha: torch.exp(alpha * squared_error),
    kernels.square: torch.square,
    kernels.square_norm: lambda x: (x * x).sum(-1),
    kernels.square_distance: lambda x, y: torch.square(x - y).sum(-1),
    kernels.square_tilt: _square_tilt,
    kernels.larger: torch.clamp_min,
    kernels.smaller: torch.clamp_max,
    kernels.both: torch.logical_and,
    kernels.negate: torch.logical_not,
    # In double precision: their products with a weight are rounded only when stored.
    kernels.as_number: Tensor.double,
    kernels.count_true: lambda x: x.sum(-1, dtype=torch.float64),
}


def make_tensor_judge(task: Task, nu: int, n_feet: int) -> Callable[..., None]:
    """Return the method `judge` of a task, on tensors.

    Args:
        task: Task.
        nu: Number of joints of its robot.
        n_feet: Number of feet of its robot.

    Raises:
        InputError: If it does not compute what the compiled loop does.
    """
    try:
        judge = on_tensors(type(task).judge)
        equal = _compare(task, judge, nu, n_feet)
    except Exception as error:  # a task of a user may fail in any way
        raise _refuse(task) from error
    if not equal:
        raise _refuse(task)
    return judge


def on_tensors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of robots in a loop as one of all robots at once, on tensors.

    Args:
        function: Compiled function, or one that calls compiled functions. Those that
            take the numbers of robots are given `ALL` instead.
    """
    if function in _BLOCKS:
        return _BLOCKS[function]
    plain: Any = getattr(function, "py_func", function)  # Numba keeps the source's
    names = set(plain.__code__.co_names) & plain.__globals__.keys()
    used = {name: plain.__globals__[name] for name in names}
    new = {
        name: on_tensors(value) for name, value in used.items() if _is_compiled(value)
    }
    made = FunctionType(
        plain.__code__,
        plain.__globals__ | new,
        plain.__name__,
        plain.__defaults__,
        plain.__closure__,
    )
    made.__kwdefaults__ = plain.__kwdefaults__
    return made


def _is_compiled(value: object) -> bool:
    return hasattr(value, "py_func")


def _compare(task: Task, judge: Callable[..., None], nu: int, n_feet: int) -> bool:
    """Return whether rewards and memory equal those of the loop, for two steps."""
    sizes = {3, nu, n_feet, len(task.memory), len(task.terms)}
    n = next(each for each in range(_SOME_ROBOTS, 99) if each not in sizes)
    memory, terms = np.zeros((n, len(task.memory))), np.zeros((n, len(task.terms)))
    on_memory, on_terms = (
        torch.from_numpy(memory.copy()),
        torch.from_numpy(terms.copy()),
    )
    for seed in range(2):
        now = _draw_readings(n, nu, n_feet, seed)
        same: Any = {
            name: torch.from_numpy(each.copy())
            if isinstance(each, np.ndarray)
            else each
            for name, each in now._asdict().items()
        }
        task.judge(now, np.arange(n), memory, terms)
        judge(task, Readings(**same), ALL, on_memory, on_terms)
    return all(
        np.allclose(loop, tensor.numpy(), rtol=_ROUNDING, atol=_ROUNDING)
        for loop, tensor in ((memory, on_memory), (terms, on_terms))
    )


def _draw_readings(n: int, nu: int, n_feet: int, seed: int) -> Readings:
    """Return random readings of n robots, of which every other one stands."""
    rng = np.random.default_rng(seed)
    now = make_readings(
        n,
        nu,
        n_feet,
        standing_height=0.2,
        standing_joints=rng.normal(size=nu),
        time_step=0.04,
    )
    for name, each in now._asdict().items():
        if isinstance(each, np.ndarray) and name != "standing_joints":
            drawn = rng.normal(scale=0.3, size=each.shape)
            each[...] = drawn > 0 if each.dtype == bool else drawn
    now.height[::2], now.floor_cosine[::2] = now.standing_height, 1.0
    now.gravity[::2], now.body_touches[::2] = (0.0, 0.0, -1.0), False
    return now


def _refuse(task: Task) -> InputError:
    return InputError(
        f"The rewards of the task {task.name!r} cannot be computed on tensors: write "
        "them with the functions of `kaccess.envs.kernels`, without `if`. Or choose "
        "the engine mujoco."
    )
