"""Arrays and a header of JSON, in one safetensors file that is whole or not there."""

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
    """Write a file of that kind in the place of the one before."""
    # One text: safetensors writes several in any order, and bytes should repeat.
    text = json.dumps({"kind": kind, **header})
    plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    with whole_file(path) as draft:
        save_file(plain, draft, metadata={"kaccess": text})
        draft.chmod(0o644)  # safetensors would keep it from everyone else


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header and the arrays of a file of that kind.

    Raises:
        InputError: If the file is not there, damaged or of another kind.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            header = json.loads((file.metadata() or {}).get("kaccess", "{}"))
            if (found := header.get("kind")) != kind:
                raise InputError(
                    f"{path} is not a {kind}, but a {found or 'file of another kind'}. "
                    "If another version of kaccess made it, go on with that one, or "
                    "begin anew in another folder."
                )
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  # not a dict
    except FileNotFoundError:
        raise InputError(f"{path} is not there.") from None
    except (SafetensorError, OSError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    return header, arrays
