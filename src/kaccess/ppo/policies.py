"""The current policy of a PPO learner, in torch and as a file."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from rsl_rl.models import MLPModel
from tensordict import TensorDict

from kaccess.base.types import Array
from kaccess.policies.policy import Policy, scale
from kaccess.ppo.vector import GROUP

__all__ = ["PpoPolicies"]


class PpoPolicies:
    """The policy of one learner, as a set of one: its mean action, clipped.

    Args:
        actor: Its network.
        name: Its name.
        low: (act,) lower bounds of the actions.
        high: (act,) upper bounds.
        metadata: Facts for the policy file, in addition to the learner's name.
    """

    def __init__(
        self,
        actor: MLPModel,
        name: str,
        *,
        low: Array,
        high: Array,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.names = [name]
        self._actor, self._low, self._high = actor, low, high
        self._metadata = dict(metadata or {})

    def __len__(self) -> int:
        return 1

    @torch.inference_mode()
    def act_all(self, obs: Array) -> Array:
        """Return actions, (1, m, act), for m observations, (1, m, obs)."""
        device = next(self._actor.parameters()).device
        x = torch.as_tensor(obs[0], dtype=torch.float32, device=device)
        mean = self._actor(TensorDict({GROUP: x}, batch_size=[len(x)]))
        return scale(mean.clamp(-1, 1).cpu().numpy(), self._low, self._high)[None]

    def __getitem__(self, index: int | str) -> Policy:
        """Return a copy of the policy; observations are normalized in its first layer.

        (x - mean) / std @ W + b = x @ (W / std) + (b - mean / std @ W)
        """
        layers = [
            (_read(each.weight).T, _read(each.bias))
            for each in self._actor.mlp
            if isinstance(each, torch.nn.Linear)
        ]
        if self._actor.obs_normalization:
            normalizer, (weight, bias) = self._actor.obs_normalizer, layers[0]
            weight = weight / (_read(normalizer.std) + normalizer.eps)[:, None]
            layers[0] = weight, bias - _read(normalizer.mean) @ weight
        return Policy(
            weights=tuple(weight.astype(np.float32) for weight, _ in layers),
            biases=tuple(bias.astype(np.float32) for _, bias in layers),
            low=self._low.copy(),
            high=self._high.copy(),
            metadata={"learner": self.names[0], **self._metadata},
            activation="elu",
            output="clip",
        )


def _read(tensor: torch.Tensor) -> Array:
    return tensor.detach().cpu().numpy().astype(np.float64)
