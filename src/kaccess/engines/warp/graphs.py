"""Recording of many launches as one CUDA graph."""

from collections.abc import Callable
from functools import partial

import warp as wp

__all__ = ["record_graph"]


def record_graph(function: Callable[[], None], device: wp.Device) -> Callable[[], None]:
    """Return a function that replays what `function` launches on a GPU, at once.

    On a CPU, return `function` itself. All its kernels must be loaded already.
    """
    if not device.is_cuda:
        return function
    with wp.ScopedDevice(device), wp.ScopedCapture() as capture:
        function()
    return partial(wp.capture_launch, capture.graph)
