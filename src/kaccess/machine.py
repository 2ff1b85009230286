"""The machine that a study is made on, in words."""

import platform
from pathlib import Path

import numpy as np

from kaccess.engines.cpus import n_cpus
from kaccess.study import Settings

__all__ = ["describe_machine"]


def describe_machine() -> Settings:
    """Return what speed depends on."""
    return {
        "platform": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cpu": _cpu_name(),
        "cores": n_cpus(),
    }


def _cpu_name() -> str:
    """Return what the processor is called, as far as the system says."""
    known = Path("/proc/cpuinfo")
    lines = known.read_text().splitlines() if known.exists() else []
    names = [line.partition(": ")[2] for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
