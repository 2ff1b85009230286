"""The replay buffers: a ring of transitions for each learner, on the device."""

import numpy as np
import torch
from torch import Tensor

from kaccess.base.types import Array, BoolArray, IntArray

__all__ = ["Replay"]


class Replay:
    """Rings of `capacity` transitions for p learners, and one scratch row.

    The host decides where transitions are stored, the device which ones are drawn.
    Discarded transitions go to the scratch row: each step then writes as many rows as
    there are environments, as a CUDA graph requires.

    Args:
        n_learners: Number of learners, p.
        capacity: Number of transitions in each learner's ring.
        width: Length of a transition.
        device: Device that holds them.

    Attributes:
        data: (p * capacity + 1, width) transitions; on a CPU, memory is taken only as
            rows are written.
        counts: (p,) transitions stored so far, overwritten ones included.
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
        """(p,) transitions in each learner's ring."""
        return np.minimum(self.counts, self.capacity)

    @property
    def scratch_row(self) -> int:
        """Row for discarded transitions; it is never drawn."""
        return len(self.data) - 1

    def assign_rows(self, kept: BoolArray) -> IntArray:
        """Return the rows, (p, e), of the next transitions of e environments each.

        Args:
            kept: (p, e) which of them to store; the others are discarded.
        """
        nth = self.counts[:, None] + kept.cumsum(1) - 1
        first = self.capacity * np.arange(len(kept))[:, None]
        self.counts += kept.sum(1)
        return np.where(kept, first + nth % self.capacity, self.scratch_row)

    def draw(self, numbers: Tensor, sizes: Tensor) -> Tensor:
        """Return transitions, (p, b, width).

        Args:
            numbers: (p, b) whole random numbers, far larger than the sizes.
            sizes: (p, 1) transitions in each learner's ring, at least 1.
        """
        rows = (numbers % sizes).add_(self._first)
        drawn = self.data.index_select(0, rows.view(-1))
        return drawn.view(*numbers.shape, -1)

    def get_contents(self) -> list[Array]:
        """Return each learner's transitions, (size, width), in the order of rows."""
        return [
            self._get_ring(p)[:size].cpu().numpy() for p, size in enumerate(self.sizes)
        ]

    def set_contents(self, contents: list[Array], counts: IntArray) -> None:
        """Put back the result of `get_contents` and the counts."""
        for p, rows in enumerate(contents):
            self._get_ring(p)[: len(rows)] = torch.as_tensor(rows)
        self.counts[:] = counts

    def _get_ring(self, learner: int) -> Tensor:
        start = learner * self.capacity
        return self.data[start : start + self.capacity]
