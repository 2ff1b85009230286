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


def describe_changes(
    stored: Settings, given: Settings, *, complete: bool = False
) -> str:
    """Return how the given settings differ from those stored; empty if they do not.

    Args:
        stored: Earlier settings.
        given: New settings.
        complete: Whether a setting that is stored but not given is a difference too.
    """
    before, now = flatten(stored), flatten(given)
    names = dict.fromkeys([*before, *now] if complete else now)
    return "; ".join(
        f"{name} was {_shorten(before.get(name))} and is now {_shorten(now.get(name))}"
        for name in names
        if before.get(name) != now.get(name)
    )


def _shorten(value: object) -> str:
    """Return a value as text; a long string, such as a hash, is cut off."""
    text = repr(value)
    is_long = isinstance(value, str) and len(text) >= 60
    return f"{text[:13]}...'" if is_long else text
