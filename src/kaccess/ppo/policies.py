"""The network of a PPO learner's actor, and its current policy."""

from collections.abc import Mapping
from typing import Any

import torch
from rsl_rl.models import MLPModel

from kaccess.base.types import Array
from kaccess.clone import Network, NetworkPolicies

__all__ = ["PpoPolicies", "read_network"]


class PpoPolicies(NetworkPolicies):
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
        super().__init__(
            lambda: read_network(actor), name, low=low, high=high, metadata=metadata
        )


def read_network(model: MLPModel) -> Network:
    """Return the layers of a model of rsl_rl, and its normalization."""
    if model.obs_normalization:
        normalizer = model.obs_normalizer
        return Network(model.mlp, normalizer.mean, normalizer.std + normalizer.eps)
    mean = torch.zeros(model.obs_dim, device=next(model.parameters()).device)
    return Network(model.mlp, mean, torch.ones_like(mean))
