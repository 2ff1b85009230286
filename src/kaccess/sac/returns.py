"""Multi-step returns: the sum of several rewards, and then the critics' estimate.

With one-step returns, critics can hardly distinguish waiting from acting: a robot that
can do a flip at any time loses only 1 - gamma of its value by standing still for one
step. Over n steps it loses 1 - gamma^n.

As usual, nothing corrects for the policy having changed since these steps, and only the
last step has an entropy bonus.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kaccess.base.types import BoolArray
from kaccess.sac.population import Experience

__all__ = ["MultiStep"]


@dataclass
class _Pending:
    """Incomplete transitions, and whether the episode of each continues, (n,)."""

    so_far: Experience
    goes_on: BoolArray

    def add(self, step: Experience, done: BoolArray) -> None:
        """Add a step to the transitions whose episode continues."""
        on, so_far = self.goes_on & step.kept, self.so_far
        so_far.rewards[on] += so_far.discount[on] * step.rewards[on]
        so_far.discount[on] *= step.discount[on]
        so_far.next_obs[on] = step.next_obs[on]
        self.goes_on = on & ~done

    def get_arrays(self) -> dict[str, np.ndarray]:
        return {**vars(self.so_far), "goes_on": self.goes_on}


class MultiStep:
    """Joins each step with the n - 1 steps after it, up to the end of its episode.

    A transition is complete after n steps, that is n - 1 steps later: its own state and
    action, the discounted sum of the rewards, and the last state. With n = 1 it is the
    step itself.

    Args:
        n_steps: Number of steps, n.
    """

    def __init__(self, n_steps: int) -> None:
        self._n = n_steps
        self._pending: list[_Pending] = []

    def add(self, step: Experience, done: BoolArray) -> Experience | None:
        """Add a step of all environments; return the transitions now complete, if any.

        Args:
            step: Transitions of the step.
            done: (n,) whether it ended an episode, by termination or time limit.
        """
        for earlier in self._pending:
            earlier.add(step, done)
        self._pending.append(_Pending(_copy(vars(step)), ~done))
        if len(self._pending) < self._n:
            return None
        return self._pending.pop(0).so_far

    def clear(self) -> None:
        """Discard the incomplete transitions."""
        self._pending.clear()

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the incomplete transitions, by name, oldest first."""
        each = [pending.get_arrays() for pending in self._pending]
        if not each:
            return {}
        return {name: np.stack([one[name] for one in each]) for name in each[0]}

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from what `get_state` returned."""
        rest = dict(state)
        goes_on = rest.pop("goes_on", np.empty((0, 0), dtype=bool))
        self._pending = [
            _Pending(_copy({name: array[i] for name, array in rest.items()}), on.copy())
            for i, on in enumerate(goes_on)
        ]


def _copy(arrays: Mapping[str, np.ndarray]) -> Experience:
    """Return an experience that can be changed without changing the arrays."""
    return Experience(**{name: array.copy() for name, array in arrays.items()})
