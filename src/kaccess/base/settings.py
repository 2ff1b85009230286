"""Nested settings: flattened to one level, and compared."""

from collections.abc import Mapping
from typing import Any

__all__ = ["Settings", "describe_changes", "flatten"]

Settings = Mapping[str, Any]
"""Settings by name, nested, as JSON can hold them."""


def flatten(settings: Settings, prefix: str = "") -> dict[str, Any]:
    """Return nested settings as one level with dotted names."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def describe_changes(stored: Settings, given: Settings) -> str:
    """Return how the given settings differ from those stored; empty if they do not.

    Settings that are stored but not given do not count.
    """
    before = flatten(stored)
    return "; ".join(
        f"{name} was {_shorten(before.get(name))} and is now {_shorten(value)}"
        for name, value in flatten(given).items()
        if before.get(name) != value
    )


def _shorten(value: object) -> str:
    """Return a value as text; of a long one, such as a hash, only the beginning."""
    text = repr(value)
    return text if len(text) < 60 else f"{text[:13]}...'"
