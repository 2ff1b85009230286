"""Checks of settings. The error names the setting and says what was expected."""

from collections.abc import Iterable

from kaccess.base.errors import InputError

__all__ = ["check_choice", "check_counts", "check_not_negative", "check_positive"]

_LARGEST = 1e6  # seconds, metres, radians: larger values are typing errors


def check_positive(**settings: float) -> None:
    """Raise `InputError` for a setting that is not positive, or implausibly large."""
    for name, value in settings.items():
        if not 0 < value < _LARGEST:
            raise InputError(
                f"`{name}` must be positive and below {_LARGEST:g}, got {value}."
            )


def check_not_negative(**settings: float) -> None:
    """Raise `InputError` for a setting below 0."""
    for name, value in settings.items():
        if not value >= 0:
            raise InputError(f"`{name}` must not be negative, got {value}.")


def check_counts(**settings: int) -> None:
    """Raise `InputError` for a setting below 1."""
    for name, value in settings.items():
        if value < 1:
            raise InputError(f"`{name}` must be at least 1, got {value}.")


def check_choice(**settings: tuple[str, Iterable[str]]) -> None:
    """Raise `InputError` for a setting, (value, choices), that is no valid choice."""
    for name, (value, choices) in settings.items():
        if value not in choices:
            raise InputError(
                f"`{name}` must be one of {', '.join(choices)}, got {value!r}."
            )
