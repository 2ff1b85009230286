"""Manners of torch on a CPU, while a population learns; no number depends on them."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from kaccess.sac.population import Population

__all__ = ["tuned_cpu"]

_WORTH_THREADS = 3e6  # products in a layer of all learners; measured on two cores
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # of glibc's mallopt
_KEPT = 1 << 30  # bytes


@contextmanager
def tuned_cpu(population: Population) -> Iterator[None]:
    """Let torch use as many threads as a population is worth, and keep its memory.

    Threads that wait for one another cost more than they bring to small networks, and
    far more where other programs run.
    """
    config, before = population.config, torch.get_num_threads()
    layer = config.batch_size * max(config.hidden) ** 2
    if population.shape.n_learners * layer < _WORTH_THREADS:
        torch.set_num_threads(1)
    _keep_memory()
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _keep_memory() -> None:
    """Tell the C library not to give freed memory back to the system at once.

    An update frees and takes the same megabytes again and again; when each time they
    are new pages, 18 learners (2 x 128) need 22 ms for it, and 15 ms when not.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # not glibc
    mallopt(_TRIM_THRESHOLD, _KEPT)
    mallopt(_MMAP_THRESHOLD, _KEPT)
