"""Numbers as the page and the command line write them."""

import numpy as np

from kaccess.base.types import Array

__all__ = [
    "NONE",
    "format_degrees",
    "format_duration",
    "format_number",
    "format_quantiles",
    "format_seconds",
    "format_share",
]

NONE = "-"  # shown where there is no number


def format_share(part: int, whole: int) -> str:
    """Return a part of a whole in percent; `none` if the whole is 0."""
    return f"{part / whole:.1%}" if whole else "none"


def format_number(value: float, digits: int = 2) -> str:
    """Return a number; a dash if it is not finite."""
    return f"{value:.{digits}f}" if np.isfinite(value) else NONE


def format_seconds(value: float) -> str:
    """Return a time [s] with its unit; a dash if it is not finite."""
    return f"{value:.2f} s" if np.isfinite(value) else NONE


def format_quantiles(seconds: tuple[float, float, float]) -> str:
    """Return the 5, 50 and 95 % quantile of times [s]."""
    return " / ".join(f"{value:.2f}" for value in seconds) + " s (5/50/95 %)"


def format_duration(seconds: float) -> str:
    """Return how long something took, in seconds, minutes or hours."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def format_degrees(angles: Array) -> list[str]:
    """Return angles [rad] in whole degrees."""
    return [f"{round(angle)} deg" for angle in np.degrees(angles)]
