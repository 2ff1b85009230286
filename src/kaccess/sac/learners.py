"""The learners of a population: their parameters and optimisers, as tensors.

Every tensor has a leading axis of learners.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from kaccess.sac.networks import Layer, Layout
from kaccess.sac.streams import Stream, make_rng

__all__ = ["METRICS", "Learners", "Shape", "init_learners"]

METRICS = ("critic_loss", "actor_loss", "value", "entropy", "alpha")


@dataclass(frozen=True)
class Shape:
    """Sizes that all learners of a population share."""

    n_learners: int
    obs_dim: int
    act_dim: int
    hidden: tuple[int, ...]

    @property
    def actor(self) -> Layout:
        """Layout of an actor's row; last comes the log of the entropy coefficient."""
        return Layout((self.obs_dim, *self.hidden, 2 * self.act_dim), n_extra=1)

    @property
    def critic(self) -> Layout:
        """Layout of the row of one critic; a learner has two."""
        return Layout((self.obs_dim + self.act_dim, *self.hidden, 1))

    @property
    def row(self) -> int:
        """Length of a transition: s, a, r, discount, s'."""
        return 2 * self.obs_dim + self.act_dim + 2


@dataclass(frozen=True)
class Learners:
    """State of p learners; an update changes these tensors in place."""

    shape: Shape
    """Sizes of the population."""
    actor: Tensor
    """(p, width of an actor) parameters."""
    critics: Tensor
    """(p, 2 * width of a critic) parameters."""
    targets: Tensor
    """(p, 2 * width of a critic) parameters of the target critics."""
    policy: Tensor
    """(p, width of an actor) parameters of the policies: a running mean of `actor`."""
    actor_mean: Tensor
    """Adam's first moment of `actor`."""
    actor_square: Tensor
    """Adam's second moment of `actor`."""
    critics_mean: Tensor
    """Adam's first moment of `critics`."""
    critics_square: Tensor
    """Adam's second moment of `critics`."""
    n_updates: Tensor
    """(p, 1) updates so far, including those after a learner stopped."""
    alive: Tensor
    """(p, 1) whether the learner still learns."""
    metrics: Tensor
    """(p, len(METRICS)) metrics of the last update."""

    def tensors(self) -> dict[str, Tensor]:
        """Return the tensors by name."""
        names = (field.name for field in fields(self) if field.name != "shape")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def actor_layers(self) -> list[Layer]:
        """Layers of the actors."""
        return self.shape.actor.split_layers(self.actor)

    @cached_property
    def policy_layers(self) -> list[Layer]:
        """Layers of the policies."""
        return self.shape.actor.split_layers(self.policy)

    @cached_property
    def critic_layers(self) -> list[Layer]:
        """Layers of both critics of each learner, 2 p networks."""
        return self._split_pairs(self.critics)

    @cached_property
    def target_layers(self) -> list[Layer]:
        """Layers of both target critics of each learner, 2 p networks."""
        return self._split_pairs(self.targets)

    @cached_property
    def log_alpha(self) -> Tensor:
        """(p, 1) log of the entropy coefficients."""
        start = self.shape.actor.extra
        return self.actor[:, start : start + 1]

    def _split_pairs(self, rows: Tensor) -> list[Layer]:
        layout = self.shape.critic
        return layout.split_layers(rows.view(-1, layout.width))


def init_learners(
    shape: Shape,
    seeds: Sequence[int],
    device: torch.device | str = "cpu",
    *,
    initial_alpha: float = 1.0,
) -> Learners:
    """Return untrained learners; each depends on its own seed only."""
    actor, critics = (
        torch.as_tensor(rows, device=device).clone() for rows in _draw(shape, seeds)
    )
    actor[:, shape.actor.extra] = math.log(initial_alpha)
    p = shape.n_learners
    return Learners(
        shape=shape,
        actor=actor,
        critics=critics,
        targets=critics.clone(),
        policy=actor.clone(),
        actor_mean=torch.zeros_like(actor),
        actor_square=torch.zeros_like(actor),
        critics_mean=torch.zeros_like(critics),
        critics_square=torch.zeros_like(critics),
        n_updates=torch.zeros(p, 1, device=device),
        alive=torch.ones(p, 1, dtype=torch.bool, device=device),
        metrics=torch.full((p, len(METRICS)), torch.nan, device=device),
    )


def _draw(shape: Shape, seeds: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first parameters of the actors and of both critics, p rows each."""
    actors, critics = [], []
    for seed in seeds:
        rng = make_rng(seed, Stream.NETWORKS)
        actors.append(shape.actor.draw_initial(rng))
        critics.append(
            np.concatenate([shape.critic.draw_initial(rng) for _ in range(2)])
        )
    return np.stack(actors), np.stack(critics)
