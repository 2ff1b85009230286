"""Environments whose robots stay on the GPU: physics, rewards, resets, all tensors.

`TensorRobots` steps thousands of robots without a copy to the host. A learner that
takes tensors, such as PPO, trains with it directly.
"""

try:
    import torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Environments on tensors need torch, which is not installed. Run "
        "`pip install 'kaccess[train]'`."
    ) from error

from kaccess.gpu.env import TensorRobots
from kaccess.gpu.interface import TensorEnv, TensorOutcome
from kaccess.gpu.on_tensors import on_tensors

__all__ = ["TensorEnv", "TensorOutcome", "TensorRobots", "on_tensors"]
