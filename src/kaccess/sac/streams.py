"""Random numbers of each learner, from keys: its seed, what they are for, which block.

No generator has a state that would have to be stored: a run that goes on draws its
current block again. Numbers are drawn a block of steps ahead, as one call for each
learner and step would take longer than the update itself.
"""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import torch
from torch import Tensor

__all__ = ["Blocks", "Stream", "rng_of"]

_STEPS = 32  # in a block


class Stream(IntEnum):
    """What random numbers are for."""

    NETWORKS = 0
    ENVIRONMENTS = 1
    ACTIONS = 2
    UPDATES = 3
    BATCHES = 4


def rng_of(seed: int, stream: Stream, block: int = 0) -> np.random.Generator:
    """Return a learner's generator for one purpose."""
    return np.random.default_rng([seed, stream, block])


class Blocks:
    """Numbers for each step of each learner.

    `take` gives those of one step and moves on; it is made of tensor operations only,
    so that it can be part of a CUDA graph. Call `refill` before each step.

    Args:
        stream: What they are for.
        seeds: Of each learner.
        shape: Numbers of one learner for one step.
        device: Where they are.
        integers: Whether they are whole numbers below 2^62, or normal ones.
    """

    def __init__(
        self,
        stream: Stream,
        seeds: Sequence[int],
        shape: tuple[int, ...],
        *,
        device: torch.device,
        integers: bool = False,
    ) -> None:
        self._stream, self._seeds = stream, seeds
        self._numbers = torch.zeros(
            (len(seeds), _STEPS, *shape),
            dtype=torch.int64 if integers else torch.float32,
            device=device,
        )
        self._cursor = torch.zeros(1, dtype=torch.int64, device=device)
        self._block = -1
        self.seek(0)

    def seek(self, step: int) -> None:
        """Go to the numbers of that step."""
        self._step = step
        self.refill()
        self._cursor.fill_(step % _STEPS)

    def refill(self) -> None:
        """See to it that the numbers of the current step are there."""
        block = self._step // _STEPS
        if block != self._block:
            for numbers, seed in zip(self._numbers, self._seeds, strict=True):
                self._draw(numbers, seed, block)
            self._cursor.zero_()
            self._block = block

    def advance(self) -> None:
        """Note that the numbers of a step were taken."""
        self._step += 1

    @property
    def step(self) -> int:
        """The step whose numbers come next."""
        return self._step

    def take(self) -> Tensor:
        """Return the numbers of the current step, (p, *shape)."""
        numbers = self._numbers.index_select(1, self._cursor)[:, 0]
        self._cursor.add_(1)
        return numbers

    def _draw(self, numbers: Tensor, seed: int, block: int) -> None:
        rng = rng_of(seed, self._stream, block)
        whole = numbers.dtype == torch.int64
        if numbers.is_cuda:
            key = int(rng.integers(2**62))
            generator = torch.Generator(numbers.device).manual_seed(key)
            if whole:
                numbers.random_(0, 2**62, generator=generator)
            else:
                numbers.normal_(generator=generator)
        elif whole:
            numbers.numpy()[:] = rng.integers(2**62, size=tuple(numbers.shape))
        else:
            rng.standard_normal(dtype=np.float32, out=numbers.numpy())
