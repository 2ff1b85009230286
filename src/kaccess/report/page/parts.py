"""Building blocks of a page: sections, and the kinds of parts in them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from matplotlib.figure import Figure

__all__ = [
    "Drawing",
    "Facts",
    "Film",
    "Films",
    "Gallery",
    "Graph",
    "Missing",
    "Part",
    "Picture",
    "Section",
    "Settings",
    "Table",
    "make_file_name",
]


def make_file_name(text: str) -> str:
    """Return a text as a name for files and CSS: letters, digits and dashes."""
    return "".join(letter if letter.isalnum() else "-" for letter in text)


@dataclass(frozen=True)
class Facts:
    """Short facts, each with its name.

    Args:
        rows: Names and values.
        picture: Picture beside them, or None.
    """

    rows: Sequence[tuple[str, str]]
    picture: "Picture | None" = None
    kind: ClassVar[str] = "facts"


@dataclass(frozen=True)
class Settings:
    """Settings, folded away until a reader opens them.

    Args:
        title: Title that is always visible.
        rows: Names and values.
    """

    title: str
    rows: Sequence[tuple[str, str]]
    kind: ClassVar[str] = "settings"


@dataclass(frozen=True)
class Table:
    """A table of numbers.

    Args:
        caption: Caption above the table.
        head: Names of the columns.
        rows: Cells; the first cell of a row is its name.
        note: Explanation below the table.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    kind: ClassVar[str] = "table"


@dataclass(frozen=True)
class Drawing:
    """A figure, on the page and as files beside it.

    Args:
        name: Name of the files, unique on the page.
        figure: The figure.
        alt: Description for readers who do not see it.
        caption: Caption below the figure.
        wide: Whether it has the full width of the page; on a phone it then scrolls.
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
        image: Picture as a data URI.
        alt: Description for readers who do not see it.
        title: First line below it.
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
        caption: Caption above them.
        pictures: The pictures.
        strip: The same pictures as one figure, for the files beside the page, if they
            show one motion.
    """

    caption: str
    pictures: Sequence[Picture]
    strip: Drawing | None = None
    kind: ClassVar[str] = "gallery"


@dataclass(frozen=True)
class Film:
    """Pictures of one motion, from left to right.

    Args:
        caption: Caption above them.
        pictures: The pictures; titles are shown above, lines below.
    """

    caption: str
    pictures: Sequence[Picture]


@dataclass(frozen=True)
class Films:
    """Several motions, one below the other.

    Args:
        caption: Caption above them.
        films: The motions.
        strip: All of them as one figure, for the files beside the page.
    """

    caption: str
    films: Sequence[Film]
    strip: Drawing
    kind: ClassVar[str] = "films"


@dataclass(frozen=True)
class Missing:
    """A note that a result is missing.

    Args:
        text: Sentence that names the result.
        command: Command that makes it.
    """

    text: str
    command: str
    kind: ClassVar[str] = "missing"


@dataclass(frozen=True)
class Graph:
    """The pose graph, to be explored in the browser.

    Args:
        content: Data for the script of the graph, as JSON.
        sheet: Data URI with pictures of all poses; empty if there are too many.
    """

    content: Mapping[str, Any]
    sheet: str
    kind: ClassVar[str] = "graph"


Part = Facts | Settings | Table | Drawing | Gallery | Films | Missing | Graph


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Args:
        name: Name, unique on the page.
        title: Heading.
        lead: One or two sentences below the heading.
        parts: Parts of the section.
    """

    name: str
    title: str
    lead: str
    parts: Sequence[Part] = field(default_factory=tuple)
