"""Numbers and names as the page writes them."""

import numpy as np

from kaccess.base.types import Array

__all__ = [
    "NONE",
    "TABLE_II",
    "degrees",
    "duration",
    "file_name",
    "number",
    "rank_starts",
    "seconds",
    "share",
]

NONE = "-"  # shown where there is no number
# Success within 3 s of the best seeds, by kind of starts: the paper, Table II.
TABLE_II = {
    "ka": "99.4%",
    "km": "91.8%",
    "wkm": "94.4%",
    "9-pose": "91.6%",
    "1-pose": "92.6%",
    "rnd": "94.6%",
}


def rank_starts(starts: str) -> tuple[int, str]:
    """Return a sort key for kinds of starts: the paper's first, in its order."""
    order = list(TABLE_II)
    return order.index(starts) if starts in order else len(order), starts


def file_name(text: str) -> str:
    """Return a text as a name for files and for CSS."""
    return "".join(letter if letter.isalnum() else "-" for letter in text)


def share(part: int, whole: int) -> str:
    """Return a part of a whole in percent."""
    return f"{part / whole:.1%}" if whole else "none"


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
