"""Environments that take and return tensors, on any device."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from kaccess.base.types import Array

__all__ = ["TensorEnv", "TensorOutcome"]


@dataclass(frozen=True)
class TensorOutcome:
    """Result of a step of n environments, on their device."""

    obs: Tensor
    """(n, obs) observations in which to act next."""
    rewards: Tensor
    """(n,) rewards."""
    done: Tensor
    """(n,) whether the episode ended, by termination or time limit."""
    time_outs: Tensor
    """(n,) whether it ended by the time limit, so that more would have followed."""
    final_obs: Tensor
    """(n, obs) observations after the step, before any reset."""


class TensorEnv(Protocol):
    """n environments that take and return tensors on their device.

    Attributes:
        n_envs: Number of environments.
        obs_dim: Length of an observation.
        act_dim: Length of an action.
        low: (act,) lower bounds of the actions.
        high: (act,) upper bounds.
        device: Device of the tensors.
    """

    n_envs: int
    obs_dim: int
    act_dim: int
    low: Array
    high: Array
    device: torch.device

    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Start all episodes, each with its own seed; return observations, (n, obs)."""
        ...

    def step(self, actions: Tensor) -> TensorOutcome:
        """Step with actions, (n, act); those beyond -1 and 1 are clipped."""
        ...

    def set_lengths(self, lengths: Tensor) -> None:
        """Make so many steps of each episode count as made, (n,), if possible."""
        ...

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state that the next step depends on; empty if not available."""
        ...

    def set_state(self, state: Mapping[str, np.ndarray]) -> bool:
        """Put back a state, after a reset; return whether that is possible."""
        ...
