"""JSON files with arrays and dataclasses, which are never half-written."""

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.damage import Schema, check_content, explain_damage
from kaccess.base.files import whole_file
from kaccess.base.settings import Settings

__all__ = ["read_json", "write_json"]


def write_json(path: Path, content: Settings) -> None:
    """Write a JSON file; it replaces an earlier one."""
    with whole_file(path) as draft:
        draft.write_text(json.dumps(content, indent=2, default=_as_json) + "\n")


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
    return content


def _as_json(value: object) -> object:
    """Return arrays as lists, NaN in them as None, and dataclasses as dicts."""
    if isinstance(value, np.ndarray):
        plain = value.astype(object)
        plain[value != value] = None
        return plain.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")
