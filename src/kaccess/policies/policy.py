"""A trained policy: the mean action of one learner, without exploration noise.

It consists of NumPy arrays, takes a few hundred kilobytes, and needs no torch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.damage import check_content, explain_damage
from kaccess.base.errors import InputError
from kaccess.base.tensors import REMEDY, read_header, read_tensors, write_tensors
from kaccess.base.types import Array

__all__ = ["BEST_POLICY", "LAST_POLICY", "Policy", "scale"]

LAST_POLICY = "policy.safetensors"  # file of a learner's last policy
BEST_POLICY = "best.safetensors"  # file of the best policy on its learning curve

_KIND = "kaccess policy (1)"  # relu, tanh
_ANY_KIND = "kaccess policy (2)"  # others, which versions before could not read
_NETWORK = {"activation": str, "output": str}


@dataclass(frozen=True)
class Policy:
    """The policy of one learner.

    Attributes:
        weights: (n_in, n_out) weights of each layer.
        biases: (n_out,) biases of each layer.
        low: (act,) lower bounds of the actions.
        high: (act,) upper bounds.
        metadata: Facts such as task, robot and joint order, as JSON holds them.
        activation: Function of the hidden layers: `relu` (SAC) or `elu` (PPO).
        output: How outputs become actions in [-1, 1]: `tanh` (SAC) or `clip` (PPO).
    """

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]
    low: Array
    high: Array
    metadata: Mapping[str, Any] = field(default_factory=dict)
    activation: str = "relu"
    output: str = "tanh"

    @property
    def obs_dim(self) -> int:
        """Length of an observation."""
        return len(self.weights[0])

    @property
    def act_dim(self) -> int:
        """Length of an action."""
        return len(self.low)

    def act(self, obs: Array) -> Array:
        """Return actions within the bounds, (n, act), for observations, (n, obs)."""
        x = np.asarray(obs, dtype=np.float32)
        if x.ndim != 2 or x.shape[1] != self.obs_dim:
            raise InputError(
                f"`obs` must have shape (n, {self.obs_dim}), got {x.shape}."
            )
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            x = _ACTIVATIONS[self.activation](x @ weight + bias)
        x = _OUTPUTS[self.output](x @ self.weights[-1] + self.biases[-1])
        return scale(x, self.low, self.high)

    def get_arrays(self) -> dict[str, Array]:
        """Return all arrays of the policy, by name."""
        arrays = {"low": self.low, "high": self.high}
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            arrays[f"weight {i}"], arrays[f"bias {i}"] = weight, bias
        return arrays

    @classmethod
    def of_arrays(
        cls, arrays: Mapping[str, Array], metadata: Mapping[str, Any]
    ) -> "Policy":
        """Return the policy with the arrays that `get_arrays` returned."""
        n = sum(name.startswith("weight") for name in arrays)
        return cls(
            weights=tuple(arrays[f"weight {i}"] for i in range(n)),
            biases=tuple(arrays[f"bias {i}"] for i in range(n)),
            low=arrays["low"],
            high=arrays["high"],
            metadata=metadata,
        )

    def replace_arrays(self, arrays: Mapping[str, Array]) -> "Policy":
        """Return this policy with other arrays, which `get_arrays` returned."""
        other = Policy.of_arrays(arrays, self.metadata)
        return replace(other, activation=self.activation, output=self.output)

    def check_shapes(self) -> None:
        """Raise `ValueError` if its layers do not fit together."""
        if self.activation not in _ACTIVATIONS or self.output not in _OUTPUTS:
            raise ValueError(
                f"its network has an unknown activation or output: {self.activation}, "
                f"{self.output}"
            )
        if not self.weights:
            raise ValueError("it has no layers")
        n_in = self.obs_dim
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if weight.shape != (n_in, len(bias)) or bias.ndim != 1:
                raise ValueError(f"layer {i} does not fit the one before it")
            n_in = len(bias)
        if not self.low.shape == self.high.shape == (n_in,):
            raise ValueError(f"it has {n_in} outputs, but bounds for {self.low.shape}")
        if not all(np.isfinite(each).all() for each in (*self.weights, *self.biases)):
            raise ValueError("it has weights that are not finite")

    def save(self, path: Path) -> None:
        """Write the policy to a file."""
        header: dict[str, Any] = {"metadata": dict(self.metadata)}
        kind, network = _KIND, {"activation": self.activation, "output": self.output}
        if network != {"activation": "relu", "output": "tanh"}:
            kind, header["network"] = _ANY_KIND, network
        write_tensors(path, kind, header, self.get_arrays())

    @classmethod
    def load(cls, path: str | Path) -> "Policy":
        """Read a policy that `save` wrote."""
        kind = _ANY_KIND if "network" in read_header(Path(path)) else _KIND
        header, arrays = read_tensors(Path(path), kind)
        with explain_damage(Path(path), REMEDY):
            expected = {"metadata": dict, "network?": _NETWORK}
            check_content(header, expected, "its header")
            policy = cls.of_arrays(arrays, header["metadata"])
            policy = replace(policy, **header.get("network", {}))
            policy.check_shapes()
        return policy


def _relu(x: Array) -> Array:
    return np.maximum(x, 0)


def _elu(x: Array) -> Array:
    return np.where(x > 0, x, np.expm1(np.minimum(x, 0)))


def _clip(x: Array) -> Array:
    return np.clip(x, -1, 1)


_ACTIVATIONS: dict[str, Callable[[Array], Array]] = {"relu": _relu, "elu": _elu}
_OUTPUTS: dict[str, Callable[[Array], Array]] = {"tanh": np.tanh, "clip": _clip}


def scale(actions: Array, low: Array, high: Array) -> Array:
    """Scale actions in [-1, 1] to the bounds."""
    scaled = low + (actions + 1) * (0.5 * (high - low))
    return np.clip(scaled, low, high)  # rounding may exceed them
