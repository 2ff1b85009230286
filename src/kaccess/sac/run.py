"""A run: a population in its environments, one step at a time."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from kaccess.base.types import Array, BoolArray
from kaccess.config import SacConfig
from kaccess.sac.checkpoint import Checkpoint, restore, snapshot
from kaccess.sac.population import Experience, Population
from kaccess.sac.returns import MultiStep
from kaccess.sac.sac import METRICS, Shape
from kaccess.sac.streams import Stream, rng_of
from kaccess.sac.vector import Envs, Outcome

__all__ = ["Episode", "Run", "WarmUp"]

logger = logging.getLogger(__name__)

Episode = tuple[int, dict[str, float]]
"""A learner and the figures of an episode that it has finished."""

_RECENT = 10  # episodes of each learner, whose return the progress shows


class WarmUp(Protocol):
    """What to do before learning begins, if not anything at random."""

    def act(self, obs: Array, random: Array, began: BoolArray) -> Array:
        """Return actions, (n, act) in [-1, 1].

        Args:
            obs: (n, obs) in which to act.
            random: (n, act) in [-1, 1], drawn uniformly.
            began: (n,) whether an episode has just begun.
        """

    def get_state(self) -> dict[str, np.ndarray]:
        """Return all that the next actions depend on."""

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `get_state` returned."""


class Run:
    """P learners, each in a block of the environments.

    Args:
        envs: The environments.
        config: Settings of the learners.
        names: Of the learners.
        seeds: Of the learners.
        n_steps: Steps that each learner will make.
        device: Where they learn.
        warm_up: What they do before they learn; by default anything.

    Attributes:
        step: Steps that each learner has made.
        n_evaluations: Evaluations so far.
        stopped: Learners that broke down, and what happened, by name.
        between_steps: Whether no step is under way, so that all is consistent.
    """

    def __init__(
        self,
        envs: Envs,
        config: SacConfig,
        *,
        names: Sequence[str],
        seeds: Sequence[int],
        n_steps: int,
        device: str,
        warm_up: WarmUp | None = None,
    ) -> None:
        self.envs, self.config, self._warm_up = envs, config, warm_up
        self.names, self.seeds = list(names), list(seeds)
        self._each = config.envs_per_learner
        shape = Shape(len(names), envs.obs_dim, envs.act_dim, tuple(config.hidden))
        needed = -(-n_steps // self._each) * self._each
        self.population = Population(
            shape,
            config,
            seeds=seeds,
            device=device,
            capacity=min(config.capacity, max(needed, self._each)),
        )
        self._multi_step = MultiStep(config.n_return_steps)
        self.step, self.n_evaluations = 0, 0
        self.stopped: dict[str, str] = {}
        self.between_steps = True
        self._episodes = np.zeros(len(names), dtype=np.int64)
        self._recent = np.full((len(names), _RECENT), np.nan)

    @property
    def alive(self) -> BoolArray:
        """(p,) which learners still learn."""
        return np.array([name not in self.stopped for name in self.names])

    def start(self) -> None:
        """Begin all episodes."""
        n = len(self.names) * self._each
        self._multi_step.clear()
        self._returns, self._lengths = np.zeros(n), np.zeros(n, dtype=np.int64)
        obs = self.envs.reset(self._env_seeds())
        self._stop_all(self._broken(obs), "observation")
        self._obs = obs
        self._actions = self._act(np.ones(n, dtype=bool))

    def advance(self) -> list[Episode]:
        """Make one step in each environment, and the updates that belong to it."""
        self.between_steps = False
        if self.step >= self.config.warmup_steps:
            self.population.update()
        outcome = self.envs.step(self._actions)
        self.step += self._each
        self._look_at(outcome)
        experience = self._experience(outcome)
        self._obs = outcome.obs
        self._actions = self._act(outcome.done | ~outcome.real, experience)
        self._look_at_learners()
        episodes = self._finished(outcome)
        self.between_steps = True
        return episodes

    def figures(self) -> dict[str, float]:
        """Return the mean return of the last episodes, once there are some."""
        recent = self._recent[self.alive]
        known = recent[~np.isnan(recent)]
        return {"return": float(known.mean())} if len(known) else {}

    def progress(self) -> dict[str, Any]:
        """Return the counters of the run, as JSON can hold them."""
        return {
            "step": self.step,
            "n_evaluations": self.n_evaluations,
            "stopped": self.stopped,
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that the run depends on, by name."""
        arrays = snapshot(self.population)
        arrays |= {f"run/{name}": getattr(self, f"_{name}") for name in _STATE}
        arrays["run/ended"] = self.envs.ended
        parts = {
            "env": self.envs.get_state(),
            "multi-step": self._multi_step.get_state(),
            "warm-up": self._warm_up.get_state() if self._warm_up else {},
        }
        for part, state in parts.items():
            arrays |= {f"{part}/{name}": each for name, each in state.items()}
        return arrays

    def go_on(self, checkpoint: Checkpoint) -> None:
        """Go on from a checkpoint."""
        restore(self.population, checkpoint)
        progress, state = checkpoint.progress, checkpoint.part("run")
        self.step = int(progress["step"])
        self.n_evaluations = int(progress["n_evaluations"])
        self.stopped = dict(progress["stopped"])
        for name in _STATE:
            setattr(self, f"_{name}", state[name].copy())
        self._multi_step.set_state(checkpoint.part("multi-step"))
        if self._warm_up:
            self._warm_up.set_state(checkpoint.part("warm-up"))
        self.envs.reset(self._env_seeds())
        if not self.envs.set_state(checkpoint.part("env"), state["ended"]):
            logger.warning(
                "The environment's state cannot be stored (it has no `get_state`): "
                "going on with new episodes."
            )
            self.start()

    def _act(self, began: BoolArray, experience: Experience | None = None) -> Array:
        """Hand in what was experienced, and return what to do next."""
        warming_up = self.step < self.config.warmup_steps
        actions = self.population.exchange(self._obs, experience, random=warming_up)
        if warming_up and self._warm_up:
            return self._warm_up.act(self._obs, actions, began)
        return actions

    def _env_seeds(self) -> list[int]:
        """Return a seed for each environment; others when it starts over later."""
        draws = [
            rng_of(seed, Stream.ENVIRONMENTS, self.step).integers(
                2**31, size=self._each
            )
            for seed in self.seeds
        ]
        return [int(seed) for seed in np.concatenate(draws)]

    def _experience(self, outcome: Outcome) -> Experience | None:
        """Return the transitions of which enough steps are known by now."""
        alive = np.repeat(self.alive, self._each)
        gamma = np.float32(self.config.gamma)
        step = Experience(
            obs=self._obs,
            actions=self._actions,
            rewards=outcome.rewards,
            discount=gamma * ~outcome.terminated,
            next_obs=outcome.next_obs,
            kept=outcome.real & alive,
        )
        known = self._multi_step.add(step, outcome.done)
        return replace(known, kept=known.kept & alive) if known else None

    def _look_at(self, outcome: Outcome) -> None:
        """Stop the learners whose environments gave what is not a number."""
        total = outcome.rewards + outcome.obs.sum(1) + outcome.next_obs.sum(1)
        if np.isfinite(total).all():
            return
        for what, values in (
            ("reward", outcome.rewards[:, None]),
            ("observation", outcome.next_obs),
            ("observation", outcome.obs),
        ):
            self._stop_all(self._broken(values), what)

    def _look_at_learners(self) -> None:
        """Stop the learners that cannot learn, or act."""
        for p in np.flatnonzero(self.alive & ~self.population.alive).tolist():
            self._stop(p, self.population.broken_part(p))

    def _broken(self, values: Array) -> BoolArray:
        """Return which learners have any value, (n, ...), that is not finite."""
        finite = np.isfinite(values).reshape(len(self.names), -1)
        return np.array([not each.all() for each in finite])

    def _stop_all(self, learners: BoolArray, what: str) -> None:
        for p in np.flatnonzero(learners).tolist():
            self._stop(p, what)

    def _stop(self, learner: int, what: str) -> None:
        name = self.names[learner]
        if name in self.stopped:
            return
        message = f"{name} stopped at step {self.step}: NaN or infinity in its {what}."
        logger.error("%s The others go on.", message)
        self.stopped[name] = message
        self.population.halt(learner)

    def _finished(self, outcome: Outcome) -> list[Episode]:
        """Add up rewards and return the episodes that ended."""
        self._returns += np.where(outcome.real, outcome.rewards, 0)
        self._lengths += outcome.real
        slots = np.flatnonzero(outcome.done)
        if not len(slots):
            return []
        episodes = list(self._describe(slots))
        self._returns[slots], self._lengths[slots] = 0, 0
        return episodes

    def _describe(self, slots: Iterable[int]) -> Iterable[Episode]:
        metrics = self.population.learners.metrics.cpu().numpy()
        for slot in slots:
            p = int(slot) // self._each
            if self.names[p] in self.stopped:
                continue
            figures: dict[str, float] = {
                "episode": int(self._episodes[p]),
                "return": float(self._returns[slot]),
                "length": int(self._lengths[slot]),
            }
            figures |= zip(METRICS, metrics[p].tolist(), strict=True)
            self._recent[p, self._episodes[p] % _RECENT] = self._returns[slot]
            self._episodes[p] += 1
            yield p, figures


_STATE = ("obs", "actions", "returns", "lengths", "episodes", "recent")
