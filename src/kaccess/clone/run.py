"""A run: one clone, one round of watching and learning at a time."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from kaccess.base.types import Array
from kaccess.clone.clone import Clone, Demonstrations
from kaccess.clone.policies import NetworkPolicies
from kaccess.config import CloneConfig
from kaccess.sac import Checkpoint, Plan
from kaccess.sac.device import find_device
from kaccess.sac.streams import Stream, make_rng
from kaccess.sac.trainable import OneLearner

__all__ = ["ClonePlan", "CloneRun", "Show"]


class Show(Protocol):
    """Shows what to do."""

    low: Array
    """(act,) lower bounds of the actions."""
    high: Array
    """(act,) upper bounds."""
    obs_dim: int
    """Length of an observation."""

    def __call__(
        self, number: int, act: Callable[[Array], Array] | None
    ) -> Demonstrations:
        """Return the demonstrations of a round.

        Args:
            number: Number of the round.
            act: Policy that acts first, until the guide takes over; None for none.
        """
        ...

    def count_steps(self, number: int) -> int:
        """Return the control steps that a round simulates."""
        ...


@dataclass(frozen=True, kw_only=True)
class ClonePlan(Plan):
    """The learner of a run; see `Plan`.

    Args:
        show: Shows what to do.
    """

    show: Show


class CloneRun(OneLearner):
    """One clone; `sac.loop.drive` trains it.

    In the first round the guide acts alone. In each later one the clone acts first, for
    a random time, and the guide takes over. After each round the clone learns from
    all that it has been shown.

    Args:
        config: Settings of the learner.
        plan: Name, seed and guide of the learner.
        device: Device of the learner.
        checkpoint: Checkpoint to resume from; by default the run is new.
    """

    def __init__(
        self,
        config: CloneConfig,
        plan: ClonePlan,
        *,
        device: str = "cpu",
        checkpoint: Checkpoint | None = None,
    ) -> None:
        super().__init__(plan, checkpoint)
        self._config, self._show = config, plan.show
        self._shown: list[Demonstrations] = []
        self._metrics: dict[str, float] = {}
        self.clone = Clone(
            plan.show.obs_dim,
            len(plan.show.low),
            config,
            seed=self._draw_key(Stream.NETWORKS),
            device=find_device(device),
        )
        self.policies = NetworkPolicies(
            lambda: self.clone.network,
            self.names[0],
            low=plan.show.low,
            high=plan.show.high,
            metadata=plan.metadata,
        )
        if checkpoint:
            with checkpoint.explain():
                self._resume(checkpoint)

    def _draw_key(self, stream: Stream, number: int = 0) -> int:
        return int(make_rng(self.seed, stream, number).integers(2**31))

    def advance(self) -> list[tuple[int, dict[str, float]]]:
        """Watch the guide, and learn; return a row of the curve of episodes."""
        number = len(self._shown)
        shown = self._show(number, self.clone.act if number else None)
        if not number:
            self.clone.measure(shown)
        self._shown.append(shown)
        key = self._draw_key(Stream.UPDATES, number)
        loss = self.clone.learn(self.shown, seed=key)
        self.step += self._show.count_steps(number)
        self._metrics = {"loss": loss}
        return [(0, {"episode": number, "shown": len(shown), **self._metrics})]

    @property
    def shown(self) -> Demonstrations:
        """All that the clone has been shown."""
        return Demonstrations.join(self._shown)

    def get_metrics(self) -> dict[str, float]:
        """Return the error of the last round; empty before the first one."""
        return self._metrics

    def get_progress(self) -> dict[str, Any]:
        """Return the counters of the run, as JSON holds them."""
        return self.get_counters() | {"metrics": self._metrics}

    def get_arrays(self) -> dict[str, np.ndarray]:
        """Return the clone and what it was shown, as arrays by name."""
        arrays = {
            f"clone/{name}": each for name, each in self.clone.get_arrays().items()
        }
        for number, shown in enumerate(self._shown):
            for name, each in vars(shown).items():
                arrays[f"shown/{number}/{name}"] = each.astype(np.float32)
        return arrays

    def _resume(self, checkpoint: Checkpoint) -> None:
        self._metrics = dict(checkpoint.progress["metrics"])
        self._shown = read_shown(checkpoint)
        self.clone.set_arrays(checkpoint.select("clone"))


def read_shown(checkpoint: Checkpoint) -> list[Demonstrations]:
    """Return the demonstrations of a checkpoint, round by round."""
    n = len({name.split("/")[0] for name in checkpoint.select("shown")})
    return [Demonstrations(**checkpoint.select(f"shown/{i}")) for i in range(n)]


def describe_run(config: CloneConfig, plan: ClonePlan) -> Mapping[str, Any]:
    """Return the settings that must be the same to resume a run, as JSON holds them."""
    return {
        "algorithm": "clone",
        **asdict(config),
        "names": list(plan.names),
        "seeds": list(plan.seeds),
        "meta": dict(plan.metadata),
    }
