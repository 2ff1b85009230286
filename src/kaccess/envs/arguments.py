"""Checks and conversions of the arguments of environments."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray
from kaccess.envs.curriculum import Curriculum
from kaccess.envs.task import Task
from kaccess.envs.tasks import make_task
from kaccess.robots import Robot, load_robot
from kaccess.starts import InitialStates

__all__ = [
    "RENDER_MODES",
    "Starts",
    "assign_starts",
    "broadcast_states",
    "broadcast_velocities",
    "check_mask",
    "check_options",
    "check_render_mode",
    "check_starts",
    "resolve_robot",
    "resolve_task",
]

RENDER_MODES = ["rgb_array"]

Starts = InitialStates | Curriculum
"""Where episodes begin: always the same distribution, or one that moves."""


def resolve_robot(robot: str | Path | Robot) -> Robot:
    """Return the robot given, or load it by its name or its file."""
    return robot if isinstance(robot, Robot) else load_robot(robot)


def resolve_task(task: str | Task, robot: Robot, n_steps: int | None = None) -> Task:
    """Return a task, with episodes of so many steps if these are given."""
    found = make_task(task, robot)
    return found if n_steps is None else replace(found, episode_steps=n_steps)


def check_starts(starts: InitialStates | None, robot: Robot) -> InitialStates:
    """Return the starts if they belong to the robot; for None, its standing pose."""
    if starts is None:
        return InitialStates.uniform(
            robot.standing[None], names=("standing",), model=robot.fingerprint
        )
    if not isinstance(starts, InitialStates):
        raise InputError(
            "`starts` must be `kaccess.InitialStates`, got "
            f"{type(starts).__name__}. Read a file with `InitialStates.load`."
        )
    is_other = starts.model not in ("", robot.fingerprint)
    if is_other or starts.qpos.shape[1] != robot.model.nq:
        raise InputError(
            f"`starts` belong to another robot than {robot.name!r}, or to another "
            "version of it. Make them again with `kaccess cluster STUDY`, in a study "
            "of this robot."
        )
    return starts


def assign_starts(
    starts: Starts | Sequence[Starts] | None, robot: Robot, n: int
) -> tuple[Starts, ...]:
    """Return the starts of each of n robots, given one for all or one for each."""
    if starts is None or isinstance(starts, InitialStates | Curriculum):
        return (_check_each(starts, robot),) * n
    if len(starts) != n:
        raise InputError(
            f"`starts` must be one distribution, or one for each of the {n} "
            f"environments, got {len(starts)}."
        )
    return tuple(_check_each(each, robot) for each in starts)


def _check_each(starts: Starts | None, robot: Robot) -> Starts:
    if isinstance(starts, Curriculum):
        check_starts(starts.at_rest, robot)
        return starts
    return check_starts(starts, robot)


def broadcast_states(qpos: object, n: int, robot: Robot) -> Array:
    """Return the states of n robots, (n, nq), given one for all or one for each."""
    states, nq = np.asarray(qpos, np.float64), robot.model.nq
    if states.shape not in ((nq,), (n, nq)):
        raise InputError(
            f"`qpos` must have shape ({nq},) or ({n}, {nq}) for {n} robots "
            f"{robot.name!r}, got {states.shape}."
        )
    return np.array(np.broadcast_to(states, (n, nq)))


def broadcast_velocities(qvel: object, n: int, robot: Robot) -> Array | None:
    """Return the velocities of n robots, (n, nv); None stays None: they are at rest."""
    if qvel is None:
        return None
    velocities, nv = np.asarray(qvel, np.float64), robot.model.nv
    if velocities.shape not in ((nv,), (n, nv)) or not np.isfinite(velocities).all():
        raise InputError(
            f"`qvel` must be finite, of shape ({nv},) or ({n}, {nv}) for {n} robots "
            f"{robot.name!r}, got {velocities.shape}."
        )
    return np.array(np.broadcast_to(velocities, (n, nv)))


def check_options(
    options: dict[str, Any] | None, known: tuple[str, ...]
) -> dict[str, Any]:
    """Return the options of `reset`, an empty dict for None."""
    options = options or {}
    unknown = [name for name in options if name not in known]
    if unknown:
        raise InputError(
            f"Unknown option {unknown[0]!r} of `reset`: must be one of "
            f"{', '.join(known)}."
        )
    if "qvel" in options and "qpos" not in options:
        raise InputError("`qvel` belongs to `qpos`: give both, or neither.")
    return options


def check_mask(mask: object, n: int) -> BoolArray:
    """Return the `reset_mask` of n environments as an array, (n,); for None, all."""
    if mask is None:
        return np.ones(n, bool)
    array = np.asarray(mask)
    if array.shape != (n,) or array.dtype != bool or not array.any():
        raise InputError(
            f"`reset_mask` must be {n} booleans, at least one of them true, got "
            f"{mask!r}."
        )
    return array


def check_render_mode(render_mode: str | None) -> str | None:
    """Return the render mode if environments have it."""
    if render_mode not in (None, *RENDER_MODES):
        raise InputError(
            f"`render_mode` must be None or one of {', '.join(RENDER_MODES)}, got "
            f"{render_mode!r}."
        )
    return render_mode
