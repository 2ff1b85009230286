"""Simulators. Each has one method for physics: `settle`."""

from kaccess.config import EngineConfig, EngineName, StillConfig
from kaccess.engines.engine import Engine, Settled
from kaccess.robots import Robot

__all__ = ["Engine", "Settled", "as_engine", "make_engine"]


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
        from kaccess.engines.bullet import BulletEngine

        return BulletEngine(robot, still, n_processes=config.threads)
    from kaccess.engines.mujoco import MujocoEngine

    return MujocoEngine(robot, still, n_threads=config.threads)


def as_engine(engine: Engine | EngineName | EngineConfig, robot: Robot) -> Engine:
    """Return the given engine, or make one from a name or settings."""
    if isinstance(engine, str | EngineConfig):
        return make_engine(engine, robot)
    return engine
