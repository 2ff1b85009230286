"""Arrays and a JSON header in one safetensors file, which is never half-written."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from kaccess.base.errors import InputError
from kaccess.base.files import whole_file

__all__ = ["read_header", "read_tensors", "write_tensors"]


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
    text = json.dumps({"kind": kind, **header})
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    with whole_file(path) as draft:
        try:
            save_file(plain, draft, metadata={"kaccess": text})
        except SafetensorError as error:
            raise _as_os_error(error) from error
        draft.chmod(0o644)  # safetensors lets only the owner read it


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file.

    Raises:
        InputError: If the file is missing, damaged or of another kind.
    """
    with _open(path, kind) as (file, header):
        return header, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict


def read_header(path: Path, kind: str) -> dict[str, Any]:
    """Return the header of a file, without reading its arrays.

    Raises:
        InputError: If the file is missing, damaged or of another kind.
    """
    with _open(path, kind) as (_, header):
        return header


@contextmanager
def _open(path: Path, kind: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield a file of a certain kind, and its header."""
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {}).get("kaccess", "{}"))
            if (found := header.get("kind")) != kind:
                raise InputError(
                    f"{path} must be a {kind}, but it is a "
                    f"{found or 'file of another kind'}. If another version of kaccess "
                    "wrote it, use that version, or start again in a new folder."
                )
            yield file, header
    except FileNotFoundError:
        raise InputError(f"{path} does not exist. Check the path.") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error


def _as_os_error(error: SafetensorError) -> OSError:
    """Return the error of the operating system that safetensors only tells as text."""
    if number := re.search(r"os error (\d+)", str(error)):
        code = int(number[1])
        return OSError(code, os.strerror(code))
    return OSError(str(error))
