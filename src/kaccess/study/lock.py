"""A lock on a study's folder, for files that are read, changed and written back."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

__all__ = ["lock_folder"]


@contextmanager
def lock_folder(path: Path) -> Iterator[None]:
    """Keep other processes from changing shared files of a study within this block.

    The operating system frees the lock when its process ends, however it ends. Hold it
    only briefly: other processes wait for it.
    """
    with FileLock(path / ".lock", mode=0o666):  # for all users who may write there
        yield
