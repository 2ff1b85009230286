"""Soft Actor-Critic for a population of independent learners, as one program.

Every tensor has a leading axis of learners, and nothing is ever summed over it: what
one learner sees changes no number of another. An update is, for all of them at once,

1. actions of the actor in the states s and s' of a batch from each learner's replay,
2. a step of both critics towards r + d (min Q'(s', a') - alpha log pi(a' | s')),
3. a step of the actor down alpha log pi(a | s) - min Q(s, a),
4. a step of the entropy coefficient alpha, and of the target critics Q'.

A transition brings its own discount d: gamma, or gamma^n over n steps. An episode cut
short by a time limit goes on in the target; only one that `terminated` ends there, with
d = 0. The order is that of Stable-Baselines3.

The functions `*_gradient` and `*_target` are pure; `update_` changes the learners in
place and without a look from the host, so that it can be a CUDA graph. A learner whose
gradient is not finite is left as it was, and marked as not alive.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from kaccess.config import SacConfig
from kaccess.sac.networks import (
    Layer,
    Layout,
    Sample,
    backward,
    forward,
    input_gradient,
    squash,
    squash_gradient,
)
from kaccess.sac.streams import Stream, rng_of

__all__ = ["METRICS", "Batch", "Learners", "Shape", "new_learners", "update_"]

METRICS = ("critic_loss", "actor_loss", "value", "entropy", "alpha")
_BETAS = (0.9, 0.999)  # of Adam: its paper's, and everyone's
_EPSILON = 1e-8


@dataclass(frozen=True)
class Shape:
    """Sizes that all learners of a population share."""

    n_learners: int
    obs_dim: int
    act_dim: int
    hidden: tuple[int, ...]

    @property
    def actor(self) -> Layout:
        """Row of an actor, which ends with the log of the entropy coefficient."""
        return Layout((self.obs_dim, *self.hidden, 2 * self.act_dim), n_extra=1)

    @property
    def critic(self) -> Layout:
        """Row of one of the two critics."""
        return Layout((self.obs_dim + self.act_dim, *self.hidden, 1))

    @property
    def row(self) -> int:
        """Numbers of a transition: s, a, r, discount, s'."""
        return 2 * self.obs_dim + self.act_dim + 2


@dataclass(frozen=True)
class Learners:
    """All that an update changes, p learners, each tensor in place."""

    shape: Shape
    """Sizes of the population."""
    actor: Tensor
    """(p, width of an actor)."""
    critics: Tensor
    """(p, 2 * width of a critic)."""
    targets: Tensor
    """(p, 2 * width of a critic)."""
    actor_mean: Tensor
    """Adam's first moment, as `actor`."""
    actor_square: Tensor
    """Adam's second moment, as `actor`."""
    critics_mean: Tensor
    """As `critics`."""
    critics_square: Tensor
    """As `critics`."""
    n_updates: Tensor
    """(p, 1) updates so far, those in which a learner stood still included."""
    alive: Tensor
    """(p, 1) whether the learner still learns."""
    metrics: Tensor
    """(p, len(METRICS)) figures of the last update."""

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors by name."""
        names = (field.name for field in fields(self) if field.name != "shape")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def actor_layers(self) -> list[Layer]:
        """Layers of the actors."""
        return self.shape.actor.layers(self.actor)

    @cached_property
    def critic_layers(self) -> list[Layer]:
        """Layers of both critics of each learner, 2 p networks."""
        return self._pairs(self.critics)

    @cached_property
    def target_layers(self) -> list[Layer]:
        """Layers of both target critics of each learner, 2 p networks."""
        return self._pairs(self.targets)

    @cached_property
    def log_alpha(self) -> Tensor:
        """(p, 1) log of the entropy coefficients."""
        start = self.shape.actor.extra
        return self.actor[:, start : start + 1]

    def _pairs(self, rows: Tensor) -> list[Layer]:
        layout = self.shape.critic
        return layout.layers(rows.view(-1, layout.width))


@dataclass(frozen=True)
class Batch:
    """Transitions of each learner: views of (p, b, row)."""

    obs: Tensor
    obs_act: Tensor
    reward: Tensor
    discount: Tensor
    next_obs: Tensor

    @classmethod
    def of(cls, rows: Tensor, shape: Shape) -> "Batch":
        """Take apart rows of s, a, r, discount, s'."""
        n_obs, n = shape.obs_dim, shape.obs_dim + shape.act_dim
        return cls(
            obs=rows[..., :n_obs],
            obs_act=rows[..., :n],
            reward=rows[..., n],
            discount=rows[..., n + 1],
            next_obs=rows[..., n + 2 :],
        )


def new_learners(
    shape: Shape,
    seeds: Sequence[int],
    device: torch.device | str = "cpu",
    *,
    initial_alpha: float = 1.0,
) -> Learners:
    """Return learners that know nothing; each depends on its own seed only."""
    actors, critics = [], []
    for seed in seeds:
        rng = rng_of(seed, Stream.NETWORKS)
        actors.append(shape.actor.initial(rng))
        critics.append([shape.critic.initial(rng) for _ in range(2)])
    actor = torch.as_tensor(np.stack(actors), device=device).clone()
    critic = torch.as_tensor(np.stack(critics), device=device).clone().flatten(1)
    actor[:, shape.actor.extra] = math.log(initial_alpha)
    p = shape.n_learners
    return Learners(
        shape=shape,
        actor=actor,
        critics=critic,
        targets=critic.clone(),
        actor_mean=torch.zeros_like(actor),
        actor_square=torch.zeros_like(actor),
        critics_mean=torch.zeros_like(critic),
        critics_square=torch.zeros_like(critic),
        n_updates=torch.zeros(p, 1, device=device),
        alive=torch.ones(p, 1, dtype=torch.bool, device=device),
        metrics=torch.full((p, len(METRICS)), torch.nan, device=device),
    )


def update_(learners: Learners, rows: Tensor, noise: Tensor, config: SacConfig) -> None:
    """Make one update of all learners, in place.

    Args:
        learners: The population.
        rows: (p, b, row) transitions of each learner.
        noise: (p, 2 b, a) normal numbers of each, for its actions in s and in s'.
        config: Settings of the update.
    """
    shape, b = learners.shape, rows.shape[1]
    batch = Batch.of(rows, shape)
    alpha = learners.log_alpha.exp()
    learners.n_updates.add_(1)
    rates, epsilon = adam_rates(learners.n_updates, config.learning_rate)

    # Actions in s and in s', from one pass of the actors.
    both = torch.cat([batch.obs, batch.next_obs], dim=1)
    activations = forward(learners.actor_layers, both)
    sample = squash(activations[-1], noise)
    now, later = sample.part(0, b), sample.part(b, 2 * b)

    # Critics
    next_q = q_values(learners.target_layers, batch.next_obs, later.action)
    target = critic_target(batch, later, next_q, alpha)
    gradient, loss = critic_gradient(
        learners.critic_layers, batch.obs_act, target, shape.critic.width
    )
    moves = keep_finite_(gradient, learners.alive)
    moments = (learners.critics_mean, learners.critics_square)
    adam_(learners.critics, moments, gradient, rates * moves, epsilon)

    # Actors, by the critics just improved, and the entropy coefficients
    gradient, smaller = actor_gradient(
        shape,
        actor=learners.actor_layers,
        critics=learners.critic_layers,
        activations=[layer[:, :b] for layer in activations],
        sample=now,
        alpha=alpha,
    )
    entropy = now.log_prob.mean(1).neg_()
    goal = config.target_entropy
    surplus = entropy - (-shape.act_dim if goal is None else goal)
    gradient[:, shape.actor.extra] = surplus
    moves = keep_finite_(gradient, moves)
    moments = (learners.actor_mean, learners.actor_square)
    adam_(learners.actor, moments, gradient, rates * moves, epsilon)

    learners.targets.lerp_(learners.critics, config.tau * moves)
    learners.alive.copy_(moves)
    value = smaller.mean(1)
    actor_loss = torch.addcmul(-value, alpha[:, 0], entropy, value=-1)
    figures = [loss, actor_loss, value, entropy, alpha[:, 0]]
    torch.stack(figures, dim=1, out=learners.metrics)


def q_values(layers: Sequence[Layer], obs: Tensor, action: Tensor) -> Tensor:
    """Return the (p, 2, b) values that both critics give to actions."""
    x = torch.cat([obs, action], dim=-1)
    return forward(layers, _for_both(x))[-1].view(len(obs), 2, -1)


def critic_target(
    batch: Batch, next_action: Sample, next_q: Tensor, alpha: Tensor
) -> Tensor:
    """Return the (p, b) value that both critics shall have.

    Args:
        batch: Transitions.
        next_action: Actions (p, b, a) in their next states.
        next_q: (p, 2, b) what the target critics say of these.
        alpha: (p, 1) entropy coefficients.
    """
    value = next_q.amin(1).addcmul_(alpha, next_action.log_prob, value=-1)
    return torch.addcmul(batch.reward, batch.discount, value)


def critic_gradient(
    layers: Sequence[Layer], obs_act: Tensor, target: Tensor, width: int
) -> tuple[Tensor, Tensor]:
    """Return the gradient of the critics' loss, and the loss, (p,).

    The loss is half the squared error, averaged over the batch, summed over the two.

    Args:
        layers: Of both critics of each learner, 2 p networks.
        obs_act: (p, b, obs + act).
        target: (p, b).
        width: Length of a critic's row.
    """
    p, b = target.shape
    activations = forward(layers, _for_both(obs_act))
    error = activations[-1].view(p, 2, b) - target[:, None]
    loss = error.square().sum((1, 2)).mul_(0.5 / b)
    slope = error.mul_(1 / b).view(2 * p, b, 1)
    return backward(layers, activations, slope, width).view(p, -1), loss


def actor_gradient(
    shape: Shape,
    *,
    actor: Sequence[Layer],
    critics: Sequence[Layer],
    activations: Sequence[Tensor],
    sample: Sample,
    alpha: Tensor,
) -> tuple[Tensor, Tensor]:
    """Return the gradient of the actors' loss and the smaller Q, (p, b).

    Args:
        shape: Sizes of the population.
        actor: Layers of the actors.
        critics: Layers of the critics, after their step.
        activations: Of the actors, in the states of the batch.
        sample: Actions that came of them.
        alpha: (p, 1) entropy coefficients.
    """
    p, b = sample.log_prob.shape
    x = torch.cat([activations[0], sample.action], dim=-1)
    through = forward(critics, _for_both(x))
    q = through[-1].view(p, 2, b)
    smaller, which = q.min(1, keepdim=True)
    slope = torch.zeros_like(q).scatter_(1, which, -1 / b).view(2 * p, b, 1)
    by_input = input_gradient(critics, through, slope).view(p, 2, b, -1).sum(1)
    action_slope = by_input[..., shape.obs_dim :]
    output_slope = squash_gradient(sample, action_slope, alpha[..., None] / b)
    gradient = backward(actor, activations, output_slope, shape.actor.width)
    return gradient, smaller[:, 0]


def adam_rates(n_updates: Tensor, learning_rate: float) -> tuple[Tensor, Tensor]:
    """Return the weights of Adam's step number `n_updates`, the first being 1.

    Args:
        n_updates: (p, 1).
        learning_rate: Step size.

    Returns:
        (p, 3) weights of the two moments and of the step, and (p, 1) epsilon, both
        with the correction for moments that began at zero.
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
    """Make a step of Adam in place; `gradient` is used up.

    A row of zeros in `rates` leaves that learner as it is.
    """
    mean, square = moments
    for_mean, for_square, step = rates[:, :1], rates[:, 1:2], rates[:, 2:]
    mean.lerp_(gradient, for_mean)
    square.lerp_(gradient.square_(), for_square)
    torch.sqrt(square, out=gradient).add_(epsilon)
    torch.div(mean, gradient, out=gradient)
    params.addcmul_(gradient, step)


def keep_finite_(gradient: Tensor, alive: Tensor) -> Tensor:
    """Return who of the living has a finite gradient; set the others' to zero."""
    moves = gradient.sum(1, keepdim=True).isfinite().logical_and_(alive)
    if gradient.is_cuda or not bool(moves.all()):  # a GPU is not asked: it would wait
        gradient.masked_fill_(~moves, 0.0)
    return moves


def _for_both(x: Tensor) -> Tensor:
    """Return (p, b, n) inputs twice, (2 p, b, n): once for each critic."""
    p, b, n = x.shape
    return x[:, None].expand(p, 2, b, n).reshape(2 * p, b, n)
