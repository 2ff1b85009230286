"""Numbers in words, with their units."""

import numpy as np

from kaccess.stats import Interval
from kaccess.types import Array

__all__ = [
    "NONE",
    "between",
    "degrees",
    "duration",
    "interval",
    "number",
    "seconds",
    "share",
]

NONE = "-"  # what stands where there is no number


def share(part: int, whole: int) -> str:
    """Return a part of a whole in percent."""
    return f"{part / whole:.1%}" if whole else "none"


def interval(value: Interval) -> str:
    """Return a share in percent with its interval."""
    return f"{value.value:.1%} ({value.low:.1%} to {value.high:.1%})"


def between(value: Interval) -> str:
    """Return a number with its interval; with none if it is not known."""
    if not np.isfinite(value.low):
        return f"{value.value:.2f}"
    return f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})"


def seconds(value: float) -> str:
    """Return a time in seconds; a dash if there is none."""
    return f"{value:.2f} s" if np.isfinite(value) else NONE


def number(value: float, digits: int = 2) -> str:
    """Return a number; a dash if there is none."""
    return f"{value:.{digits}f}" if np.isfinite(value) else NONE


def duration(value: float) -> str:
    """Return how long something took, in the unit that suits it."""
    if value < 120:
        return f"{value:.0f} s"
    return f"{value / 60:.0f} min" if value < 7200 else f"{value / 3600:.1f} h"


def degrees(angles: Array) -> list[str]:
    """Return angles [rad] in whole degrees."""
    return [f"{angle:.0f} deg" for angle in np.degrees(angles)]
