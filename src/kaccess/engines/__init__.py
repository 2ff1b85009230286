"""Simulators behind one primitive: `settle`."""

from typing import Literal

from kaccess.config import StillConfig
from kaccess.engines.engine import Engine, Settled
from kaccess.errors import InputError
from kaccess.robots import Robot

__all__ = ["Engine", "EngineName", "Settled", "make_engine"]

EngineName = Literal["mujoco"]


def make_engine(
    name: EngineName,
    robot: Robot,
    still: StillConfig | None = None,
    *,
    n_threads: int = 0,
) -> Engine:
    """Return the engine of that name for a robot.

    Args:
        name: Which simulator.
        robot: The robot to simulate.
        still: When it counts as static.
        n_threads: CPU threads; 0 takes them all.
    """
    if n_threads < 0:
        raise InputError(f"`threads` must not be negative, got {n_threads}.")
    from kaccess.engines.mujoco import MujocoEngine

    return MujocoEngine(robot, still, n_threads=n_threads)
