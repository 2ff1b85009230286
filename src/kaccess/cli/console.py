"""Progress on the command line: bars in a terminal, plain lines elsewhere."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Show", "progress_bar", "show_log"]

_SECONDS_BETWEEN_LINES = 10.0


class Show(Protocol):
    """Callback that shows the progress of some work, with an optional note."""

    def __call__(self, done: int, total: int, note: str = "") -> None:
        """Show that `done` of `total` units are done."""


def show_log() -> None:
    """Show log messages of the package, above any progress bar."""
    logger = logging.getLogger("kaccess")
    if not logger.handlers:
        logger.addHandler(_CurrentStderr())
        logger.setLevel(logging.INFO)


class _CurrentStderr(logging.Handler):
    """Prints to the current `sys.stderr`, which progress bars replace for a while."""

    def emit(self, record: logging.LogRecord) -> None:
        print(f"kaccess: {record.getMessage()}", file=sys.stderr)


@contextmanager
def progress_bar(label: str, unit: str) -> "Iterator[Show]":
    """Yield a callback that shows progress, rate and time left.

    Args:
        label: Name of the work.
        unit: Name of the units that are counted, in the plural.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal and not console.is_dumb_terminal:
        with _rich_bar(console, label, unit) as update:
            yield update
    else:
        yield _PlainLines(label, unit)


@contextmanager
def _rich_bar(console: "Console", label: str, unit: str) -> "Iterator[Show]":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{unit}  {{task.fields[rate]}}"),
        TimeRemainingColumn(),
    )
    meter = _Meter()
    with Progress(*columns, console=console) as bar:
        task = bar.add_task(label, total=None, rate="")

        def update(done: int, total: int, note: str = "") -> None:
            rate = meter.measure_rate(done)
            text = f"{rate:,.0f}/s" if rate else ""
            bar.update(task, completed=done, total=total, rate=text + note)

        yield update


class _PlainLines:
    """Prints a line at the start, at the end, and every few seconds in between."""

    def __init__(self, label: str, unit: str) -> None:
        self._label, self._unit, self._meter = label, unit, _Meter()
        self._last = -_SECONDS_BETWEEN_LINES

    def __call__(self, done: int, total: int, note: str = "") -> None:
        now = time.monotonic()
        rate = self._meter.measure_rate(done)
        if done < total and now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = now
        line = f"{self._label}: {done:,} of {total:,} {self._unit}"
        if rate:
            left = _format_duration((total - done) / rate)
            line += f", {rate:,.0f}/s" + (f", {left} left" if done < total else "")
        line += note
        print(line, file=sys.stderr, flush=True)


class _Meter:
    """Measures the rate since the first call; work done before it does not count."""

    def __init__(self) -> None:
        self._start: tuple[float, int] | None = None

    def measure_rate(self, done: int) -> float:
        now = time.monotonic()
        if self._start is None:
            self._start = (now, done)
        then, before = self._start
        return (done - before) / (now - then) if now > then else 0.0


def _format_duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}"
