"""Arguments that need more than their types to be understood or checked."""

from pathlib import Path

from kaccess.base.errors import InputError
from kaccess.config import Port, check_number

__all__ = ["check_showing", "parse_rows"]


def parse_rows(text: str) -> range:
    """Return the rows that START:STOP names."""
    start, _, stop = text.partition(":")
    if not (start.isdecimal() and stop.isdecimal()):
        raise InputError(
            f"`--only-rows` must be START:STOP, such as 0:500, got {text!r}."
        )
    return range(int(start), int(stop))


def check_showing(viewer: bool, video: Path | None, port: int | None) -> None:
    """Raise `InputError` for options of `play` that contradict one another."""
    if viewer and video is not None:
        raise InputError("`--video` has no effect with `--viewer`. Give one of them.")
    if port is not None and not viewer:
        raise InputError("`--port` has no effect without `--viewer`. Leave it out.")
    check_number(Port, port=port or 0)
