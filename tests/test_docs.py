"""Links between pages work, and pictures exist."""

import re
from pathlib import Path

import pytest

import kaccess
from kaccess import cli

ROOT = Path(__file__).parents[1]
PAGES = sorted(
    page
    for folder in (".", "docs", "examples", "examples/gallery")
    for page in (ROOT / folder).glob("*.md")
)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def prose(page):
    """Return the text of a page without its code."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(), flags=re.DOTALL)


def anchors(page):
    """Return the anchors that GitHub gives the headings of a page."""
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles
    }


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_work(page):
    broken = []
    for link in LINK.findall(prose(page)):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_is_in_the_index():
    linked = set(LINK.findall((ROOT / "docs" / "README.md").read_text()))
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert pages <= linked


PITCH = (
    "how fast a legged robot gets from one resting pose to another. The times form a "
    "graph. It shows whether the robot can get up, gives moves that get it up without "
    "learning, and guides learning."
)


@pytest.mark.parametrize(
    "page", ["README.md", "docs/README.md", "CITATION.cff", "pyproject.toml"]
)
def test_every_page_says_the_same_of_the_package(page):
    assert PITCH in " ".join((ROOT / page).read_text().split())


def test_the_package_and_its_command_say_so_too():
    assert PITCH in " ".join(kaccess.__doc__.split())
    assert PITCH in cli._PITCH


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().split()) < 600


def test_the_citation_has_the_version():
    assert f"version: {kaccess.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_animation_is_small():
    assert (ROOT / "docs" / "recovery.webp").stat().st_size < 1.5e6
