"""Files that appear whole or not at all, whatever interrupts the writing.

A file is written under the name of a draft and then renamed. The draft of a process
that was killed is removed by the next one that writes into the same folder.
"""

import hashlib
import os
import platform
import re
import shutil
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

__all__ = ["make_draft", "remove_drafts", "whole_file", "whole_folder"]

# Host, process and a random number: processes of two containers may have the same id.
_DRAFT = re.compile(r"\.kaccess-(?P<host>\w+)-(?P<pid>\d+)-[0-9a-f]{8}\.part\..+")
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PROCESSES = Path("/proc/self/ns/pid")  # a link that names the container
_ABANDONED = 3600.0  # [s] without a change, after which any draft is removed


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to; rename it to `path` if all goes well.

    Raises:
        OSError: If it cannot be written, as on a full disk; the error names `path`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = make_draft(path)
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder to write to; rename it to `path` if all goes well."""
    full = path.resolve()
    full.parent.mkdir(parents=True, exist_ok=True)
    draft = make_draft(full)
    draft.mkdir()
    try:
        yield draft
        draft.replace(full)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise


def make_draft(path: Path) -> Path:
    """Return a new path beside a file or folder, to be written and then renamed.

    It keeps the suffix. Drafts that were left behind in the same folder are removed.
    """
    remove_drafts(path.parent.resolve())
    owner = f"{_name_host()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
    return path.with_name(f".kaccess-{owner}.part.{path.name}")


@cache  # once in a process
def remove_drafts(folder: Path) -> None:
    """Remove the drafts in a folder that nobody writes any more."""
    for name in os.listdir(folder):  # noqa: PTH208  # many times faster in big folders
        found = _DRAFT.fullmatch(name)
        if found and _is_abandoned(folder / name, found["host"], int(found["pid"])):
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).unlink(missing_ok=True)


def _is_abandoned(path: Path, host: str, pid: int) -> bool:
    """Return whether the process of a draft has ended, or is silent for long."""
    if host == _name_host() and not _runs(pid):
        return True
    try:
        return time.time() - path.stat().st_mtime > _ABANDONED
    except FileNotFoundError:  # its process has just finished it
        return False


def _runs(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # it cannot be asked there
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it is another user's
        return True
    return True


@cache
def _name_host() -> str:
    """Return a name of this machine since its start, and of this container."""
    parts = [platform.node().encode()]
    if _BOOT.exists():
        parts += [_BOOT.read_bytes(), bytes(_PROCESSES.readlink())]
    return hashlib.sha256(b" ".join(parts)).hexdigest()[:12]
