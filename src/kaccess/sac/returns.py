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

from kaccess.base.types import BoolArray
from kaccess.sac.population import Experience

__all__ = ["MultiStep"]


@dataclass
class _Pending:
    """Transitions that are not complete, and whose episode goes on, (n,)."""

    so_far: Experience
    goes_on: BoolArray

    def add(self, step: Experience, done: BoolArray) -> None:
        """Add a step to those whose episode goes on."""
        on, so_far = self.goes_on & step.kept, self.so_far
        so_far.rewards[on] += so_far.discount[on] * step.rewards[on]
        so_far.discount[on] *= step.discount[on]
        so_far.next_obs[on] = step.next_obs[on]
        self.goes_on = on & ~done

    def arrays(self) -> dict[str, np.ndarray]:
        return {**vars(self.so_far), "goes_on": self.goes_on}


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
        self._pending.append(_Pending(_copied(vars(step)), ~done))
        if len(self._pending) < self._n:
            return None
        return self._pending.pop(0).so_far

    def clear(self) -> None:
        """Forget the steps that are not complete."""
        self._pending.clear()

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the steps that are not complete, by name, oldest first."""
        each = [pending.arrays() for pending in self._pending]
        if not each:
            return {}
        return {name: np.stack([one[name] for one in each]) for name in each[0]}

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `get_state` returned."""
        rest = dict(state)
        goes_on = rest.pop("goes_on", np.empty((0, 0), dtype=bool))
        self._pending = [
            _Pending(
                _copied({name: array[i] for name, array in rest.items()}), on.copy()
            )
            for i, on in enumerate(goes_on)
        ]


def _copied(arrays: Mapping[str, np.ndarray]) -> Experience:
    """Return an experience of its own, to be added to."""
    return Experience(**{name: array.copy() for name, array in arrays.items()})
