"""A disk that fails at a chosen file operation."""

import errno
import io
import os
from contextlib import contextmanager
from pathlib import Path

import pytest
from safetensors import SafetensorError

from kaccess.base import tensors


class Killed(BaseException):
    """Stands for the end of the process: after it, nothing reaches the disk."""


class Disk:
    """Counts the operations that change files in a folder, and lets one fail.

    Args:
        folder: Folder that is watched.
        at: Number of the operation that fails; by default none does.
        how: `kill` ends the process there. `full` is a full disk from then on. `once`
            is a disk that was full for a moment. A write that fails writes half.

    Attributes:
        log: Each operation: its name, and the name of its file.
    """

    def __init__(self, folder, at=None, how="kill"):
        self._folder, self._at, self._how = str(folder), at, how
        self.log = []

    def watches(self, path):
        return isinstance(path, str | os.PathLike) and str(path).startswith(
            self._folder
        )

    def fails(self, operation, path):
        """Count an operation; return whether it fails."""
        self.log.append((operation, Path(path).name))
        if self._at is None:
            return False
        done = len(self.log) - 1
        return done == self._at or (done > self._at and self._how != "once")

    def error(self):
        if self._how == "kill":
            return Killed()
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _File:
    """An open file; a write that fails writes half of its data."""

    def __init__(self, disk, file, path):
        self._disk, self._file, self._path = disk, file, path

    def write(self, data):
        fails = self._disk.fails("write", self._path)
        self._file.write(data[: len(data) // 2] if fails else data)
        self._file.flush()
        if fails:
            raise self._disk.error()
        return len(data)

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()


def _guard(disk, function, name):
    def call(path, *args, **kwargs):
        if disk.watches(path) and disk.fails(name, path):
            raise disk.error()
        return function(path, *args, **kwargs)

    return call


def _guard_open(disk, function):
    def call(path, mode="r", *args, **kwargs):
        if mode.startswith("r") or not disk.watches(path):
            return function(path, mode, *args, **kwargs)
        if disk.fails("open", path):
            raise disk.error()
        return _File(disk, function(path, mode, *args, **kwargs), path)

    return call


def _guard_save(disk, function):
    def call(arrays, path, **kwargs):
        fails = disk.fails("save", path)
        if not fails or disk._how == "kill":
            function(arrays, path, **kwargs)
        if not fails:
            return
        if disk._how == "kill":
            os.truncate(path, Path(path).stat().st_size // 2)
            raise disk.error()
        raise SafetensorError("I/O error: No space left on device (os error 28)")

    return call


@contextmanager
def failing(disk):
    """Let the operations of a disk fail within this block."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("replace", "mkdir", "unlink", "chmod"):
            patch.setattr(os, name, _guard(disk, getattr(os, name), name))
        patch.setattr(io, "open", _guard_open(disk, io.open))
        patch.setattr(tensors, "save_file", _guard_save(disk, tensors.save_file))
        yield disk
