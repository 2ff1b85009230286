"""Interruption that waits until it does no harm."""

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["deferred_interrupt"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # Ctrl-C; the end of a job on a cluster
_SAME_WISH = 1.0  # [s]; `timeout` signals a process and then its group, that is twice


@contextmanager
def deferred_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that says whether Ctrl-C was pressed, or the end asked for.

    Insisting, a second or more later, interrupts at once. Where signals cannot be
    handled, in a thread, nothing is deferred.
    """
    pressed_at: float | None = None

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal pressed_at
        if pressed_at is None:
            pressed_at = time.monotonic()
        elif time.monotonic() - pressed_at >= _SAME_WISH:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.signal(number, note) for number in _SIGNALS}
    try:
        yield lambda: pressed_at is not None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if pressed_at is not None:  # and nobody has asked
        raise KeyboardInterrupt
