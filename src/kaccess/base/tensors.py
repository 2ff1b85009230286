"""Arrays and a JSON header in one safetensors file, which is never half-written."""

import json
import os
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from kaccess.base.damage import check_content, explain_damage
from kaccess.base.errors import InputError
from kaccess.base.files import make_draft, whole_file

__all__ = ["REMEDY", "read_header", "read_tensors", "write_tensors"]

_CHECKSUM = "crc32"  # of the arrays
_HEADER_CHECKSUM = "header_crc32"
REMEDY = "Put back a copy of it, or train again in a new folder."


def write_tensors(
    path: Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a file; it replaces an earlier one.

    Args:
        path: File to write.
        kind: Kind and version of the file, such as `kaccess policy (1)`.
        header: Other entries of the header; JSON must be able to hold them.
        arrays: Arrays by name.

    Raises:
        OSError: If the file cannot be written, as on a full disk.
    """
    # One string: safetensors would write several in random order each time.
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    entries = {"kind": kind, **header, _CHECKSUM: _checksum(plain)}
    text = json.dumps({**entries, _HEADER_CHECKSUM: _checksum_header(entries)})
    with whole_file(path) as draft, _make_folder(path) as folder:
        try:
            save_file(plain, folder / path.name, metadata={"kaccess": text})
        except SafetensorError as error:
            raise _as_os_error(error) from error
        (folder / path.name).chmod(0o644)  # safetensors lets only the owner read it
        (folder / path.name).replace(draft)


@contextmanager
def _make_folder(path: Path) -> Iterator[Path]:
    """Yield a folder beside a file, for the drafts that safetensors makes itself.

    If the process is killed, they are removed with it, like any draft.
    """
    folder = make_draft(path)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_tensors(
    path: Path, kind: str | None = None
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file; by default, of any kind.

    Raises:
        InputError: If the file is missing, damaged or of another kind.
    """
    with _open(path, kind) as (file, header):
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict
        stored = header.pop(_CHECKSUM, None)  # files made before have none
        if stored not in (None, _checksum(arrays)):
            raise ValueError("its content is not what was written")
    return header, arrays


def read_header(path: Path, kind: str | None = None) -> dict[str, Any]:
    """Return the header of a file, by default of any kind, without its arrays.

    Raises:
        InputError: If the file is missing, damaged or of another kind.
    """
    with _open(path, kind) as (_, header):
        return header


@contextmanager
def _open(path: Path, kind: str | None) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield a file of a certain kind, or of any, and its header."""
    with explain_damage(path, REMEDY), _safe_open(path) as file:
        header = json.loads((file.metadata() or {}).get("kaccess", "{}"))
        check_content(header, dict, "its header")
        stored = header.pop(_HEADER_CHECKSUM, None)  # files made before have none
        if stored not in (None, _checksum_header(header)):
            raise ValueError("its header is not what was written")
        if (found := header.pop("kind", None)) != (kind or found):
            raise InputError(
                f"{path} must be a {kind}, but it is a "
                f"{found or 'file of another kind'}. If another version of kaccess "
                "wrote it, use that version, or start again in a new folder."
            )
        yield file, header


@contextmanager
def _safe_open(path: Path) -> Iterator[Any]:
    """Open a file; what the library raises becomes a `ValueError`."""
    try:
        path.stat()  # the library's error of a missing file says less
        with safe_open(path, framework="numpy") as file:
            yield file
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _checksum(arrays: Mapping[str, np.ndarray]) -> int:
    """Return a checksum of arrays, their names, types and shapes."""
    total = 0
    for name, array in sorted(arrays.items()):
        total = zlib.crc32(f"{name} {array.dtype.str} {array.shape}".encode(), total)
        total = zlib.crc32(array.reshape(-1).view(np.uint8).data, total)
    return total


def _checksum_header(header: Mapping[str, Any]) -> int:
    plain = json.loads(json.dumps(header))  # tuples become lists, as in the file
    return zlib.crc32(json.dumps(plain).encode())


def _as_os_error(error: SafetensorError) -> OSError:
    """Return the error of the operating system that safetensors only tells as text."""
    if number := re.search(r"os error (\d+)", str(error)):
        code = int(number[1])
        return OSError(code, os.strerror(code))
    return OSError(str(error))
