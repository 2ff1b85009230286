"""The current policy of one learner whose network is a plain one, in torch and as file.

Clones and PPO learners have such networks.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from kaccess.base.types import Array
from kaccess.clone.clone import Network
from kaccess.policies.policy import Policy, scale

__all__ = ["NetworkPolicies"]


class NetworkPolicies:
    """The policy of one learner, as a set of one: its mean action, clipped.

    Args:
        get_network: Returns its current network.
        name: Its name.
        low: (act,) lower bounds of the actions.
        high: (act,) upper bounds.
        metadata: Facts for the policy file, in addition to the learner's name.
    """

    def __init__(
        self,
        get_network: Callable[[], Network],
        name: str,
        *,
        low: Array,
        high: Array,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.names = [name]
        self._get_network, self._low, self._high = get_network, low, high
        self._metadata = dict(metadata or {})

    def __len__(self) -> int:
        return 1

    @torch.inference_mode()
    def act_all(self, obs: Array) -> Array:
        """Return actions, (1, m, act), for m observations, (1, m, obs)."""
        network = self._get_network()
        x = torch.as_tensor(obs[0], dtype=torch.float32, device=network.mean.device)
        mean = network(x).clamp(-1, 1).cpu().numpy()
        return scale(mean, self._low, self._high)[None]

    def __getitem__(self, index: int | str) -> Policy:
        """Return a copy of the policy; observations are normalized in its first layer.

        (x - mean) / scale @ W + b = x @ (W / scale) + (b - mean / scale @ W)
        """
        network = self._get_network()
        layers = [
            (_read(each.weight).T, _read(each.bias))
            for each in network.mlp
            if isinstance(each, torch.nn.Linear)
        ]
        weight, bias = layers[0]
        weight = weight / _read(network.scale)[:, None]
        layers[0] = weight, bias - _read(network.mean) @ weight
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
