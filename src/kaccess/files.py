"""Files that are whole or not there, whatever happens while they are written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a name to write to; it takes the place of `path` if nothing goes wrong."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{os.getpid()}.part.{path.name}")  # keeps the suffix
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
