"""Errors of files that cannot be used: they name the file and say what to do."""

import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from kaccess.base.errors import InputError

__all__ = ["DAMAGE", "NUMBER", "Schema", "check_content", "explain_damage"]

DAMAGE: tuple[type[Exception], ...] = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, OSError, RuntimeError),
    *(TypeError, ValueError, BadZipFile, struct.error, zlib.error, MemoryError),
)
"""What readers of files raise if the content is not what they expect."""

NUMBER = (int, float)
"""In a schema: any number."""

Schema = Any
"""A type or a tuple of types; `{"name": schema}`, where a name that ends with a
question mark may be missing; `[schema]` for a list of such values; `(None, schema)` for
a value that may be null."""

_WORDS: Mapping[type, str] = {
    str: "text",
    dict: "an object",
    list: "a list",
    bool: "true or false",
}


@contextmanager
def explain_damage(path: Path, remedy: str) -> Iterator[None]:
    """Raise `InputError` if the file that is read in this block cannot be used.

    Args:
        path: The file.
        remedy: A sentence that says what to do.
    """
    try:
        yield
    except InputError as error:
        if str(path) in str(error):
            raise
        raise InputError(f"{path} cannot be used: {error} {remedy}") from error
    except FileNotFoundError:
        raise InputError(f"{path} does not exist. {remedy}") from None
    except DAMAGE as error:
        raise InputError(f"{path} is damaged: {_describe(error)}. {remedy}") from error


def _describe(error: Exception) -> str:
    """Return the first sentence of an error, without the full stop."""
    if isinstance(error, KeyError):
        return f"it has no {error}"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0].split(". ")[0].rstrip(".")


def check_content(value: object, schema: Schema, name: str = "its content") -> None:
    """Raise `ValueError` if a value from a JSON file is not as expected.

    Args:
        value: The value.
        schema: What is expected.
        name: Name of the value in the error.
    """
    if isinstance(schema, tuple) and schema[0] is None:
        if value is not None:
            check_content(value, schema[1], name)
    elif isinstance(schema, Mapping):
        _check_object(value, schema, name)
    elif isinstance(schema, list):
        _check_type(value, list, name)
        assert isinstance(value, list)
        for number, each in enumerate(value):
            check_content(each, schema[0], f"{name}[{number}]")
    else:
        _check_type(value, schema, name)


def _check_object(value: object, schema: Mapping[str, Schema], name: str) -> None:
    _check_type(value, dict, name)
    assert isinstance(value, dict)
    for key, expected in schema.items():
        entry = key.removesuffix("?")
        if entry in value:
            check_content(value[entry], expected, f"`{entry}`")
        elif entry == key:
            raise ValueError(f"{name} has no `{entry}`")


def _check_type(value: object, kinds: type | tuple[type, ...], name: str) -> None:
    kinds = (kinds,) if isinstance(kinds, type) else kinds
    is_a_bool = isinstance(value, bool) and bool not in kinds  # to Python, an integer
    if not isinstance(value, kinds) or is_a_bool:
        words = _WORDS.get(kinds[0], "a number")
        raise ValueError(f"{name} must be {words}, got {value!r:.40}")
