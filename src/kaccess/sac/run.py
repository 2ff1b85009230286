"""A run: a population in its environments, one step at a time."""

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from kaccess.base.types import Array, BoolArray
from kaccess.config import SacConfig
from kaccess.sac.checkpoint import (
    Checkpoint,
    restore_population,
    snapshot_population,
)
from kaccess.sac.learners import METRICS, Shape
from kaccess.sac.plan import Plan
from kaccess.sac.policies import Policies
from kaccess.sac.population import Experience, Population
from kaccess.sac.returns import MultiStep
from kaccess.sac.streams import Stream, make_rng
from kaccess.sac.trainable import InSteps
from kaccess.sac.vector import Envs, Outcome

__all__ = ["Episode", "Run"]

logger = logging.getLogger(__name__)

Episode = tuple[int, dict[str, float]]
"""A learner, and the metrics of an episode that it finished."""

_RECENT = 10  # episodes of each learner that the mean return covers
_STATE = ("obs", "actions", "returns", "lengths", "episodes", "recent")


class Run(InSteps):
    """p learners, each in its own block of the environments.

    Args:
        envs: Environments.
        config: Settings of the learners.
        plan: Names, seeds, number of steps and warm-up of the learners.
        device: Device of the learners.
        checkpoint: Checkpoint to resume from; by default the run is new.

    Attributes:
        population: Learners on their device.
        policies: Their current policies.
        step: Steps that each learner has made.
        n_evaluations: Tests so far.
        stopped: Learners that stopped because of a number that is not finite: a message
            for each, by name.
    """

    def __init__(
        self,
        envs: Envs,
        config: SacConfig,
        plan: Plan,
        *,
        device: str = "cpu",
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.envs, self.config, self._warm_up = envs, config, plan.warm_up
        self.names, self.seeds = list(plan.names), list(plan.seeds)
        self._each = config.envs_per_learner
        progress = checkpoint.progress if checkpoint else {}
        self.step = int(progress.get("step", 0))
        self.n_evaluations = int(progress.get("n_evaluations", 0))
        self.stopped: dict[str, str] = dict(progress.get("stopped", {}))
        self.population = self._make_population(max(plan.n_steps, self.step), device)
        self.policies = Policies(
            self.population.learners,
            plan.names,
            low=envs.low,
            high=envs.high,
            metadata=plan.metadata,
        )
        self._multi_step = MultiStep(config.n_return_steps)
        if checkpoint:
            with checkpoint.explain():
                self._resume(checkpoint)
        else:
            self._episodes = np.zeros(len(self.names), dtype=np.int64)
            self._recent = np.full((len(self.names), _RECENT), np.nan)
            self._start()

    def _make_population(self, n_steps: int, device: str) -> Population:
        """Return a population that can store all transitions of so many steps."""
        envs, config = self.envs, self.config
        shape = Shape(len(self.names), envs.obs_dim, envs.act_dim, tuple(config.hidden))
        needed = -(-n_steps // self._each) * self._each
        return Population(
            shape,
            config,
            seeds=self.seeds,
            device=device,
            capacity=min(config.capacity, max(needed, self._each)),
        )

    def _start(self) -> None:
        """Begin all episodes."""
        n = len(self.names) * self._each
        self._multi_step.clear()
        self._returns, self._lengths = np.zeros(n), np.zeros(n, dtype=np.int64)
        obs = self.envs.reset(self._draw_env_seeds())
        self._stop_nonfinite(obs, "observation")
        self._obs = obs
        self._actions = self._act(np.ones(n, dtype=bool))

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Continue from the arrays of a checkpoint."""
        restore_population(self.population, checkpoint)
        state = checkpoint.select("run")
        for name in _STATE:
            setattr(self, f"_{name}", state[name].copy())
        self._multi_step.set_state(checkpoint.select("multi-step"))
        if self._warm_up:
            self._warm_up.set_state(checkpoint.select("warm-up"))
        self.envs.reset(self._draw_env_seeds())
        if not self.envs.set_state(checkpoint.select("env"), state["ended"]):
            logger.warning(
                "The environment's state cannot be stored (it has no `get_state`): "
                "continuing with new episodes."
            )
            self._start()

    @property
    def alive(self) -> BoolArray:
        """(p,) which learners still learn."""
        return np.array([name not in self.stopped for name in self.names])

    def advance(self) -> list[Episode]:
        """Make one step in each environment, and the updates that belong to it.

        Returns:
            Episodes that ended with this step.
        """
        if self.step >= self.config.n_warmup_steps:
            self.population.update()
        outcome = self.envs.step(self._actions)
        self.step += self._each
        self._check_outcome(outcome)
        experience = self._add_step(outcome)
        self._obs = outcome.obs
        self._actions = self._act(outcome.done | ~outcome.real, experience)
        self._check_learners()
        return self._finish_episodes(outcome)

    def get_metrics(self) -> dict[str, float]:
        """Return the mean return of the last episodes; empty if none has ended."""
        recent = self._recent[self.alive]
        known = recent[~np.isnan(recent)]
        return {"return": float(known.mean())} if len(known) else {}

    def get_progress(self) -> dict[str, Any]:
        """Return the counters of the run, as JSON holds them."""
        return {
            "step": self.step,
            "n_evaluations": self.n_evaluations,
            "stopped": self.stopped,
        }

    def get_arrays(self) -> dict[str, np.ndarray]:
        """Return the rest of the state of the run, as arrays by name."""
        arrays = snapshot_population(self.population)
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

    def _act(self, began: BoolArray, experience: Experience | None = None) -> Array:
        """Store the experience, and return the next actions."""
        warming_up = self.step < self.config.n_warmup_steps
        actions = self.population.exchange(self._obs, experience, random=warming_up)
        if warming_up and self._warm_up:
            return self._warm_up.act(self._obs, actions, began)
        return actions

    def _draw_env_seeds(self) -> list[int]:
        """Return a seed for each environment; they depend on the step."""
        draws = [
            make_rng(seed, Stream.ENVIRONMENTS, self.step).integers(
                2**31, size=self._each
            )
            for seed in self.seeds
        ]
        return [int(seed) for seed in np.concatenate(draws)]

    def _add_step(self, outcome: Outcome) -> Experience | None:
        """Add a step to the multi-step returns; return the transitions now complete."""
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

    def _check_outcome(self, outcome: Outcome) -> None:
        """Stop the learners whose environments returned NaN or infinity."""
        total = outcome.rewards + outcome.obs.sum(1) + outcome.next_obs.sum(1)
        if np.isfinite(total).all():
            return
        self._stop_nonfinite(outcome.rewards, "reward")
        self._stop_nonfinite(outcome.next_obs, "observation")
        self._stop_nonfinite(outcome.obs, "observation")

    def _check_learners(self) -> None:
        """Stop the learners whose parameters or actions are not finite."""
        for p in np.flatnonzero(self.alive & ~self.population.alive).tolist():
            self._stop(p, self.population.find_nonfinite(p))

    def _stop_nonfinite(self, values: Array, what: str) -> None:
        """Stop the learners that have NaN or infinity among values, (n, ...)."""
        finite = np.isfinite(values).reshape(len(self.names), -1).all(axis=1)
        for p in np.flatnonzero(~finite).tolist():
            self._stop(p, what)

    def _stop(self, learner: int, what: str) -> None:
        name = self.names[learner]
        if name in self.stopped:
            return
        message = f"{name} stopped at step {self.step}: NaN or infinity in its {what}."
        logger.error("%s The other learners continue.", message)
        self.stopped[name] = message
        self.population.halt(learner)

    def _finish_episodes(self, outcome: Outcome) -> list[Episode]:
        """Add up rewards and return the episodes that ended."""
        self._returns += np.where(outcome.real, outcome.rewards, 0)
        self._lengths += outcome.real
        slots = np.flatnonzero(outcome.done)
        if not len(slots):
            return []
        episodes = list(self._describe_episodes(slots))
        self._returns[slots], self._lengths[slots] = 0, 0
        return episodes

    def _describe_episodes(self, slots: Iterable[int]) -> Iterable[Episode]:
        """Yield the episodes of these environments; stopped learners have none."""
        metrics = self.population.learners.metrics.cpu().numpy()
        for slot in slots:
            p = int(slot) // self._each
            if self.names[p] in self.stopped:
                continue
            values: dict[str, float] = {
                "episode": int(self._episodes[p]),
                "return": float(self._returns[slot]),
                "length": int(self._lengths[slot]),
            }
            values |= zip(METRICS, metrics[p].tolist(), strict=True)
            self._recent[p, self._episodes[p] % _RECENT] = self._returns[slot]
            self._episodes[p] += 1
            yield p, values
