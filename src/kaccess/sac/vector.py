"""A vector environment with the same interface for every autoreset mode.

Gymnasium has three modes: an environment whose episode ended is reset in the same step,
in the next step (whose action is ignored), or only when told to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray
from kaccess.policies.policy import scale

__all__ = ["Envs", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """Result of a step of n environments."""

    rewards: Array
    """(n,) rewards."""
    terminated: BoolArray
    """(n,) whether the episode terminated."""
    done: BoolArray
    """(n,) whether it ended, by termination or time limit."""
    next_obs: Array
    """(n, obs) observations after the step, before any reset."""
    obs: Array
    """(n, obs) observations in which to act next."""
    real: BoolArray
    """(n,) whether this was a step; otherwise, a reset that ignored the action."""


class Envs:
    """A vector environment with flat observations and bounded actions.

    Args:
        env: Any vector environment of Gymnasium.
        n_envs: Number of environments it must have.

    Attributes:
        obs_dim: Length of an observation.
        act_dim: Length of an action.
        low: (act,) lower bounds of the actions.
        high: (act,) upper bounds.
        ended: (n,) whether the last step ended an episode.

    Raises:
        InputError: If its spaces, size or autoreset mode cannot be used.
    """

    def __init__(self, env: "VectorEnv[Any, Any, Any]", n_envs: int) -> None:
        self.env = env
        if env.num_envs != n_envs:
            raise InputError(
                f"`env` must have {n_envs} environments, `envs_per_learner` for each "
                f"learner, got {env.num_envs}."
            )
        self.obs_dim = _get_length(env.single_observation_space, "observations")
        self.act_dim = _get_length(env.single_action_space, "actions")
        space = cast("gymnasium.spaces.Box", env.single_action_space)
        self.low = space.low.astype(np.float32)
        self.high = space.high.astype(np.float32)
        if not (np.isfinite(self.low) & np.isfinite(self.high)).all():
            raise InputError("`env` must have bounded actions, got infinite bounds.")
        self._mode = _find_mode(env)
        self.ended = np.zeros(n_envs, dtype=bool)

    def reset(self, seeds: Sequence[int]) -> Array:
        """Start all episodes, each environment with its own seed."""
        each: Any = [
            int(seed) for seed in seeds
        ]  # Gymnasium's type allows one seed only
        obs, _ = self.env.reset(seed=each)
        self.ended[:] = False
        return np.array(obs, dtype=np.float32)

    def step(self, actions: Array) -> Outcome:
        """Step with actions in [-1, 1], (n, act), which are scaled to the bounds."""
        scaled = scale(actions, self.low, self.high)
        raw, rewards, terminated, truncated, info = self.env.step(scaled)
        obs = np.array(raw, dtype=np.float32)
        done = np.asarray(terminated) | np.asarray(truncated)
        real = ~self.ended if self._mode == AutoresetMode.NEXT_STEP else None
        next_obs, obs = self._split(obs, done, info)
        self.ended = done
        return Outcome(
            rewards=np.asarray(rewards, dtype=np.float32),
            terminated=np.asarray(terminated, dtype=bool),
            done=done,
            next_obs=next_obs,
            obs=obs,
            real=np.ones(len(done), dtype=bool) if real is None else real,
        )

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state that the next step depends on; empty if not available."""
        getter, setter = (
            _find_method(self.env, name) for name in ("get_state", "set_state")
        )
        return dict(getter()) if getter and setter else {}

    def set_state(self, state: Mapping[str, np.ndarray], ended: BoolArray) -> bool:
        """Put back the state and `ended`; return whether that is possible.

        The environment must have been reset before.
        """
        setter = _find_method(self.env, "set_state")
        if not state or not setter:
            return False
        setter(dict(state))
        self.ended = ended.copy()
        return True

    def _split(
        self, obs: Array, done: BoolArray, info: dict[str, Any]
    ) -> tuple[Array, Array]:
        """Return the observations after the step, and those in which to act next."""
        if not done.any() or self._mode == AutoresetMode.NEXT_STEP:
            return obs, obs
        if self._mode == AutoresetMode.DISABLED:
            new, _ = self.env.reset(options={"reset_mask": done})
            return obs, np.array(new, dtype=np.float32)
        if "final_obs" not in info:
            raise InputError(
                "`env` resets in the same step, so its info must hold `final_obs`, the "
                f"last observations of episodes; it holds {sorted(info)}."
            )
        last = obs.copy()
        last[done] = np.stack([info["final_obs"][i] for i in np.flatnonzero(done)])
        return last, obs


def _get_length(space: gymnasium.Space[Any], what: str) -> int:
    if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1:
        raise InputError(
            f"`env` must have {what} in a Box of one dimension, got {space}."
        )
    return int(space.shape[0])


def _find_mode(env: "VectorEnv[Any, Any, Any]") -> AutoresetMode:
    mode = (env.metadata or {}).get("autoreset_mode")
    try:
        return AutoresetMode(mode)
    except ValueError:
        names = ", ".join(f"AutoresetMode.{known.name}" for known in AutoresetMode)
        raise InputError(
            "`env` must name its autoreset mode in metadata['autoreset_mode'], one of "
            f"{names}, got {mode!r}."
        ) from None


def _find_method(env: "VectorEnv[Any, Any, Any]", name: str) -> Any:  # noqa: ANN401
    """Return a method of the environment or of the one it wraps; None if missing."""
    return getattr(env, name, None) or getattr(env.unwrapped, name, None)
