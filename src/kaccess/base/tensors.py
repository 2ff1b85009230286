"""Arrays and a JSON header in one safetensors file, which is never half-written."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from kaccess.base.errors import InputError
from kaccess.base.files import whole_file

__all__ = ["read_tensors", "write_tensors"]


def write_tensors(
    path: Path, kind: str, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> None:
    """Write a file; it replaces an earlier one.

    Args:
        path: File to write.
        kind: Kind and version of the file, such as `kaccess policy (1)`.
        header: Other entries of the header; JSON must be able to hold them.
        arrays: Arrays by name.
    """
    # One string: safetensors would write several in random order each time.
    text = json.dumps({"kind": kind, **header})
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    with whole_file(path) as draft:
        save_file(plain, draft, metadata={"kaccess": text})
        draft.chmod(0o644)  # safetensors lets only the owner read it


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file.

    Raises:
        InputError: If the file is missing, damaged or of another kind.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {}).get("kaccess", "{}"))
            if (found := header.get("kind")) != kind:
                raise InputError(
                    f"{path} must be a {kind}, but it is a "
                    f"{found or 'file of another kind'}. If another version of kaccess "
                    "wrote it, use that version, or start again in a new folder."
                )
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict
    except FileNotFoundError:
        raise InputError(f"{path} does not exist. Check the path.") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    return header, arrays
