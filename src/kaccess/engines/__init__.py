"""Simulators behind one primitive: `settle`."""

from kaccess.config import EngineName, StillConfig
from kaccess.engines.engine import Engine, Settled
from kaccess.errors import InputError
from kaccess.robots import Robot

__all__ = ["Engine", "Settled", "as_engine", "make_engine"]


def make_engine(
    name: EngineName,
    robot: Robot,
    still: StillConfig | None = None,
    *,
    n_threads: int = 0,
    device: str | None = None,
) -> Engine:
    """Return the engine of that name for a robot.

    Args:
        name: `mujoco` (CPU threads), `warp` (an NVIDIA GPU) or `bullet` (PyBullet).
        robot: The robot to simulate.
        still: When it counts as static.
        n_threads: CPU threads; 0 takes them all.
        device: Where `warp` computes: `cuda:1`, `cpu`; by default the first GPU.

    Raises:
        InputError: If the engine cannot simulate that robot, or not on this machine.
        ImportError: If the engine is not installed.
    """
    if n_threads < 0:
        raise InputError(f"`threads` must not be negative, got {n_threads}.")
    if device is not None and name != "warp":
        raise InputError(f"`device` is for the engine 'warp', not for {name!r}.")
    if name == "warp":
        from kaccess.engines.warp import WarpEngine

        return WarpEngine(robot, still, device=device)
    if name == "bullet":
        from kaccess.engines.bullet import BulletEngine

        return BulletEngine(robot, still, n_processes=n_threads)
    from kaccess.engines.mujoco import MujocoEngine

    return MujocoEngine(robot, still, n_threads=n_threads)


def as_engine(engine: Engine | EngineName, robot: Robot) -> Engine:
    """Return an engine for a robot: the one given, or a new one of that name."""
    return make_engine(engine, robot) if isinstance(engine, str) else engine
