"""What runs on the machines of a cluster: a job, started once in each process.

A job has a method `start`, which returns a function of one item. It reaches a process
as bytes, with everything it needs, such as the model of the robot: no file of the
driver's machine is read.
"""

import pickle
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from kaccess.base.version import __version__

__all__ = ["Job", "Result", "Work", "describe_versions", "work"]

Work = Callable[[Any], Any]
"""Function that does one item of a job."""

Result = tuple[str, float, Any]
"""Key of the node, seconds of work, and what the work returned."""

_started: dict[str, Work] = {}  # the last job of this process


class Job(Protocol):
    """Work of one kind, which is sent to other machines."""

    def start(self) -> Work:
        """Make ready, on the machine that works; return what does an item."""
        ...


def work(key: str, job: np.ndarray, item: bytes, node: str) -> Result:
    """Do one item of a job, which is started first if it is new to this process."""
    if key not in _started:
        _started.clear()
        _started[key] = pickle.loads(job.tobytes()).start()
    began = time.perf_counter()
    found = _started[key](pickle.loads(item))
    return node, time.perf_counter() - began, found


def describe_versions() -> dict[str, str]:
    """Return the versions on which results depend."""
    import mujoco

    return {"kaccess": __version__, "mujoco": mujoco.__version__}
