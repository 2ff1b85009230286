"""Writes the page of a study and its figures."""

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
    make_choice_section,
    make_clusters_section,
    make_rivals_section,
)
from kaccess.report.page.contents import Contents, read_contents
from kaccess.report.page.graph import make_graph_section
from kaccess.report.page.learning import make_learning_section
from kaccess.report.page.motions import make_motion_section
from kaccess.report.page.moves import make_moves_section
from kaccess.report.page.parts import Drawing, Films, Gallery, Section
from kaccess.report.page.poses import make_poses_section
from kaccess.report.page.regions import make_regions_section
from kaccess.report.page.routes import make_routes_section
from kaccess.report.page.run import make_run_section
from kaccess.report.page.tests import make_tests_section
from kaccess.study import Study

__all__ = ["make_sections", "write_report"]

_SECTIONS = (
    make_run_section,
    make_poses_section,
    make_moves_section,
    make_routes_section,
    make_choice_section,
    make_clusters_section,
    make_graph_section,
    make_rivals_section,
    make_regions_section,
    make_learning_section,
    make_tests_section,
    make_motion_section,
)


def write_report(study: Study) -> Path:
    """Write `report.html` of a study, and its figures as files beside it.

    Returns:
        The page.
    """
    contents = read_contents(study)
    sections = make_sections(contents)
    for drawing in _list_drawings(sections):
        for suffix in (".png", ".svg"):
            path = study.path / "figures" / f"{drawing.name}{suffix}"
            save_figure(drawing.figure, path)
    page = study.path / "report.html"
    with whole_file(page) as draft:
        draft.write_text(_render_html(contents, sections), encoding="utf-8")
    return page


def make_sections(contents: Contents) -> list[Section]:
    """Return the sections of a page, in the order of the stages."""
    return [section(contents) for section in _SECTIONS]


def _list_drawings(sections: Sequence[Section]) -> list[Drawing]:
    parts = [part for section in sections for part in section.parts]
    shown = [part for part in parts if isinstance(part, Gallery | Films)]
    strips = [part.strip for part in shown if part.strip]
    return [*(part for part in parts if isinstance(part, Drawing)), *strips]


def _render_html(contents: Contents, sections: Sequence[Section]) -> str:
    environment = Environment(
        loader=PackageLoader("kaccess.report.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["svg"] = _render_svg
    environment.filters["script_json"] = _encode_script_json
    template = environment.get_template("report.html.jinja")
    return template.render(
        name=contents.poses.robot.name,
        n_poses=contents.summary.n_poses,
        sections=sections,
        note=contents.album.note,
        version=__version__,
        library=Markup(_read_vendored("cytoscape.min.js")),
    )


def _render_svg(drawing: Drawing) -> Markup:
    return Markup(inline_svg(drawing.figure, drawing.name))


def _encode_script_json(content: Any) -> Markup:  # noqa: ANN401  # JSON
    """Return JSON that is safe inside a script element."""
    text = json.dumps(content, separators=(",", ":")).replace("<", "\\u003c")
    return Markup(text)


def _read_vendored(name: str) -> str:
    folder = files("kaccess.report.page") / "vendor"
    return (folder / name).read_text(encoding="utf-8")
