"""Threads and memory of torch on a CPU; they change the speed, never the numbers."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from kaccess.sac.population import Population

__all__ = ["tune_cpu", "use_threads"]

# Multiplications per layer, over all learners, below which one thread is faster;
# measured on two cores.
_MIN_FOR_THREADS = 3e6
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of glibc's mallopt
_KEPT_BYTES = 1 << 30


@contextmanager
def tune_cpu(population: Population, n_threads: int = 0) -> Iterator[None]:
    """Use one thread for a small population, and keep freed memory.

    Threads that wait for one another cost small networks more time than they save, and
    far more if other programs run: on two cores, one of them busy, 15,000 steps of a
    learner (2 x 128, 64 robots) took more than 400 s with two threads, 50 s with one.

    Args:
        population: Learners to update.
        n_threads: Threads for a large population; 0 takes those that torch would take.
    """
    config = population.config
    layer = config.batch_size * max(config.hidden) ** 2
    is_small = population.shape.n_learners * layer < _MIN_FOR_THREADS
    _keep_memory()
    with use_threads(1 if is_small else n_threads):
        yield


@contextmanager
def use_threads(n: int) -> Iterator[None]:
    """Let torch use n CPU threads within this block; 0 changes nothing."""
    before = torch.get_num_threads()
    if n:
        torch.set_num_threads(n)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _keep_memory() -> None:
    """Tell the C library not to return freed memory to the system at once.

    Each update frees and allocates the same megabytes. With new pages each time, 18
    learners (2 x 128) need 22 ms per update; without, 15 ms.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # not glibc
    mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
    mallopt(_MMAP_THRESHOLD, _KEPT_BYTES)
