"""What a page is made of: sections, and in them a few kinds of parts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from matplotlib.figure import Figure

__all__ = [
    "Drawing",
    "Facts",
    "Gallery",
    "Graph",
    "Missing",
    "Part",
    "Picture",
    "Section",
    "Settings",
    "Table",
]


@dataclass(frozen=True)
class Facts:
    """Short facts, each with its name.

    Args:
        rows: Names and values.
        picture: Shown beside them, if there is one.
    """

    rows: Sequence[tuple[str, str]]
    picture: "Picture | None" = None
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True)
class Settings:
    """Many settings, folded away.

    Args:
        title: What they are of.
        rows: Names and values.
    """

    title: str
    rows: Sequence[tuple[str, str]]
    kind: ClassVar[str] = "settings"


@dataclass(frozen=True)
class Table:
    """A table of numbers.

    Args:
        caption: What it shows.
        head: Names of the columns.
        rows: Cells; the first of a row is its name.
        note: What to know when reading it.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True)
class Drawing:
    """A figure, inline and as files beside the page.

    Args:
        name: Of the files, and unique on the page.
        figure: The figure.
        alt: What it shows, for those who do not see it.
        caption: What stands below it.
        wide: Whether it takes the whole width, and scrolls on a phone.
    """

    name: str
    figure: Figure
    alt: str
    caption: str
    wide: bool = False
    kind: ClassVar[str] = "drawing"


@dataclass(frozen=True)
class Picture:
    """A picture of the robot with a few lines below.

    Args:
        image: Data URI.
        alt: What it shows.
        title: First line.
        lines: Further lines.
    """

    image: str
    alt: str
    title: str = ""
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Gallery:
    """Several pictures.

    Args:
        caption: What they have in common.
        pictures: The pictures.
        strip: The same as a figure, for the files beside the page, if they are one
            motion, to be read from left to right.
    """

    caption: str
    pictures: Sequence[Picture]
    strip: Drawing | None = None
    kind: ClassVar[str] = "gallery"


@dataclass(frozen=True)
class Missing:
    """What a study does not have yet.

    Args:
        text: What it is.
        command: What makes it.
    """

    text: str
    command: str
    kind: ClassVar[str] = "missing"


@dataclass(frozen=True)
class Graph:
    """The pose graph, to be explored.

    Args:
        content: What its script reads.
        sheet: Data URI of pictures of all poses; empty if there are too many.
    """

    content: Mapping[str, Any]
    sheet: str
    kind: ClassVar[str] = "graph"


Part = Facts | Settings | Table | Drawing | Gallery | Missing | Graph


@dataclass(frozen=True)
class Section:
    """A part of the flow.

    Args:
        name: Unique on the page.
        title: Its heading.
        lead: A sentence or two: what it says.
        parts: What it shows.
    """

    name: str
    title: str
    lead: str
    parts: Sequence[Part] = field(default_factory=tuple)
