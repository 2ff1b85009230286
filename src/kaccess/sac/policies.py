"""Policies of a whole population, on its device: mean actions of averaged actors."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.policies.policy import Policy, scale
from kaccess.sac.checkpoint import get_policies, load_checkpoint
from kaccess.sac.device import find_device
from kaccess.sac.learners import Learners, Shape, init_learners
from kaccess.sac.networks import forward

__all__ = ["Policies", "load_policies"]


class Policies:
    """The current policies of a population; they change as it learns.

    Args:
        learners: Learners of the population.
        names: Learner names.
        low: (act,) lower bounds of the actions.
        high: (act,) upper bounds.
        metadata: Facts for each policy file, in addition to the learner's name.
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
            obs, dtype=torch.float32, device=self._learners.policy.device
        )
        output = forward(self._learners.policy_layers, x)[-1]
        mean = output[..., : shape.act_dim].tanh().cpu().numpy()
        return scale(mean, self._low, self._high)

    def __getitem__(self, index: int | str) -> Policy:
        """Return a copy of one policy, by its index or name."""
        i = self.names.index(index) if isinstance(index, str) else index
        n_act = self._learners.shape.act_dim
        layers = [
            (weight[i].cpu().numpy().copy(), bias[i, 0].cpu().numpy().copy())
            for weight, bias in self._learners.policy_layers
        ]
        weight, bias = layers[-1]
        layers[-1] = weight[:, :n_act].copy(), bias[:n_act].copy()  # the mean's half
        return Policy(
            weights=tuple(weight for weight, _ in layers),
            biases=tuple(bias for _, bias in layers),
            low=self._low.copy(),
            high=self._high.copy(),
            metadata=self.describe(self.names[i]),
        )

    def describe(self, name: str) -> dict[str, Any]:
        """Return the facts for the policy file of a learner."""
        return {"learner": name, **self._metadata}


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
    learners = init_learners(shape, settings["seeds"], find_device(device))
    learners.policy.copy_(torch.as_tensor(get_policies(checkpoint)))
    return Policies(
        learners,
        names,
        low=np.array(settings["low"], dtype=np.float32),
        high=np.array(settings["high"], dtype=np.float32),
        metadata=settings["meta"],
    )
