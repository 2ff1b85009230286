"""The arguments of a training: its learners, its folder, its tests."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray
from kaccess.sac.trainable import PolicySet

__all__ = ["CurveTests", "Evaluate", "Plan", "RunFolder", "WarmUp"]

Evaluate = Callable[[PolicySet, int], Mapping[str, Array]]
"""Called with (policies, step); returns scores of all p learners by name, (p,) each."""


class WarmUp(Protocol):
    """Chooses actions before learning begins, instead of random ones."""

    def act(self, obs: Array, random: Array, began: BoolArray) -> Array:
        """Return actions, (n, act) in [-1, 1].

        Args:
            obs: (n, obs) observations in which to act.
            random: (n, act) random actions, uniform in [-1, 1].
            began: (n,) whether a new episode has just begun.
        """

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state that the next actions depend on."""

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from what `get_state` returned."""


@dataclass(frozen=True)
class Plan:
    """The learners of a population, and how long they train.

    Args:
        names: Learner names, which are also their folders, such as `ka/seed-0`.
        seeds: Seed of each learner. A learner depends only on its own seed and
            environments.
        n_steps: Total steps of each learner, over all its environments.
        warm_up: Actions of the first `warmup_steps`; by default random.
        metadata: Facts for the policy files, such as robot and task, as JSON holds
            them. They must be the same to resume the run.

    Raises:
        InputError: If names, seeds or steps are invalid.
    """

    names: Sequence[str]
    seeds: Sequence[int]
    n_steps: int
    warm_up: WarmUp | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.names or len(set(self.names)) != len(self.names):
            raise InputError(
                "`names` must be one or more different learner names, got "
                f"{list(self.names)}."
            )
        if len(self.seeds) != len(self.names) or min(self.seeds) < 0:
            raise InputError(
                "`seeds` must be one number of 0 or more for each of the "
                f"{len(self.names)} learners, got {list(self.seeds)}."
            )
        if self.n_steps < 1:
            raise InputError(f"`n_steps` must be at least 1, got {self.n_steps}.")


@dataclass(frozen=True)
class RunFolder:
    """The folder of a run, and how it is written.

    Args:
        path: Folder.
        checkpoint: Name of the checkpoint file, without its ending.
        checkpoint_every: Time between two checkpoints [s].
        first_checkpoint: Time until the first checkpoint, if that is less [s].
        tensorboard: Whether to write for TensorBoard, if it is installed.
    """

    path: Path
    checkpoint: str = "checkpoint"
    checkpoint_every: float = 600.0
    first_checkpoint: float = 60.0
    tensorboard: bool = True


@dataclass(frozen=True)
class CurveTests:
    """Tests of all learners during training; scores go to `evaluation.csv`.

    Args:
        evaluate: Function that tests all policies.
        every: Steps of a learner between two tests.
        best_by: Scores that decide which policy of a learner is kept as its best, most
            important first; higher is better. By default none is kept.
    """

    evaluate: Evaluate
    every: int = 15_000
    best_by: Sequence[str] = ()
