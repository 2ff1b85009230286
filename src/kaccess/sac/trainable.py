"""What the training loop needs of a run; it is the same for every algorithm."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from kaccess.base.types import Array, BoolArray
from kaccess.policies.policy import Policy

__all__ = ["PolicySet", "Trainable"]


class PolicySet(Protocol):
    """The current policies of p learners."""

    @property
    def names(self) -> list[str]:
        """Learner names."""
        ...

    def act_all(self, obs: Array) -> Array:
        """Return actions, (p, n, act), for observations, (p, n, obs)."""
        ...

    def __getitem__(self, index: int | str) -> Policy: ...


class Trainable(Protocol):
    """A run of p learners; see `Run` for its attributes."""

    step: int
    n_evaluations: int
    between_steps: bool

    @property
    def names(self) -> list[str]:
        """Learner names."""
        ...

    @property
    def policies(self) -> PolicySet:
        """Their current policies."""
        ...

    @property
    def alive(self) -> BoolArray:
        """(p,) which learners still learn."""
        ...

    def advance(self) -> Iterable[tuple[int, dict[str, float]]]:
        """Make one step or iteration; return rows of the curve of episodes."""
        ...

    def make_step(self) -> AbstractContextManager[None]:
        """Change the run and its curves together within this block."""
        ...

    def get_metrics(self) -> dict[str, float]:
        """Return metrics of the last episodes."""
        ...

    def get_progress(self) -> dict[str, Any]:
        """Return the counters of the run, as JSON holds them."""
        ...

    def get_arrays(self) -> dict[str, np.ndarray]:
        """Return the rest of the state of the run, as arrays by name."""
        ...
