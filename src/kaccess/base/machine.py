"""The machine that runs the package: its CPUs and software."""

import os
import platform
from pathlib import Path

import numpy as np

__all__ = ["describe_machine", "n_cpus"]


def n_cpus() -> int:
    """Return how many CPUs this process may use; the machine can have more."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def describe_machine() -> dict[str, str | int]:
    """Return the facts about the machine that decide how fast it is."""
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cpu": _cpu_name(),
        "cores": n_cpus(),
    }


def _cpu_name() -> str:
    """Return the name of the processor; empty if the system does not tell it."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
