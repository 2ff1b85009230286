"""Defaults that differ in warp, where thousands of robots act at a time."""

from dataclasses import fields, replace
from typing import Any, TypeVar

from kaccess.config.names import EngineName

__all__ = ["ByEngine", "fit_to_engine"]

Settings = TypeVar("Settings")


class ByEngine(int):
    """A default that differs in warp. What a user sets is a plain int, and stays.

    Args:
        value: Default in other engines.
        warp: Default in warp.
    """

    warp: int

    def __new__(cls, value: int, warp: int) -> "ByEngine":
        """Return the number."""
        number = super().__new__(cls, value)
        number.warp = warp
        return number

    def __getnewargs__(self) -> tuple[int, int]:  # type: ignore[override]
        """Return what a copy is made from."""
        return int(self), self.warp


def fit_to_engine(settings: Settings, engine: EngineName) -> Settings:
    """Return settings with the defaults of an engine; what a user set stays."""
    chosen: dict[str, Any] = {}
    for field in fields(settings):  # type: ignore[arg-type]  # a dataclass
        value = getattr(settings, field.name)
        if isinstance(value, ByEngine):
            chosen[field.name] = value.warp if engine == "warp" else int(value)
    return replace(settings, **chosen)  # type: ignore[type-var]
