"""Kinds of numbers, and the check of all fields of a config, each by its type.

A field says what it takes by its type: `Count`, `Seed`, `Share`, ... A plain `float`
takes any number of ordinary size, and a `Literal` the choices that it lists. The error
names the setting and says what was expected.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import inf
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from kaccess.base.errors import InputError

__all__ = [
    "Count",
    "Index",
    "Kind",
    "NameOrObject",
    "NotNegative",
    "Port",
    "Poses",
    "Positive",
    "Seed",
    "Share",
    "Size",
    "Threads",
    "check_choice",
    "check_fields",
    "check_left_out",
    "check_number",
    "whole",
]


@dataclass(frozen=True)
class Kind:
    """A kind of number, with its bounds.

    Args:
        least: Smallest value.
        most: Largest value; larger ones are typing errors, or need too much memory.
        above: Whether `least` itself is too small.
        below: Whether `most` itself is too large.
        whole: Whether only whole numbers count.
    """

    least: float
    most: float
    above: bool = False
    below: bool = False
    whole: bool = False

    def check(self, name: str, value: object) -> None:
        """Raise `InputError` if a value is not of this kind."""
        if problem := self._find_problem(value):
            given = repr(value) if isinstance(value, str) else value
            raise InputError(f"`{name}` must {problem}, got {given}.")

    def _find_problem(self, value: Any) -> str:  # noqa: ANN401  # of any type
        """Return what a value must be and is not; empty if it is of this kind."""
        is_number = isinstance(value, Integral if self.whole else Real)
        if not is_number or isinstance(value, bool):
            return f"be a {'whole ' if self.whole else ''}number"
        if value != value or abs(value) == inf:
            return "be a finite number"
        if value < self.least or (self.above and value == self.least):
            return self._describe_least()
        if value > self.most or (self.below and value == self.most):
            return f"be {'below' if self.below else 'at most'} {self.most:,}"
        return ""

    def _describe_least(self) -> str:
        if self.least == 0:
            return "be positive" if self.above else "not be negative"
        return f"be {'above' if self.above else 'at least'} {self.least:,}"


@dataclass(frozen=True)
class NameOrObject:
    """A registered name, or an object of the user's own in its place.

    Args:
        names: Names that are registered.
    """

    names: tuple[str, ...]

    def check(self, name: str, value: object) -> None:
        """Raise `InputError` for a name that is not registered."""
        if isinstance(value, str):
            check_choice(**{name: (value, self.names)})


def whole(least: int, most: int) -> Kind:
    """Return the kind of whole numbers within bounds."""
    return Kind(least, most, whole=True)


_LARGEST = 10**6  # seconds, metres, radians: larger values are typing errors
_PLAIN = {int: whole(-(2**31), 2**31), float: Kind(-_LARGEST, _LARGEST)}

Count = Annotated[int, whole(1, 10**9)]
"""Number of things that are done in turn, such as episodes."""
Poses = Annotated[int, whole(1, 10**5)]
"""Number of poses, and of other things of which memory holds many."""
Size = Annotated[int, whole(1, 10**4)]
"""Number of learners, and of other things of which memory holds few."""
Index = Annotated[int, whole(0, 10**5 - 1)]
"""Number of a pose."""
Seed = Annotated[int, whole(0, 2**62)]
"""Seed of random numbers."""
Threads = Annotated[int, whole(0, 1024)]
"""Number of CPU threads; 0 takes all."""
Port = Annotated[int, whole(0, 65_535)]
"""Network port; 0 takes a free one."""
Positive = Annotated[float, Kind(0, _LARGEST, above=True, below=True)]
"""Positive number of ordinary size."""
NotNegative = Annotated[float, Kind(0, _LARGEST, below=True)]
"""Number of ordinary size that may be 0."""
Share = Annotated[float, Kind(0, 1)]
"""Number from 0 to 1."""


def check_number(kind: Any, **settings: float) -> None:  # noqa: ANN401  # a type
    """Raise `InputError` for a setting that is not of a kind, such as `Seed`."""
    for name, value in settings.items():
        _check_value(kind, name, value)


def check_fields(config: Any) -> None:  # noqa: ANN401  # any dataclass
    """Raise `InputError` for a field of a config that its type does not allow."""
    for each in fields(config):
        _check_value(each.type, each.name, getattr(config, each.name))


def check_choice(**settings: tuple[object, Iterable[str]]) -> None:
    """Raise `InputError` for a setting, (value, choices), that is no valid choice."""
    for name, (value, choices) in settings.items():
        if value not in (known := tuple(choices)):
            raise InputError(
                f"`{name}` must be one of {', '.join(known)}, got {value!r}."
            )


def check_left_out(config: Any, names: Iterable[str], because: str) -> None:  # noqa: ANN401  # any dataclass
    """Raise `InputError` for a field that was set although it has no effect.

    Args:
        config: Config whose fields have defaults.
        names: Names of the fields without effect.
        because: When they have none, such as `with method louvain`.
    """
    defaults = {each.name: each.default for each in fields(config)}
    for name in names:
        if (value := getattr(config, name)) != defaults[name]:
            raise InputError(
                f"`{name}` has no effect {because}. Leave it out (got {value})."
            )


def _check_value(hint: Any, name: str, value: object) -> None:  # noqa: ANN401  # a type
    """Check a value by the type of its field."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        if value is not None or NoneType not in parts:
            (only,) = (part for part in parts if part is not NoneType)
            _check_value(only, name, value)
    elif origin is tuple:
        _check_tuple(parts, name, value)
    elif origin is Literal:
        check_choice(**{name: (value, parts)})
    elif origin is Annotated:
        parts[1].check(name, value)
    elif hint in _PLAIN:
        _PLAIN[hint].check(name, value)


def _check_tuple(parts: tuple[Any, ...], name: str, values: object) -> None:
    """Check each value of a tuple, which may have any length or a fixed one."""
    fixed = len(parts) if parts[-1] is not Ellipsis else None
    if not isinstance(values, tuple | list) or fixed not in (None, len(values)):
        raise InputError(
            f"`{name}` must be {fixed or 'several'} values in a tuple, got {values!r}."
        )
    for value in values:
        _check_value(parts[0], name, value)
