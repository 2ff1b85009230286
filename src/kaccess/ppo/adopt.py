"""A clone of the guide as the first policy of a PPO learner."""

import torch
from rsl_rl.algorithms import PPO
from tensordict import TensorDict
from torch import nn

from kaccess.clone import Clone, Demonstrations, Network
from kaccess.clone.clone import fit
from kaccess.config import CloneConfig
from kaccess.ppo.policies import read_network
from kaccess.ppo.vector import GROUP

__all__ = ["adopt", "keep_normalization"]


def adopt(
    algorithm: PPO,
    clone: Clone,
    shown: Demonstrations,
    config: CloneConfig,
    *,
    std: float,
) -> None:
    """Make a clone the first policy, and teach the critic what its actions earn.

    Args:
        algorithm: PPO with new networks, of the sizes of the clone.
        clone: The clone.
        shown: What the clone was shown.
        config: Settings of the clone; the critic learns by the same.
        std: Standard deviation of the first actions.
    """
    actor, critic = algorithm.get_policy(), algorithm.critic
    device = next(actor.parameters()).device
    obs, values = (
        torch.tensor(each, dtype=torch.float32, device=device)
        for each in (shown.obs, shown.values[:, None])
    )
    for model in (actor, critic):
        model.update_normalization(TensorDict({GROUP: obs}, batch_size=[len(obs)]))
    actor.mlp.load_state_dict(clone.network.mlp.state_dict())
    _adapt_first_layer(actor.mlp[0], clone.network, read_network(actor))
    with torch.no_grad():
        actor.distribution.std_param.fill_(std)
    inputs = read_network(critic).normalize(obs)
    fit(critic.mlp, inputs, values, config)


def keep_normalization(algorithm: PPO) -> None:
    """Normalize observations as for the clone, for ever.

    A clone is precise, and unlearns what it knows if its inputs change.
    """
    for model in (algorithm.get_policy(), algorithm.critic):
        if model.obs_normalization:
            model.obs_normalizer.until = 0


@torch.no_grad()
def _adapt_first_layer(layer: nn.Linear, old: Network, new: Network) -> None:
    """Change a layer of the old normalization so that it fits the new one.

    Its inputs are now z = (x - new.mean) / new.scale, so x = z * new.scale + new.mean.
    """
    shift = (new.mean - old.mean) / old.scale
    layer.bias.add_(layer.weight @ shift)
    layer.weight.mul_(new.scale / old.scale)
