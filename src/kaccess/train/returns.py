"""Multi-step returns: what several steps earn, before the critics are asked.

Where waiting costs little, a value that is estimated from the value one step later
hardly tells waiting from acting: whoever can do a flip at any time loses 1 - gamma of
its value by standing still for a step. Over n steps it is 1 - gamma^n.

The actions of those steps are taken as they were, though the policy has changed since,
and the entropy bonus is that of the last step alone, as is usual.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kaccess.train.population import Experience
from kaccess.types import Array, BoolArray

__all__ = ["MultiStep"]


@dataclass
class _Pending:
    """Transitions of n environments, as in `Experience`, and who is still under way."""

    obs: Array
    actions: Array
    rewards: Array
    discount: Array
    next_obs: Array
    kept: BoolArray
    goes_on: BoolArray

    def add(self, step: Experience, done: BoolArray) -> None:
        """Add a step to those whose episode goes on."""
        on = self.goes_on & step.kept
        self.rewards[on] += self.discount[on] * step.rewards[on]
        self.discount[on] *= step.discount[on]
        self.next_obs[on] = step.next_obs[on]
        self.goes_on = on & ~done

    def experience(self) -> Experience:
        return Experience(
            obs=self.obs,
            actions=self.actions,
            rewards=self.rewards,
            discount=self.discount,
            next_obs=self.next_obs,
            kept=self.kept,
        )


class MultiStep:
    """Joins each step with those after it, n in all or up to its episode's end.

    A transition is handed on when n steps are known, that is n - 1 steps later: its
    own state and action, the discounted sum of the rewards, and where they led. With
    n = 1 it is the step itself.

    Args:
        n_steps: n.
    """

    def __init__(self, n_steps: int) -> None:
        self._n = n_steps
        self._pending: list[_Pending] = []

    def add(self, step: Experience, done: BoolArray) -> Experience | None:
        """Take in a step of all environments; return the one that is complete, if any.

        Args:
            step: What it gave.
            done: (n,) whether an episode ended with it, of itself or by its time limit.
        """
        for earlier in self._pending:
            earlier.add(step, done)
        own = {name: array.copy() for name, array in vars(step).items()}
        self._pending.append(_Pending(**own, goes_on=~done))
        if len(self._pending) < self._n:
            return None
        return self._pending.pop(0).experience()

    def clear(self) -> None:
        """Forget the steps that are not complete."""
        self._pending.clear()

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the steps that are not complete, by name, oldest first."""
        if not self._pending:
            return {}
        return {
            name: np.stack([getattr(each, name) for each in self._pending])
            for name in vars(self._pending[0])
        }

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `get_state` returned."""
        n = len(next(iter(state.values()), ()))
        self._pending = [
            _Pending(**{name: array[i].copy() for name, array in state.items()})
            for i in range(n)
        ]
