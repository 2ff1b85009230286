"""Marks of files that grow: how long a file was, and a checksum of that part."""

import zlib
from collections.abc import Sequence
from pathlib import Path

__all__ = ["mark_file", "read_marked"]


def mark_file(path: Path) -> list[int]:
    """Return the length of a file in bytes, and the checksum of its content."""
    content = path.read_bytes()
    return [len(content), zlib.crc32(content)]


def read_marked(path: Path, mark: Sequence[int]) -> bytes:
    """Return the content that a file had when it was marked; it may be longer now.

    Raises:
        ValueError: If that part has changed.
    """
    length, checksum = mark
    content = path.read_bytes()[:length]
    if len(content) < length or zlib.crc32(content) != checksum:
        raise ValueError("its content is not what was written")
    return content
