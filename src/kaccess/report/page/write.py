"""Writes the page and its figures."""

import json
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kaccess.base.files import whole_file
from kaccess.base.version import __version__
from kaccess.report.figures.style import inline_svg, save_figure
from kaccess.report.page.clusters import (
    choice_section,
    clusters_section,
    rivals_section,
)
from kaccess.report.page.contents import Contents, read_contents
from kaccess.report.page.flow import moves_section, poses_section, run_section
from kaccess.report.page.graph import graph_section
from kaccess.report.page.learning import learning_section
from kaccess.report.page.motions import motion_section
from kaccess.report.page.parts import Drawing, Gallery, Section
from kaccess.report.page.tests import tests_section
from kaccess.study import Study

__all__ = ["make_sections", "write_report"]

_SECTIONS = (
    run_section,
    poses_section,
    moves_section,
    choice_section,
    clusters_section,
    graph_section,
    rivals_section,
    learning_section,
    tests_section,
    motion_section,
)


def write_report(study: Study) -> Path:
    """Write `report.html` of a study, and its figures as files beside it.

    Returns:
        The page.
    """
    contents = read_contents(study)
    sections = make_sections(contents)
    for drawing in _drawings(sections):
        for suffix in (".png", ".svg"):
            path = study.path / "figures" / f"{drawing.name}{suffix}"
            save_figure(drawing.figure, path)
    page = study.path / "report.html"
    with whole_file(page) as draft:
        draft.write_text(_html(contents, sections), encoding="utf-8")
    return page


def make_sections(contents: Contents) -> list[Section]:
    """Return the sections of a page, in the order of the flow."""
    return [section(contents) for section in _SECTIONS]


def _drawings(sections: Sequence[Section]) -> list[Drawing]:
    parts = [part for section in sections for part in section.parts]
    strips = [part.strip for part in parts if isinstance(part, Gallery) and part.strip]
    return [*(part for part in parts if isinstance(part, Drawing)), *strips]


def _html(contents: Contents, sections: Sequence[Section]) -> str:
    environment = Environment(
        loader=PackageLoader("kaccess.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["svg"] = _svg
    environment.filters["script_json"] = _script_json
    template = environment.get_template("report.html.jinja")
    return template.render(
        name=Path(contents.poses.robot.name).stem,
        n_poses=contents.summary.n_poses,
        sections=sections,
        note=contents.album.note,
        version=__version__,
        library=Markup(_vendored("cytoscape.min.js")),
    )


def _svg(drawing: Drawing) -> Markup:
    return Markup(inline_svg(drawing.figure, drawing.name))


def _script_json(content: Any) -> Markup:  # noqa: ANN401  # JSON
    """Return JSON that may stand within a script element."""
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(text)


def _vendored(name: str) -> str:
    folder = files("kaccess.report.page") / "vendor"
    return (folder / name).read_text(encoding="utf-8")
