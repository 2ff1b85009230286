"""Style of figures: in files, and on a page that may be light or dark.

A figure is drawn once, with the colours below. Files use these colours. On the page
each colour becomes a CSS variable, so that lines and text are readable on a light and
on a dark background.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from kaccess.base.files import whole_file

__all__ = [
    "ACCENT",
    "FAINT",
    "GRID",
    "INK",
    "MARKERS",
    "SERIES",
    "STRONG",
    "figure_style",
    "inline_svg",
    "make_figure",
    "save_figure",
]

INK = "#1b1d23"  # text
FAINT = "#8a8f9c"  # axes and details
GRID = "#d8dbe2"
# Safe for colour-blind readers: Okabe and Ito, 2008, without yellow and black.
SERIES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
ACCENT, STRONG = SERIES[0], SERIES[1]
MARKERS = "osD^vP"  # tell lines apart in print without colours

_CSS = {INK: "ink", FAINT: "faint", GRID: "grid"} | {
    colour: f"series-{number}" for number, colour in enumerate(SERIES)
}
_FONT = "DejaVu Sans"  # comes with matplotlib
_STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": [_FONT],
    "font.size": 10.5,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 11.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "svg.fonttype": "none",  # text stays text, not outlines
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw in the style of the package within this context."""
    with mpl.rc_context(_STYLE):
        yield


def make_figure(width: float = 5.4, height: float = 3.5) -> Figure:
    """Return an empty figure of a size in inches; use it within `figure_style`."""
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Figure, path: Path, *, dpi: int = 150) -> None:
    """Write a figure on a white background, in the format of the file suffix."""
    options: dict[str, Any] = {"facecolor": "white", "dpi": dpi}
    if path.suffix == ".svg":
        options["metadata"] = {"Date": None}
    with whole_file(path) as draft, _fix_ids(path.stem):
        figure.savefig(draft, **options)


def inline_svg(figure: Figure, name: str, *, dpi: int = 150) -> str:
    """Return a figure as SVG for a page, without background and with CSS colours.

    Args:
        figure: The figure.
        name: Prefix of all ids in the SVG, unique on the page.
        dpi: Resolution of images in the figure.
    """
    text = io.StringIO()
    with _fix_ids(name):
        figure.savefig(text, format="svg", dpi=dpi, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(
        r'(?<=<svg) ([^>]*?)width="[^"]*" height="[^"]*"', r" \1", svg, count=1
    )
    svg = re.sub(r"#[0-9a-f]{6}\b", _to_css_variable, svg)
    svg = svg.replace(f"'{_FONT}'", "system-ui")
    svg = re.sub(r'\b(id="|xlink:href="#|url\(#)', rf"\g<1>{name}-", svg)
    return svg.strip()


def _to_css_variable(match: re.Match[str]) -> str:
    colour = match.group()
    return f"var(--{_CSS[colour]}, {colour})" if colour in _CSS else colour


@contextmanager
def _fix_ids(salt: str) -> Iterator[None]:
    """Make matplotlib give the parts of an SVG the same ids each time."""
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "none"}):
        yield
