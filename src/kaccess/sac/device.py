"""The device that learns: its choice, transfers to and from it, CUDA graphs."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from kaccess.base.errors import InputError

__all__ = [
    "HostDeviceBuffer",
    "capture_graph",
    "check_compiled",
    "explain_memory",
    "find_device",
]


def find_device(name: str) -> torch.device:
    """Return a device of torch; `auto` is a GPU if there is one.

    Raises:
        InputError: If the device is unknown or not available.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f"`device` must be `cpu` or `cuda`, got {name!r}.") from error
    if device.type not in ("cpu", "cuda"):
        raise InputError(f"`device` must be `cpu` or `cuda`, got {name!r}.")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"`device` is {name!r}, but torch finds no NVIDIA GPU here. Use `cpu`, or "
            "install a torch that is built for CUDA."
        )
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device


def check_compiled(compiled: bool, device: torch.device) -> None:
    """Raise `InputError` if compiling is asked for where it has no effect."""
    if compiled and device.type != "cuda":
        raise InputError(
            f"`compiled` has no effect on the device {device.type!r}. Leave it out, or "
            "train on a GPU with `--device cuda`."
        )


@contextmanager
def explain_memory() -> Iterator[None]:
    """Raise `MemoryError` where torch, for lack of memory, raises a `RuntimeError`."""
    try:
        yield
    except RuntimeError as error:
        if "allocate" not in str(error):
            raise
        first, *_ = str(error).splitlines()
        raise MemoryError(f"torch: {first}") from error


class HostDeviceBuffer:
    """Named arrays that are copied between host and device in one transfer.

    Args:
        device: Device; on a CPU, host and device share the memory.
        shapes: Shape of each array, of 4-byte floats or whole numbers.

    Attributes:
        on_host: Arrays on the host, by name.
        on_device: Arrays on the device, by name.
    """

    def __init__(self, device: torch.device, **shapes: tuple[int, ...]) -> None:
        length = sum(int(np.prod(shape)) for shape in shapes.values())
        self._host = torch.zeros(length, pin_memory=device.type == "cuda")
        self._device = self._host.to(device)
        self.on_host = _split(self._host, shapes)
        self.on_device = _split(self._device, shapes)

    def get_integers(self, name: str) -> Tensor:
        """Return an array on the host, as whole numbers."""
        return self.on_host[name].view(torch.int32)

    def send(self) -> None:
        """Start the copy to the device; it is over once a later `fetch` returns."""
        if self._device is not self._host:
            self._device.copy_(self._host, non_blocking=True)

    def fetch(self) -> None:
        """Copy to the host, and wait for the copy."""
        if self._device is not self._host:
            self._host.copy_(self._device, non_blocking=True)
            torch.cuda.current_stream(self._device.device).synchronize()


def _split(buffer: Tensor, shapes: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """Return views of a buffer, one for each shape."""
    sizes = [int(np.prod(shape)) for shape in shapes.values()]
    parts = zip(shapes.items(), torch.split(buffer, sizes), strict=True)
    return {name: part.view(shape) for (name, shape), part in parts}


def capture_graph(function: Callable[[], None]) -> "torch.cuda.CUDAGraph":
    """Run a function until its memory is allocated, then record it as a CUDA graph."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch's
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    gc.collect()  # freeing another graph while recording would break the recording
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph
