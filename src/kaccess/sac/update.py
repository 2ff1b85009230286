"""Soft Actor-Critic: one update of all learners of a population, as one program.

Every tensor has a leading axis of learners, and nothing is ever summed over it, so that
learners do not affect one another. For all of them at once, an update is

1. actions of the actor in the states s and s' of a batch from each learner's replay,
2. a step of both critics towards r + d (min Q'(s', a') - alpha log pi(a' | s')),
3. a step of the actor that reduces alpha log pi(a | s) - min Q(s, a),
4. a step of the entropy coefficient alpha, of the target critics Q', and of the policy,
   a running mean of the actor.

Each transition has its own discount d: gamma, or gamma^n over n steps. It is 0 only if
the episode `terminated`; after a time limit, the target still includes the value of s'.
The order of the steps is that of Stable-Baselines3.

The functions `*_gradient` and `*_target` are pure. `update_` changes the learners in
place and never waits for the host, so that it can be a CUDA graph. A learner whose
gradient is not finite stays as it was, and is marked as not alive.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from kaccess.config import SacConfig
from kaccess.sac.learners import Learners, Shape
from kaccess.sac.networks import (
    Layer,
    Sample,
    backward,
    forward,
    input_gradient,
    squash,
    squash_gradient,
)

__all__ = ["Batch", "update_"]

_BETAS = (0.9, 0.999)  # of Adam, as in its paper
_EPSILON = 1e-8


@dataclass(frozen=True)
class Batch:
    """Transitions of each learner, as views of (p, b, row)."""

    obs: Tensor
    obs_act: Tensor
    reward: Tensor
    discount: Tensor
    next_obs: Tensor

    @classmethod
    def split(cls, rows: Tensor, shape: Shape) -> "Batch":
        """Split rows of s, a, r, discount, s'."""
        n_obs, n = shape.obs_dim, shape.obs_dim + shape.act_dim
        return cls(
            obs=rows[..., :n_obs],
            obs_act=rows[..., :n],
            reward=rows[..., n],
            discount=rows[..., n + 1],
            next_obs=rows[..., n + 2 :],
        )


def update_(learners: Learners, rows: Tensor, noise: Tensor, config: SacConfig) -> None:
    """Make one update of all learners, in place.

    Args:
        learners: Learners to update.
        rows: (p, b, row) transitions of each learner.
        noise: (p, 2 b, a) standard normal noise, for the actions in s and in s'.
        config: Settings of the update.
    """
    batch, b = Batch.split(rows, learners.shape), rows.shape[1]
    alpha = learners.log_alpha.exp()
    learners.n_updates.add_(1)
    adam = adam_rates(learners.n_updates, config.learning_rate)

    # Actions in s and in s', from one pass of the actors
    both = torch.cat([batch.obs, batch.next_obs], dim=1)
    activations = forward(learners.actor_layers, both)
    sample = squash(activations[-1], noise)
    now, later = sample.select(0, b), sample.select(b, 2 * b)

    next_q = q_values(learners.target_layers, batch.next_obs, later.action)
    target = critic_target(batch, later, next_q, alpha)
    critic_loss, moves = _step_critics_(learners, batch, target, adam)

    # The actors follow the critics just improved.
    gradient, smaller = actor_gradient(
        learners, [layer[:, :b] for layer in activations], now, alpha
    )
    entropy, value = now.log_prob.mean(1).neg_(), smaller.mean(1)
    goal = config.target_entropy
    surplus = entropy - (-learners.shape.act_dim if goal is None else goal)
    moves = _step_actors_(learners, gradient, surplus, moves, adam)

    learners.targets.lerp_(learners.critics, config.tau * moves)
    learners.policy.lerp_(learners.actor, config.policy_tau * moves)
    learners.alive.copy_(moves)
    actor_loss = torch.addcmul(-value, alpha[:, 0], entropy, value=-1)
    metrics = [critic_loss, actor_loss, value, entropy, alpha[:, 0]]
    torch.stack(metrics, dim=1, out=learners.metrics)


def _step_critics_(
    learners: Learners, batch: Batch, target: Tensor, adam: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Make a step of the critics; return their loss, (p,), and which moved, (p, 1)."""
    rates, epsilon = adam
    gradient, loss = critic_gradient(
        learners.critic_layers, batch.obs_act, target, learners.shape.critic.width
    )
    moves = zero_nonfinite_(gradient, learners.alive)
    moments = (learners.critics_mean, learners.critics_square)
    adam_(learners.critics, moments, gradient, rates * moves, epsilon)
    return loss, moves


def _step_actors_(
    learners: Learners,
    gradient: Tensor,
    surplus: Tensor,
    moves: Tensor,
    adam: tuple[Tensor, Tensor],
) -> Tensor:
    """Make a step of actors and entropy coefficients; return which moved, (p, 1).

    Args:
        learners: Learners to update.
        gradient: (p, width) gradient of the actors' loss.
        surplus: (p,) entropy minus its target: the gradient of the log of alpha.
        moves: (p, 1) whether the critics moved.
        adam: Rates and epsilon of Adam.
    """
    rates, epsilon = adam
    gradient[:, learners.shape.actor.extra] = surplus
    moves = zero_nonfinite_(gradient, moves)
    moments = (learners.actor_mean, learners.actor_square)
    adam_(learners.actor, moments, gradient, rates * moves, epsilon)
    return moves


def q_values(layers: Sequence[Layer], obs: Tensor, action: Tensor) -> Tensor:
    """Return the (p, 2, b) values that both critics give to actions."""
    x = torch.cat([obs, action], dim=-1)
    return forward(layers, _repeat_for_both(x))[-1].view(len(obs), 2, -1)


def critic_target(
    batch: Batch, next_action: Sample, next_q: Tensor, alpha: Tensor
) -> Tensor:
    """Return the (p, b) target of both critics.

    Args:
        batch: Transitions.
        next_action: (p, b, a) actions in their next states.
        next_q: (p, 2, b) values that the target critics give to these actions.
        alpha: (p, 1) entropy coefficients.
    """
    value = next_q.amin(1).addcmul_(alpha, next_action.log_prob, value=-1)
    return torch.addcmul(batch.reward, batch.discount, value)


def critic_gradient(
    layers: Sequence[Layer], obs_act: Tensor, target: Tensor, width: int
) -> tuple[Tensor, Tensor]:
    """Return the gradient of the critics' loss, and the loss, (p,).

    The loss is half the squared error, averaged over the batch, summed over critics.

    Args:
        layers: Layers of both critics of each learner, 2 p networks.
        obs_act: (p, b, obs + act) states and actions.
        target: (p, b) targets.
        width: Length of a critic's row.
    """
    p, b = target.shape
    activations = forward(layers, _repeat_for_both(obs_act))
    error = activations[-1].view(p, 2, b) - target[:, None]
    loss = error.square().sum((1, 2)).mul_(0.5 / b)
    slope = error.mul_(1 / b).view(2 * p, b, 1)
    return backward(layers, activations, slope, width).view(p, -1), loss


def actor_gradient(
    learners: Learners, activations: Sequence[Tensor], sample: Sample, alpha: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradient of the actors' loss and the smaller Q, (p, b).

    Args:
        learners: Learners whose critics are updated already.
        activations: Activations of the actors in the states of the batch.
        sample: Actions drawn with these activations.
        alpha: (p, 1) entropy coefficients.
    """
    (p, b), critics = sample.log_prob.shape, learners.critic_layers
    x = torch.cat([activations[0], sample.action], dim=-1)
    through = forward(critics, _repeat_for_both(x))
    q = through[-1].view(p, 2, b)
    smaller, which = q.min(1, keepdim=True)
    slope = torch.zeros_like(q).scatter_(1, which, -1 / b).view(2 * p, b, 1)
    by_input = input_gradient(critics, through, slope).view(p, 2, b, -1).sum(1)
    action_slope = by_input[..., learners.shape.obs_dim :]
    output_slope = squash_gradient(sample, action_slope, alpha[..., None] / b)
    width = learners.shape.actor.width
    gradient = backward(learners.actor_layers, activations, output_slope, width)
    return gradient, smaller[:, 0]


def adam_rates(n_updates: Tensor, learning_rate: float) -> tuple[Tensor, Tensor]:
    """Return the rates of Adam's step number `n_updates`, counted from 1.

    Args:
        n_updates: (p, 1) number of this step.
        learning_rate: Step size.

    Returns:
        (p, 3) weights of the two moments and of the step, and (p, 1) epsilon, both
        corrected for moments that began at zero.
    """
    first, second = (-torch.expm1(n_updates * math.log(beta)) for beta in _BETAS)
    root = second.sqrt_()
    weights = [torch.full_like(root, 1 - beta) for beta in _BETAS]
    step = (root * -learning_rate).div_(first)
    return torch.cat([*weights, step], dim=1), root * _EPSILON


def adam_(
    params: Tensor,
    moments: tuple[Tensor, Tensor],
    gradient: Tensor,
    rates: Tensor,
    epsilon: Tensor,
) -> None:
    """Make a step of Adam in place; `gradient` is overwritten.

    A row of zeros in `rates` leaves that learner unchanged.
    """
    mean, square = moments
    for_mean, for_square, step = rates[:, :1], rates[:, 1:2], rates[:, 2:]
    mean.lerp_(gradient, for_mean)
    square.lerp_(gradient.square_(), for_square)
    torch.sqrt(square, out=gradient).add_(epsilon)
    torch.div(mean, gradient, out=gradient)
    params.addcmul_(gradient, step)


def zero_nonfinite_(gradient: Tensor, alive: Tensor) -> Tensor:
    """Return which living learners have a finite gradient; set the others' to zero."""
    moves = gradient.sum(1, keepdim=True).isfinite().logical_and_(alive)
    if gradient.is_cuda or not bool(moves.all()):  # `all` would make the host wait
        gradient.masked_fill_(~moves, 0.0)
    return moves


def _repeat_for_both(x: Tensor) -> Tensor:
    """Return (p, b, n) inputs twice, (2 p, b, n): once for each critic."""
    p, b, n = x.shape
    return x[:, None].expand(p, 2, b, n).reshape(2 * p, b, n)
