"""Locks on folders of a study. The operating system frees those of dead processes."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from kaccess.base.errors import InputError

__all__ = ["claim_cluster", "claim_graph", "hold_folders", "lock_folder"]


@contextmanager
def lock_folder(path: Path) -> Iterator[None]:
    """Keep other processes from changing shared files of a study within this block.

    Hold it only briefly: other processes wait for it.
    """
    with _make_lock(path):
        yield


@contextmanager
def hold_folders(paths: Iterable[Path]) -> Iterator[None]:
    """Be the only process that works in these folders within this block.

    Raises:
        InputError: If another process works in one of them. It is not waited for.
    """
    with ExitStack() as held:
        for path in paths:
            path.mkdir(parents=True, exist_ok=True)
            try:
                held.enter_context(_make_lock(path).acquire(timeout=0))
            except Timeout:
                raise InputError(
                    f"Another process is at work in {path}. Wait until it ends, or "
                    "stop it. Then run the same command again."
                ) from None
        yield


@contextmanager
def claim_graph(path: Path) -> Iterator[None]:
    """Keep other processes from changing a study's posture graph within this block.

    Raises:
        InputError: If another process is changing it.
    """
    try:
        with _make_lock(path, ".graph.lock").acquire(timeout=0):
            yield
    except Timeout as error:
        raise InputError(
            f"Another process is changing the posture graph of {path}. Wait until it "
            "has ended."
        ) from error


@contextmanager
def claim_cluster(path: Path) -> Iterator[None]:
    """Be the only process that fills a study's matrix with a cluster in this block.

    Raises:
        InputError: If another process does so.
    """
    try:
        with _make_lock(path, ".cluster.lock").acquire(timeout=0):
            yield
    except Timeout as error:
        raise InputError(
            f"Another process fills the matrix of {path} with a cluster. Wait until it "
            "has ended, or stop it."
        ) from error


def _make_lock(path: Path, name: str = ".lock") -> FileLock:
    return FileLock(path / name, mode=0o666)  # for all users who may write there
