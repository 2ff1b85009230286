"""What each learner remembers: a ring of transitions of its own, on the device."""

import numpy as np
import torch
from torch import Tensor

from kaccess.base.types import Array, BoolArray, IntArray

__all__ = ["Replay"]


class Replay:
    """Rings of `capacity` transitions for p learners, and one row for rubbish.

    The host decides where transitions go, the device which ones are drawn.

    Args:
        n_learners: p.
        capacity: Transitions that each learner remembers.
        width: Numbers of a transition.
        device: Where they are.

    Attributes:
        data: (p * capacity + 1, width); memory is taken as rows are written.
        counts: (p,) transitions each learner has ever stored.
    """

    def __init__(
        self, n_learners: int, capacity: int, width: int, *, device: torch.device
    ) -> None:
        self.capacity = capacity
        self.data = torch.zeros(n_learners * capacity + 1, width, device=device)
        self.counts = np.zeros(n_learners, dtype=np.int64)
        self._first = capacity * torch.arange(n_learners, device=device)[:, None]

    @property
    def sizes(self) -> IntArray:
        """(p,) transitions each learner remembers."""
        return np.minimum(self.counts, self.capacity)

    @property
    def rubbish(self) -> int:
        """Row that is never drawn."""
        return len(self.data) - 1

    def places(self, kept: BoolArray) -> IntArray:
        """Return the rows, (p, e), of the next transitions of e environments each.

        Args:
            kept: (p, e) which of them shall be remembered.
        """
        nth = self.counts[:, None] + kept.cumsum(1) - 1
        first = self.capacity * np.arange(len(kept))[:, None]
        self.counts += kept.sum(1)
        return np.where(kept, first + nth % self.capacity, self.rubbish)

    def draw(self, numbers: Tensor, sizes: Tensor) -> Tensor:
        """Return transitions, (p, b, width).

        Args:
            numbers: (p, b) whole random numbers, far larger than the sizes.
            sizes: (p, 1) transitions each learner remembers, at least 1.
        """
        rows = (numbers % sizes).add_(self._first)
        drawn = self.data.index_select(0, rows.view(-1))
        return drawn.view(*numbers.shape, -1)

    def contents(self) -> list[Array]:
        """Return what each learner remembers, (size, width) each, as rows lie."""
        return [self._ring(p)[:size].cpu().numpy() for p, size in enumerate(self.sizes)]

    def restore(self, contents: list[Array], counts: IntArray) -> None:
        """Put back what `contents` returned."""
        for p, rows in enumerate(contents):
            self._ring(p)[: len(rows)] = torch.as_tensor(rows)
        self.counts[:] = counts

    def _ring(self, learner: int) -> Tensor:
        start = learner * self.capacity
        return self.data[start : start + self.capacity]
