"""Output streams that outlive their readers.

A stage stores its results in the study. So it goes on if nobody reads its output any
more, as in `kaccess access STUDY 2>&1 | head -1`.
"""

import io
import os
import sys
from typing import Any, TextIO

__all__ = ["outlive_readers"]


class _Outlasting(io.FileIO):
    """A file descriptor that leads nowhere once it cannot be written to.

    Args:
        fd: The descriptor, open for writing.
        losses: Errors that are ignored; others are raised once.
    """

    def __init__(self, fd: int, losses: type[OSError]) -> None:
        super().__init__(fd, "w", closefd=False)
        self._losses = losses

    def write(self, data: bytes) -> int | None:  # type: ignore[override]  # any buffer
        """Write; after an error, this data and all that follow are dropped."""
        try:
            return super().write(data)
        except OSError as error:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if not isinstance(error, self._losses):
                raise  # once: the exit of Python flushes again
            return len(data)


def outlive_readers() -> None:
    """Let output to a closed pipe be dropped, and show characters as escape codes.

    Escape codes stand for characters that the terminal lacks. Progress and messages, on
    `sys.stderr`, are also dropped if the disk is full; results, on `sys.stdout`, are
    not: their loss is an error.
    """
    sys.stdout = _wrap(sys.stdout, BrokenPipeError)
    sys.stderr = _wrap(sys.stderr, OSError)


def _wrap(stream: TextIO, losses: type[OSError]) -> TextIO:
    """Return a stream to the same descriptor; streams of other kinds stay."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors="backslashreplace")
    raw = getattr(stream.buffer, "raw", stream.buffer)  # with `python -u`, no buffer
    if type(raw) is not io.FileIO:  # in memory, or wrapped before
        return stream
    stream.flush()
    lasting: Any = _Outlasting(raw.fileno(), losses)
    return io.TextIOWrapper(
        lasting if raw is stream.buffer else io.BufferedWriter(lasting),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
