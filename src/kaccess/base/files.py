"""Files that appear whole or not at all, whatever interrupts the writing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["remove_drafts", "whole_file"]

_DRAFT = "part"  # in the names of files that are not whole yet


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; rename it to `path` if all goes well.

    Raises:
        OSError: If it cannot be written, as on a full disk; the error names `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{os.getpid()}.{_DRAFT}.{path.name}")  # keeps the suffix
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        draft.unlink(missing_ok=True)


def remove_drafts(path: Path) -> None:
    """Remove what killed processes left of a file; no other process may write it now.

    Args:
        path: File; its name may be a pattern, such as `*`.
    """
    for draft in path.parent.glob(f".*.{_DRAFT}.{path.name}"):
        draft.unlink(missing_ok=True)
