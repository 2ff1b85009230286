"""How many CPUs there are to use."""

import os

__all__ = ["n_cpus"]


def n_cpus() -> int:
    """Return the CPUs this process may use, which can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
