"""Defaults that differ in warp, where thousands of robots act at a time."""

from dataclasses import fields, replace
from typing import Any, TypeVar

from kaccess.config.names import EngineName

__all__ = ["NumberByEngine", "WholeByEngine", "fit_to_engine"]

Settings = TypeVar("Settings")


class WholeByEngine(int):
    """A whole number that is another one in warp, if the user sets neither.

    Args:
        value: Default in other engines.
        warp: Default in warp.
    """

    warp: int

    def __new__(cls, value: int, warp: int) -> "WholeByEngine":
        """Return the number."""
        number = super().__new__(cls, value)
        number.warp = warp
        return number

    def __getnewargs__(self) -> tuple[int, int]:  # type: ignore[override]
        """Return what a copy is made from."""
        return int(self), self.warp


class NumberByEngine(float):
    """The same for numbers that are not whole."""

    warp: float

    def __new__(cls, value: float, warp: float) -> "NumberByEngine":
        """Return the number."""
        number = super().__new__(cls, value)
        number.warp = warp
        return number

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        """Return what a copy is made from."""
        return float(self), self.warp


def fit_to_engine(settings: Settings, engine: EngineName) -> Settings:
    """Return settings with the defaults of an engine; what a user set stays."""
    chosen: dict[str, Any] = {}
    for field in fields(settings):  # type: ignore[arg-type]  # a dataclass
        value = getattr(settings, field.name)
        if isinstance(value, WholeByEngine | NumberByEngine):
            plain = int if isinstance(value, int) else float
            chosen[field.name] = value.warp if engine == "warp" else plain(value)
    return replace(settings, **chosen)  # type: ignore[type-var]
