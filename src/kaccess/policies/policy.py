"""A policy to act with: what one learner has learned, without the noise of learning.

NumPy arrays, a file of a few hundred kilobytes, and no need of torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.tensors import read_tensors, write_tensors
from kaccess.base.types import Array

__all__ = ["BEST_POLICY", "LAST_POLICY", "Policy", "scale"]

LAST_POLICY = "policy.safetensors"  # of a learner, as it is
BEST_POLICY = "best.safetensors"  # as it was when it did best in a test of its curve

_KIND = "kaccess policy (1)"


@dataclass(frozen=True)
class Policy:
    """What one learner has learned.

    Attributes:
        weights: Of each layer, (n_in, n_out).
        biases: Of each layer, (n_out,).
        low: (act,) lower bounds of the actions.
        high: (act,) upper bounds.
        metadata: What else to know, as JSON can hold it: task, robot, joint order.
    """

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]
    low: Array
    high: Array
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def obs_dim(self) -> int:
        """Numbers of an observation."""
        return len(self.weights[0])

    @property
    def act_dim(self) -> int:
        """Numbers of an action."""
        return len(self.low)

    def act(self, obs: Array) -> Array:
        """Return actions within the bounds, (n, act), for observations, (n, obs)."""
        x = np.asarray(obs, dtype=np.float32)
        if x.ndim != 2 or x.shape[1] != self.obs_dim:
            raise InputError(
                f"`obs` must have shape (n, {self.obs_dim}), got {x.shape}."
            )
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = np.maximum(x @ weight + bias, 0)
        x = np.tanh(x @ self.weights[-1] + self.biases[-1])
        return scale(x, self.low, self.high)

    def save(self, path: Path) -> None:
        """Write the policy as one file."""
        arrays = {"low": self.low, "high": self.high}
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays[f"weight {i}"], arrays[f"bias {i}"] = weight, bias
        write_tensors(path, _KIND, {"metadata": dict(self.metadata)}, arrays)

    @classmethod
    def load(cls, path: str | Path) -> "Policy":
        """Read a policy that `save` wrote."""
        header, arrays = read_tensors(Path(path), _KIND)
        n = sum(name.startswith("weight") for name in arrays)
        return cls(
            weights=tuple(arrays[f"weight {i}"] for i in range(n)),
            biases=tuple(arrays[f"bias {i}"] for i in range(n)),
            low=arrays["low"],
            high=arrays["high"],
            metadata=header["metadata"],
        )


def scale(actions: Array, low: Array, high: Array) -> Array:
    """Return actions in [-1, 1] as actions within the bounds."""
    scaled = low + (actions + 1) * (0.5 * (high - low))
    return np.clip(scaled, low, high)  # rounding
