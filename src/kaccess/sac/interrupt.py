"""Ctrl-C and SIGTERM wait for the end of a step."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["defer_interrupts"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # Ctrl-C; the end of a job on a cluster
# A signal this soon after the first is the same request: `timeout` signals a process
# and then its group, so that the process gets two [s].
_SAME_REQUEST = 1.0


@contextmanager
def defer_interrupts() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C or SIGTERM came.

    A second Ctrl-C after 1 s stops immediately. Outside the main thread signals cannot
    be handled, so nothing is deferred there.
    """
    pressed_at: float | None = None

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal pressed_at
        if pressed_at is None:
            pressed_at = time.monotonic()
        elif time.monotonic() - pressed_at >= _SAME_REQUEST:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield lambda: pressed_at is not None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if pressed_at is not None:  # it came after the last check
        raise KeyboardInterrupt
