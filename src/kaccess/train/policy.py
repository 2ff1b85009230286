"""Policies to act with: the mean action of an actor, without the noise of learning.

`Policies` are those of a whole population, on its device. A `Policy` is that of one
learner: NumPy arrays, a file of a few hundred kilobytes, and no need of torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kaccess.errors import InputError
from kaccess.train.checkpoint import load_checkpoint
from kaccess.train.networks import forward
from kaccess.train.population import find_device
from kaccess.train.sac import Learners, Shape, new_learners
from kaccess.train.tensors import read_tensors, write_tensors
from kaccess.types import Array

__all__ = ["Policies", "Policy", "load_policies"]

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


class Policies:
    """The policies of a population, as they are when used.

    Args:
        learners: The population.
        names: Of the learners.
        low: (act,) lower bounds of the actions.
        high: (act,) upper bounds.
        metadata: What each policy's file shall say, beside the learner's name.
    """

    def __init__(
        self,
        learners: Learners,
        names: Sequence[str],
        *,
        low: Array,
        high: Array,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.names = list(names)
        self._learners, self._low, self._high = learners, low, high
        self._metadata = dict(metadata or {})

    def __len__(self) -> int:
        return len(self.names)

    def act_all(self, obs: Array) -> Array:
        """Return actions, (p, m, act), for m observations of each, (p, m, obs)."""
        shape = self._learners.shape
        if obs.ndim != 3 or obs.shape[::2] != (len(self), shape.obs_dim):
            raise InputError(
                f"`obs` must have shape ({len(self)}, m, {shape.obs_dim}), "
                f"got {obs.shape}."
            )
        x = torch.as_tensor(
            obs, dtype=torch.float32, device=self._learners.actor.device
        )
        output = forward(self._learners.actor_layers, x)[-1]
        mean = output[..., : shape.act_dim].tanh().cpu().numpy()
        return scale(mean, self._low, self._high)

    def __getitem__(self, index: int | str) -> Policy:
        """Return a copy of one policy, by its place or name."""
        i = self.names.index(index) if isinstance(index, str) else index
        n_act = self._learners.shape.act_dim
        layers = [
            (weight[i].cpu().numpy().copy(), bias[i, 0].cpu().numpy().copy())
            for weight, bias in self._learners.actor_layers
        ]
        weight, bias = layers[-1]
        layers[-1] = weight[:, :n_act].copy(), bias[:n_act].copy()  # the mean's half
        return Policy(
            weights=tuple(weight for weight, _ in layers),
            biases=tuple(bias for _, bias in layers),
            low=self._low.copy(),
            high=self._high.copy(),
            metadata={"learner": self.names[i], **self._metadata},
        )


def load_policies(path: str | Path, device: str = "cpu") -> Policies:
    """Return the policies of all learners of a checkpoint."""
    checkpoint = load_checkpoint(Path(path))
    settings, names = checkpoint.settings, checkpoint.settings["names"]
    shape = Shape(
        n_learners=len(names),
        obs_dim=settings["obs_dim"],
        act_dim=settings["act_dim"],
        hidden=tuple(settings["hidden"]),
    )
    learners = new_learners(shape, settings["seeds"], find_device(device))
    learners.actor.copy_(torch.as_tensor(checkpoint.arrays["learners/actor"]))
    return Policies(
        learners,
        names,
        low=np.array(settings["low"], dtype=np.float32),
        high=np.array(settings["high"], dtype=np.float32),
        metadata=settings["meta"],
    )


def scale(actions: Array, low: Array, high: Array) -> Array:
    """Return actions in [-1, 1] as actions within the bounds."""
    scaled = low + (actions + 1) * (0.5 * (high - low))
    return np.clip(scaled, low, high)  # rounding
