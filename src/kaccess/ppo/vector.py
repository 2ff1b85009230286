"""Robots as rsl_rl sees them: tensors in, tensors out, on any device.

`RobotsEnv` is rsl_rl's interface. It asks a `TensorEnv`, which may keep everything on a
GPU. `HostEnv` is the one for Gymnasium's vector environments, which live on the CPU.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from rsl_rl.env import VecEnv
from tensordict import TensorDict
from torch import Tensor

from kaccess.base.errors import InputError
from kaccess.gpu.interface import TensorEnv, TensorOutcome
from kaccess.sac.vector import Envs

__all__ = [
    "GROUP",
    "HostEnv",
    "NotFiniteError",
    "RobotsEnv",
]

GROUP = "policy"  # rsl_rl's name of the observations of actor and critic


class NotFiniteError(Exception):
    """NaN or infinity in the thing that it names."""


class HostEnv:
    """A vector environment of Gymnasium as a `TensorEnv`.

    Args:
        env: Vector environment that does not reset in the step after an episode.
        device: Device of the tensors.

    Raises:
        InputError: If its spaces or its autoreset mode cannot be used.
    """

    def __init__(
        self, env: "VectorEnv[Any, Any, Any]", device: torch.device | str = "cpu"
    ) -> None:
        self._envs = Envs(env, env.num_envs)
        if env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP:
            raise InputError(
                "`env` must not reset in the step after an episode, because PPO learns "
                "from every step. Make it with AutoresetMode.SAME_STEP."
            )
        self.n_envs, self.device = env.num_envs, torch.device(device)
        self.obs_dim, self.act_dim = self._envs.obs_dim, self._envs.act_dim
        self.low, self.high = self._envs.low, self._envs.high

    def reset(self, seeds: Sequence[int]) -> Tensor:
        """Start all episodes, each with its own seed; return observations, (n, obs)."""
        return self._send(self._envs.reset(seeds))

    def step(self, actions: Tensor) -> TensorOutcome:
        """Step with actions, (n, act); those beyond -1 and 1 are clipped."""
        outcome = self._envs.step(actions.clamp(-1.0, 1.0).cpu().numpy())
        return TensorOutcome(
            obs=self._send(outcome.obs),
            rewards=self._send(outcome.rewards),
            done=self._send(outcome.done),
            time_outs=self._send(outcome.done & ~outcome.terminated),
            final_obs=self._send(outcome.next_obs),
        )

    def set_lengths(self, lengths: Tensor) -> None:
        """Make so many steps of each episode count as made, (n,), if possible."""
        state = self._envs.get_state()
        if "steps" in state:
            state["steps"] = lengths.cpu().numpy().astype(state["steps"].dtype)
            self._envs.set_state(state, self._envs.ended)

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state that the next step depends on; empty if not available."""
        return self._envs.get_state()

    def set_state(self, state: Mapping[str, np.ndarray]) -> bool:
        """Put back a state, after a reset; return whether that is possible."""
        return self._envs.set_state(state, self._envs.ended)

    def _send(self, array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


class RobotsEnv(VecEnv):  # type: ignore[misc]  # rsl_rl comes without types
    """Environments as rsl_rl sees them, with the returns of their episodes.

    Args:
        env: Environments.
        episode_steps: Steps in an episode.
        reward_scale: Factor of the rewards that the learner sees. Values should be
            about 1, because rsl_rl clips their changes.

    Attributes:
        finished: Number, summed returns and summed lengths of the episodes that ended
            since it was last set to 0.
    """

    def __init__(
        self, env: TensorEnv, *, episode_steps: int, reward_scale: float = 1.0
    ) -> None:
        self._env, self._scale = env, reward_scale
        self.num_envs, self.num_actions = env.n_envs, env.act_dim
        self.max_episode_length, self.device = episode_steps, env.device
        self.cfg: dict[str, Any] = {}
        self._obs = torch.zeros(env.n_envs, env.obs_dim, device=env.device)
        self._returns = torch.zeros(env.n_envs, dtype=torch.float64, device=env.device)
        self._lengths = torch.zeros(env.n_envs, dtype=torch.int64, device=env.device)
        self.finished = torch.zeros(3, dtype=torch.float64, device=env.device)
        self._finite = torch.ones(3, dtype=torch.bool, device=env.device)

    @property
    def episode_length_buf(self) -> Tensor:
        """(n,) steps of each episode so far; rsl_rl sets it to spread the episodes."""
        return self._lengths

    @episode_length_buf.setter
    def episode_length_buf(self, lengths: Tensor) -> None:
        self._env.set_lengths(lengths)

    def reset(self, seeds: Sequence[int]) -> None:
        """Start all episodes, each with its own seed."""
        self._obs = self._env.reset(seeds)
        self._returns.zero_()
        self._lengths.zero_()

    def get_observations(self) -> TensorDict:
        """Return the observations in which to act next."""
        return _wrap(self._obs)

    def step(
        self, actions: Tensor
    ) -> tuple[TensorDict, Tensor, Tensor, dict[str, Any]]:
        """Step all environments; the extras hold `time_outs` and `final_obs`.

        On a GPU, `require_finite` says later what was not finite.

        Raises:
            NotFiniteError: If actions, rewards or observations are not finite.
        """
        if not actions.is_cuda:
            self._look(actions)
            self.require_finite()
        outcome = self._env.step(actions)
        seen = torch.cat([outcome.obs, outcome.final_obs])
        self._look(actions, outcome.rewards, seen)
        if not actions.is_cuda:
            self.require_finite()
        self._obs = outcome.obs
        self._count(outcome)
        extras = {
            "time_outs": outcome.time_outs,
            "final_obs": _wrap(outcome.final_obs),
        }
        rewards = self._scale * outcome.rewards.float()
        return _wrap(outcome.obs), rewards, outcome.done, extras

    def _look(self, *tensors: Tensor) -> None:
        """Take note of which of actions, rewards and observations are finite.

        The first look that finds something else counts: NaN in observations makes the
        next actions NaN.
        """
        finite = [torch.isfinite(each).all() for each in tensors]
        now, sound = torch.stack(finite).to(self.device), self._finite.all()
        self._finite[: len(finite)] &= now | ~sound

    def require_finite(self) -> None:
        """Raise `NotFiniteError` if anything in the steps so far was not finite.

        It waits for a GPU, so it is not for every step there.
        """
        names = ("actions", "rewards", "observations")
        for name, is_finite in zip(names, self._finite.tolist(), strict=True):
            if not is_finite:
                raise NotFiniteError(name)

    def _count(self, outcome: TensorOutcome) -> None:
        """Add up the rewards of episodes, and what of them has ended."""
        done = outcome.done
        self._returns += outcome.rewards
        self._lengths += 1
        ended = done.sum(), (self._returns * done).sum(), (self._lengths * done).sum()
        self.finished += torch.stack(ended)
        self._returns.masked_fill_(done, 0)
        self._lengths.masked_fill_(done, 0)

    def get_arrays(self) -> dict[str, np.ndarray]:
        """Return the state of episodes and environments, as arrays by name."""
        own = {"obs": self._obs, "returns": self._returns, "lengths": self._lengths}
        arrays = {f"run/{name}": each.cpu().numpy() for name, each in own.items()}
        state = self._env.get_state()
        return arrays | {f"env/{name}": each for name, each in state.items()}

    def set_arrays(
        self, own: Mapping[str, np.ndarray], env: Mapping[str, np.ndarray]
    ) -> bool:
        """Continue from arrays that `get_arrays` returned, after a reset.

        Args:
            own: Arrays whose names begin with `run/`, without that prefix.
            env: Likewise with `env/`.

        Returns:
            Whether that is possible; if not, new episodes have begun.
        """
        if not self._env.set_state(env):
            return False
        for name in ("obs", "returns", "lengths"):
            state = torch.from_numpy(own[name].copy()).to(self.device)
            setattr(self, f"_{name}", state)
        return True


def _wrap(obs: Tensor) -> TensorDict:
    return TensorDict({GROUP: obs}, batch_size=[len(obs)], device=obs.device)
