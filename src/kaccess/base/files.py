"""Files that appear whole or not at all, whatever interrupts the writing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["whole_file"]


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; rename it to `path` if all goes well."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{os.getpid()}.part.{path.name}")  # keeps the suffix
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
