"""JSON files with arrays and dataclasses, which are never half-written.

Their last entry is a checksum of the others, so that a changed number is noticed. To
edit such a file by hand, remove the checksum.
"""

import json
import zlib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.damage import Schema, check_content, explain_damage
from kaccess.base.files import whole_file
from kaccess.base.settings import Settings

__all__ = ["CHECKSUM", "read_json", "write_json"]

CHECKSUM = "crc32"
"""Name of the entry with the checksum."""


def write_json(path: Path, content: Settings) -> None:
    """Write a JSON file; it replaces an earlier one."""
    plain = json.loads(json.dumps(content, default=_as_json))
    checked = {**plain, CHECKSUM: _compute_checksum(plain)}
    with whole_file(path) as draft:
        draft.write_text(json.dumps(checked, indent=2) + "\n")


def read_json(
    path: Path, remedy: str = "Put back a copy of it.", schema: Schema = dict
) -> dict[str, Any]:
    """Return the content of a JSON file, an object; empty if it does not exist.

    Args:
        path: The file.
        remedy: A sentence that says what to do if the file is damaged.
        schema: What the content must be like, as in `check_content`.

    Raises:
        InputError: If the file cannot be read, or its content is of another kind.
    """
    if not path.exists():
        return {}
    with explain_damage(path, remedy):
        content: dict[str, Any] = json.loads(path.read_bytes())
        check_content(content, schema)
        stored = content.pop(CHECKSUM, None)  # files made before have none
        if stored not in (None, _compute_checksum(content)):
            raise ValueError("its content is not what was written")
    return content


def _compute_checksum(content: dict[str, Any]) -> str:
    """Return a checksum of the values in a file, whatever their layout."""
    return f"{zlib.crc32(json.dumps(content).encode()):08x}"


def _as_json(value: object) -> object:
    """Return arrays as lists, NaN in them as None, and dataclasses as dicts."""
    if isinstance(value, np.ndarray):
        plain = value.astype(object)
        plain[value != value] = None
        return plain.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")
