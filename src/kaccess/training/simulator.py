"""The simulator that learners act in, and the device of its robots."""

from kaccess.base.errors import InputError
from kaccess.config import EngineConfig, TrainConfig

__all__ = ["find_gpu", "find_simulator"]


def find_simulator(config: TrainConfig, device: str, n_threads: int) -> EngineConfig:
    """Return the simulator of a training; with warp, on the device of the learners.

    Raises:
        InputError: If it needs a GPU, and there is none.
    """
    place = find_gpu(device) if config.engine == "warp" else None
    return EngineConfig(engine=config.engine, threads=n_threads, device=place)


def find_gpu(name: str) -> str:
    """Return the device of learners and robots; `cpu` only if the user asks for it."""
    from kaccess.sac.device import find_device

    device = find_device(name)
    if device.type == "cpu" and name != "cpu":
        raise InputError(
            "The engine warp needs an NVIDIA GPU, but torch finds none here. Choose "
            "the engine mujoco, or --device cpu to try it, slowly."
        )
    return str(device)
