"""A lock on a study's folder, for files that are read, changed and written back."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from kaccess.base.errors import InputError

__all__ = ["claim_graph", "lock_folder"]


@contextmanager
def lock_folder(path: Path) -> Iterator[None]:
    """Keep other processes from changing shared files of a study within this block.

    The operating system frees the lock when its process ends, however it ends. Hold it
    only briefly: other processes wait for it.
    """
    with FileLock(path / ".lock", mode=0o666):  # for all users who may write there
        yield


@contextmanager
def claim_graph(path: Path) -> Iterator[None]:
    """Keep other processes from changing a study's posture graph within this block.

    Raises:
        InputError: If another process is changing it.
    """
    try:
        with FileLock(path / ".graph.lock", timeout=0, mode=0o666):
            yield
    except Timeout as error:
        raise InputError(
            f"Another process is changing the posture graph of {path}. Wait until it "
            "has ended."
        ) from error
