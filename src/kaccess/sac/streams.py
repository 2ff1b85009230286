"""Random numbers of each learner, from keys: seed, purpose and block number.

No state of a generator has to be stored: a run that resumes draws its current block
again. Numbers are drawn in blocks of steps, because one call per learner and step would
take longer than the update itself.
"""

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
import torch
from torch import Tensor

__all__ = ["Blocks", "Stream", "make_rng"]

_STEPS = 32  # steps in a block


class Stream(IntEnum):
    """Purpose of random numbers."""

    NETWORKS = 0
    ENVIRONMENTS = 1
    ACTIONS = 2
    UPDATES = 3
    BATCHES = 4


def make_rng(seed: int, stream: Stream, block: int = 0) -> np.random.Generator:
    """Return a learner's generator for one purpose."""
    return np.random.default_rng([seed, stream, block])


class Blocks:
    """Random numbers for each step of each learner.

    `take` returns the numbers of one step and moves to the next. It consists of tensor
    operations only, so that it can be part of a CUDA graph. For each step, call
    `prepare` on the host first.

    Args:
        stream: Purpose of the numbers.
        seeds: Seed of each learner.
        shape: Shape of the numbers of one learner for one step.
        device: Device that holds them.
        integers: Whether to draw whole numbers below 2^62; if not, normal ones.
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
        """Move to the numbers of a step."""
        self._step = step
        self._refill()
        self._cursor.fill_(step % _STEPS)

    def prepare(self) -> None:
        """Draw the numbers of the current step, if its block is new; count the step."""
        self._refill()
        self._step += 1

    @property
    def step(self) -> int:
        """Step whose numbers come next."""
        return self._step

    def take(self) -> Tensor:
        """Return the numbers of the current step, (p, *shape)."""
        numbers = self._numbers.index_select(1, self._cursor)[:, 0]
        self._cursor.add_(1)
        return numbers

    def _refill(self) -> None:
        block = self._step // _STEPS
        if block != self._block:
            for numbers, seed in zip(self._numbers, self._seeds, strict=True):
                self._draw(numbers, seed, block)
            self._cursor.zero_()
            self._block = block

    def _draw(self, numbers: Tensor, seed: int, block: int) -> None:
        rng = make_rng(seed, self._stream, block)
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
