"""What environments are given, checked and in one form."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.robots import Robot, load_robot
from kaccess.starts import InitialStates

__all__ = ["as_many_starts", "as_robot", "as_starts", "as_states"]


def as_robot(robot: str | Path | Robot) -> Robot:
    """Return a robot by its name, by its file, or the one given."""
    return robot if isinstance(robot, Robot) else load_robot(robot)


def as_starts(starts: InitialStates | None, robot: Robot) -> InitialStates:
    """Return starts that belong to a robot; the standing pose if there are none."""
    if starts is None:
        return InitialStates.uniform(
            robot.standing[None], names=("standing",), model=robot.fingerprint
        )
    if not isinstance(starts, InitialStates):
        raise InputError(
            "`starts` must be `kaccess.InitialStates`, got "
            f"{type(starts).__name__}. Read a file with `InitialStates.load`."
        )
    other = starts.model not in ("", robot.fingerprint)
    if other or starts.qpos.shape[1] != robot.model.nq:
        raise InputError(
            f"`starts` belong to another robot than {robot.name!r}, or to another "
            "version of it. Make them anew with `kaccess cluster STUDY`, from a study "
            "of this robot."
        )
    return starts


def as_many_starts(
    starts: InitialStates | Sequence[InitialStates] | None, robot: Robot, n: int
) -> tuple[InitialStates, ...]:
    """Return starts for each of n robots, from one for all or one each."""
    if starts is None or isinstance(starts, InitialStates):
        return (as_starts(starts, robot),) * n
    if len(starts) != n:
        raise InputError(
            f"`starts` must be one distribution, or one for each of the {n} "
            f"environments, got {len(starts)}."
        )
    return tuple(as_starts(each, robot) for each in starts)


def as_states(qpos: object, n: int, robot: Robot) -> Array:
    """Return the states of n robots, (n, nq), from one for all or one each."""
    states, nq = np.asarray(qpos, np.float64), robot.model.nq
    if states.shape not in ((nq,), (n, nq)):
        raise InputError(
            f"`qpos` must have shape ({nq},) or ({n}, {nq}) for {n} robots "
            f"{robot.name!r}, got {states.shape}."
        )
    return np.array(np.broadcast_to(states, (n, nq)))
