"""Environments whose robots stay on the GPU: physics, rewards, resets, all tensors.

`TensorRobots` steps thousands of robots without a copy to the host. A learner that
takes tensors, such as PPO, trains with it directly. Only `TensorRobots` itself needs
MuJoCo Warp; it is imported when first used.
"""

from typing import TYPE_CHECKING

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Environments on tensors need torch, which is not installed. Run "
        "`pip install 'kaccess[train]'`."
    ) from error

from kaccess.gpu.interface import TensorEnv, TensorOutcome

if TYPE_CHECKING:
    from kaccess.gpu.env import TensorRobots

__all__ = ["TensorEnv", "TensorOutcome", "TensorRobots"]


def __getattr__(name: str) -> object:
    if name != "TensorRobots":
        raise AttributeError(f"module 'kaccess.gpu' has no attribute {name!r}")
    from kaccess.gpu.env import TensorRobots

    return TensorRobots
