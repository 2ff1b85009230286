"""A run: one PPO learner with its robots, one iteration at a time."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from kaccess.base.types import Array
from kaccess.clone import Clone, Demonstrations
from kaccess.config import CloneConfig, PpoConfig
from kaccess.gpu.interface import TensorEnv
from kaccess.ppo.adopt import adopt, keep_normalization
from kaccess.ppo.algorithm import LOSSES, make_runner
from kaccess.ppo.policies import PpoPolicies
from kaccess.ppo.vector import NotFiniteError, RobotsEnv
from kaccess.sac import Checkpoint, Plan
from kaccess.sac.device import find_device
from kaccess.sac.streams import Stream, make_rng
from kaccess.sac.trainable import OneLearner

__all__ = ["Cloned", "PpoPlan", "PpoRun"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Cloned:
    """A clone of the guide that a learner begins as.

    Args:
        config: Settings of the clone.
        load: Returns the clone, and what it was shown. Called only if the run is new.
    """

    config: CloneConfig
    load: Callable[[], tuple[Clone, Demonstrations]]


@dataclass(frozen=True)
class PpoPlan(Plan):
    """The learner of a run, and how long it trains; see `Plan`.

    Args:
        initial_action: (act,) what a new policy does, more or less; by default 0.
        clone: Clone that it begins as, instead; by default none.
    """

    initial_action: Array | None = None
    clone: Cloned | None = None


class PpoRun(OneLearner):
    """One learner with many robots; `sac.loop.drive` trains it.

    Args:
        env: Environments of the robots.
        config: Settings of the learner.
        plan: Name, seed and number of steps of the learner.
        device: Device of the learner.
        checkpoint: Checkpoint to resume from; by default the run is new.

    Attributes:
        policies: Its current policy.
    """

    def __init__(
        self,
        env: TensorEnv,
        config: PpoConfig,
        plan: PpoPlan,
        *,
        device: str = "cpu",
        checkpoint: Checkpoint | None = None,
    ) -> None:
        super().__init__(plan, checkpoint)
        (self._name,), self._env = self.names, env
        progress = checkpoint.progress if checkpoint else {}
        self._n_episodes = int(progress.get("n_episodes", 0))
        self._last_return = float(progress.get("return", np.nan))
        self._device = find_device(device)
        self._robots = RobotsEnv(
            env, episode_steps=config.episode_steps, reward_scale=1 - config.gamma
        )
        self._steps_each = env.n_envs * config.rollout_steps
        self._random = self._make_random()
        with self._use_random():
            self._runner = make_runner(
                self._robots, config, self._device, initial_action=plan.initial_action
            )
        self._algorithm = self._runner.alg
        self.policies = PpoPolicies(
            self._algorithm.get_policy(),
            self._name,
            low=env.low,
            high=env.high,
            metadata=plan.metadata,
        )
        self._robots.reset(self._draw_env_seeds())
        if checkpoint:
            with checkpoint.explain():
                self._resume(checkpoint)
        elif plan.clone:
            with self._use_random():
                clone, shown = plan.clone.load()
                std = config.clone_std
                adopt(self._algorithm, clone, shown, plan.clone.config, std=std)
        if plan.clone:
            keep_normalization(self._algorithm)

    def _make_random(self) -> list[torch.Tensor]:
        """Return the states of torch's random numbers that the seed gives."""
        key = int(make_rng(self.seed, Stream.NETWORKS).integers(2**31))
        states = [torch.Generator().manual_seed(key).get_state()]
        if self._device.type == "cuda":
            on_device = torch.Generator(self._device).manual_seed(key)
            states.append(on_device.get_state())
        return states

    @contextmanager
    def _use_random(self) -> Iterator[None]:
        """Draw torch's random numbers from those of this run within this block."""
        devices = [self._device] if self._device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            torch.set_rng_state(self._random[0])
            for device in devices:
                torch.cuda.set_rng_state(self._random[1], device)
            yield
            self._random = [torch.get_rng_state()]
            self._random += [torch.cuda.get_rng_state(device) for device in devices]

    def _draw_env_seeds(self) -> list[int]:
        """Return a seed for each robot; they depend on the step."""
        rng = make_rng(self.seed, Stream.ENVIRONMENTS, self.step)
        return [int(seed) for seed in rng.integers(2**31, size=self._env.n_envs)]

    def advance(self) -> list[tuple[int, dict[str, float]]]:
        """Let all robots make their steps, and update the policy.

        Returns:
            A row of the curve of episodes: how many ended, their mean return and
            length, and the losses.
        """
        self._robots.finished.zero_()
        try:
            with self._use_random():
                self._runner.learn(1, init_at_random_ep_len=self.step == 0)
            self._require_finite()
        except NotFiniteError as error:
            self._stop(str(error))
            return []
        self.step += self._steps_each
        return self._describe_episodes()

    def _require_finite(self) -> None:
        models = (self._algorithm.actor, self._algorithm.critic)
        parameters = (each for model in models for each in model.parameters())
        if not all(torch.isfinite(each).all() for each in parameters):
            raise NotFiniteError("parameters")

    def _stop(self, what: str) -> None:
        message = (
            f"{self._name} stopped at step {self.step}: NaN or infinity in its {what}."
        )
        logger.error("%s", message)
        self.stopped[self._name] = message

    def _describe_episodes(self) -> list[tuple[int, dict[str, float]]]:
        n, returns, lengths = self._robots.finished.tolist()
        if not n:
            return []
        self._n_episodes += int(n)
        self._last_return = returns / n
        row: dict[str, float] = {
            "episode": self._n_episodes - 1,
            "return": self._last_return,
            "length": round(lengths / n),
        }
        row |= {f"{name}_loss": self._algorithm.losses[name] for name in LOSSES}
        row["std"] = self._algorithm.get_policy().output_std.mean().item()
        row["learning_rate"] = float(self._algorithm.learning_rate)
        return [(0, row)]

    def get_metrics(self) -> dict[str, float]:
        """Return the mean return of the last episodes; empty if none has ended."""
        known = np.isfinite(self._last_return)
        return {"return": self._last_return} if known else {}

    def get_progress(self) -> dict[str, Any]:
        """Return the counters of the run, as JSON holds them."""
        return {
            **self.get_counters(),
            "n_episodes": self._n_episodes,
            "learning_rate": self._algorithm.learning_rate,
            **self.get_metrics(),
        }

    def get_arrays(self) -> dict[str, np.ndarray]:
        """Return the rest of the state of the run, as arrays by name."""
        saved = self._algorithm.save()
        tensors = {f"random/{i}": each for i, each in enumerate(self._random)}
        for part in ("actor", "critic"):
            state = saved[f"{part}_state_dict"]
            tensors |= {f"{part}/{name}": each for name, each in state.items()}
        for number, state in saved["optimizer_state_dict"]["state"].items():
            tensors |= {f"adam/{number}/{name}": each for name, each in state.items()}
        arrays = {name: each.cpu().numpy() for name, each in tensors.items()}
        return arrays | self._robots.get_arrays()

    def _resume(self, checkpoint: Checkpoint) -> None:
        """Continue from the arrays of a checkpoint."""
        parts = ("actor", "critic")
        loaded = {
            f"{part}_state_dict": _to_tensors(checkpoint.select(part)) for part in parts
        }
        adam = self._algorithm.optimizer.state_dict()
        adam["state"] = {
            number: _to_tensors(checkpoint.select(f"adam/{number}"))
            for number in range(len(adam["param_groups"][0]["params"]))
        }
        adam["param_groups"][0]["lr"] = checkpoint.progress["learning_rate"]
        loaded["optimizer_state_dict"] = adam
        self._algorithm.load(loaded, None, True)
        states = checkpoint.select("random")
        if len(states) == len(self._random):  # else it began on another device
            self._random = [
                torch.from_numpy(states[str(i)].copy()) for i in range(len(states))
            ]
        own, env = checkpoint.select("run"), checkpoint.select("env")
        if not self._robots.set_arrays(own, env):
            logger.warning(
                "The environment's state cannot be stored (it has no `get_state`): "
                "continuing with new episodes."
            )


def _to_tensors(arrays: Mapping[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
