"""What the training loop needs of a run; it is the same for every algorithm."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from kaccess.base.types import Array, BoolArray
from kaccess.policies.policy import Policy

if TYPE_CHECKING:  # both import this module
    from kaccess.sac.checkpoint import Checkpoint
    from kaccess.sac.plan import Plan

__all__ = ["InSteps", "OneLearner", "PolicySet", "Trainable"]


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


class InSteps:
    """A run that can be stored between two steps only.

    Attributes:
        between_steps: Whether the run and its curves are at the end of a step, so that
            the run can be stored.
    """

    between_steps = True

    @contextmanager
    def make_step(self) -> Iterator[None]:
        """Change the run and its curves together within this block.

        If it fails, one may be ahead of the other, and the run must not be stored.
        """
        self.between_steps = False
        yield
        self.between_steps = True


class OneLearner(InSteps):
    """What runs of a single learner have in common.

    Args:
        plan: Name and seed of the learner.
        checkpoint: Checkpoint to resume from; None if the run is new.

    Attributes:
        names: The learner's name.
        seed: Its seed.
        step: Steps that were made for it.
        n_evaluations: Tests so far.
        stopped: A message, by name, if it stopped because of a number that is not
            finite.
    """

    def __init__(self, plan: "Plan", checkpoint: "Checkpoint | None") -> None:
        (name,), (self.seed,) = plan.names, plan.seeds
        self.names = [name]
        progress = checkpoint.progress if checkpoint else {}
        self.step = int(progress.get("step", 0))
        self.n_evaluations = int(progress.get("n_evaluations", 0))
        self.stopped: dict[str, str] = dict(progress.get("stopped", {}))

    @property
    def alive(self) -> BoolArray:
        """(1,) whether the learner still learns."""
        return np.array([not self.stopped])

    def get_counters(self) -> dict[str, Any]:
        """Return the counters that every run has, as JSON holds them."""
        return {
            "step": self.step,
            "n_evaluations": self.n_evaluations,
            "stopped": self.stopped,
        }
