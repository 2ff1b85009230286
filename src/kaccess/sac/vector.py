"""A vector environment as learners want it, whatever its way of starting over.

Gymnasium knows three: an environment whose episode has ended starts over in the same
step, in the next step (whose action is ignored), or when it is told to.
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
    """What a step of n environments gave."""

    rewards: Array
    """(n,)."""
    terminated: BoolArray
    """(n,) whether the episode ended of itself."""
    done: BoolArray
    """(n,) whether it ended, of itself or by its time limit."""
    next_obs: Array
    """(n, obs) where the step led, before any reset."""
    obs: Array
    """(n, obs) in which to act next."""
    real: BoolArray
    """(n,) whether it was a step, and not a reset that ignored the action."""


class Envs:
    """A vector environment with flat observations and bounded actions.

    Args:
        env: Any vector environment of Gymnasium.
        n_envs: How many environments it should have.

    Attributes:
        obs_dim: Numbers of an observation.
        act_dim: Numbers of an action.
        low: (act,) lower bounds of the actions.
        high: (act,) upper bounds.
        ended: (n,) whether the last step was the last of an episode.

    Raises:
        InputError: If its spaces, size or way of starting over cannot be used.
    """

    def __init__(self, env: "VectorEnv[Any, Any, Any]", n_envs: int) -> None:
        self.env = env
        if env.num_envs != n_envs:
            raise InputError(
                f"`env` has {env.num_envs} environments, but {n_envs} are needed: "
                "`envs_per_learner` for each learner."
            )
        self.obs_dim = _dim(env.single_observation_space, "observations")
        self.act_dim = _dim(env.single_action_space, "actions")
        space = cast("gymnasium.spaces.Box", env.single_action_space)
        self.low, self.high = (
            space.low.astype(np.float32),
            space.high.astype(np.float32),
        )
        if not (np.isfinite(self.low) & np.isfinite(self.high)).all():
            raise InputError("`env` must have bounded actions, got infinite bounds.")
        self._mode = _mode(env)
        self.ended = np.zeros(n_envs, dtype=bool)

    def reset(self, seeds: Sequence[int]) -> Array:
        """Start all episodes, each environment with a seed of its own."""
        each: Any = [int(seed) for seed in seeds]  # Gymnasium's type says one, or none
        obs, _ = self.env.reset(seed=each)
        self.ended[:] = False
        return np.array(obs, dtype=np.float32)

    def step(self, actions: Array) -> Outcome:
        """Take actions in [-1, 1], (n, act), which are scaled to the bounds."""
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
        """Return all that the next step depends on; nothing if it cannot be had."""
        getter, setter = (
            _method(self.env, name) for name in ("get_state", "set_state")
        )
        return dict(getter()) if getter and setter else {}

    def set_state(self, state: Mapping[str, np.ndarray], ended: BoolArray) -> bool:
        """Put back what `get_state` and `ended` were; return whether that is possible.

        The environment must have been reset before.
        """
        setter = _method(self.env, "set_state")
        if not state or not setter:
            return False
        setter(dict(state))
        self.ended = ended.copy()
        return True

    def _split(
        self, obs: Array, done: BoolArray, info: dict[str, Any]
    ) -> tuple[Array, Array]:
        """Return where the step led, and where to act next."""
        if not done.any() or self._mode == AutoresetMode.NEXT_STEP:
            return obs, obs
        if self._mode == AutoresetMode.DISABLED:
            new, _ = self.env.reset(options={"reset_mask": done})
            return obs, np.array(new, dtype=np.float32)
        if "final_obs" not in info:
            raise InputError(
                "`env` starts over in the same step, so its info must hold "
                f"`final_obs`, where episodes ended; it holds {sorted(info)}."
            )
        last = obs.copy()
        last[done] = np.stack([info["final_obs"][i] for i in np.flatnonzero(done)])
        return last, obs


def _dim(space: gymnasium.Space[Any], what: str) -> int:
    if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1:
        raise InputError(
            f"`env` must have {what} in a Box of one dimension, got {space}."
        )
    return int(space.shape[0])


def _mode(env: "VectorEnv[Any, Any, Any]") -> AutoresetMode:
    mode = (env.metadata or {}).get("autoreset_mode")
    try:
        return AutoresetMode(mode)
    except ValueError:
        names = ", ".join(f"AutoresetMode.{known.name}" for known in AutoresetMode)
        raise InputError(
            f"`env` must say how it starts over, in metadata['autoreset_mode'], as one "
            f"of {names}, got {mode!r}."
        ) from None


def _method(env: "VectorEnv[Any, Any, Any]", name: str) -> Any:  # noqa: ANN401
    """Return a method of the environment or of what it wraps, or None."""
    return getattr(env, name, None) or getattr(env.unwrapped, name, None)
