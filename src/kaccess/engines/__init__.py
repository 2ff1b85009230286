"""Simulators. Each has one method for physics: `settle`."""

from collections.abc import Sequence
from typing import cast

from kaccess.base.errors import InputError
from kaccess.config import EngineConfig, EngineName, StillConfig
from kaccess.engines.engine import Engine, Settled
from kaccess.robots import Robot

__all__ = [
    "Engine",
    "Settled",
    "as_engine",
    "make_engine",
    "make_engines",
    "make_replayer",
]


def make_engine(
    engine: EngineName | EngineConfig,
    robot: Robot,
    still: StillConfig | None = None,
) -> Engine:
    """Return an engine for a robot.

    Args:
        engine: Name of the engine, or its settings with threads and device.
        robot: Robot to simulate.
        still: When it counts as static.

    Raises:
        InputError: If there is no such engine, if it cannot simulate that robot, or if
            it cannot run on this machine.
        ImportError: If the engine is not installed.
    """
    config = EngineConfig.of(engine)
    if config.engine == "warp":
        from kaccess.engines.warp import WarpEngine

        return WarpEngine(robot, still, device=config.device)
    if config.engine == "bullet":
        from kaccess.engines.bullet import ACCURATE, BulletEngine

        return BulletEngine(
            robot,
            still,
            n_processes=config.threads,
            n_iterations=config.solver_iterations or ACCURATE,
        )
    from kaccess.engines.mujoco import MujocoEngine

    return MujocoEngine(robot, still, n_threads=config.threads)


def make_engines(
    names: Sequence[EngineName],
    robot: Robot,
    still: StillConfig,
    *,
    n_threads: int = 0,
    device: str | None = None,
) -> dict[str, Engine]:
    """Return two or more engines for a robot, by name; `device` is that of warp."""
    if len(set(names)) < 2:
        raise InputError(f"`engines` must be two or more, got {' '.join(names)}.")
    if device is not None and "warp" not in names:
        raise InputError("`device` is for the engine 'warp'. Leave it out.")
    return {
        name: make_engine(
            EngineConfig(
                engine=name,
                threads=n_threads,
                device=device if name == "warp" else None,
            ),
            robot,
            still,
        )
        for name in names
    }


def make_replayer(
    engine: EngineName | EngineConfig, robot: Robot, still: StillConfig
) -> Engine:
    """Return an engine for a few simulations at a time: a GPU would be slow at it."""
    config = EngineConfig.of(engine)
    if config.engine == "warp":
        config = EngineConfig(threads=config.threads)
    return make_engine(config, robot, still)


def as_engine(engine: Engine | EngineName | EngineConfig, robot: Robot) -> Engine:
    """Return the given engine, or make one from a name or settings."""
    if hasattr(engine, "settle"):
        return cast("Engine", engine)
    return make_engine(engine, robot)
