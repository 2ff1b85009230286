"""The page of a study: complete, self-contained, and honest about what is missing."""

import re
import shutil
from html.parser import HTMLParser

import pytest
from kaccess.stored import load_poses

from kaccess import InputError, Study, pipeline, views
from kaccess.report import pictures
from kaccess.report.page.contents import read_contents
from kaccess.report.page.flow import run_section
from kaccess.report.page.write import _script_json
from tests.report.conftest import add_training

SECTIONS = [
    *("run", "poses", "moves", "choice", "clusters", "graph", "rivals"),
    *("learning", "tests", "motion"),
]
FIGURES = {
    *("contacts", "attitudes", "matrix", "asymmetry", "times", "reach", "choice"),
    *("sizes", "chord", "curves-fall-recovery", "curves-fall-recovery-success"),
    *("curves-backflip", "curves-backflip-success", "success-fall-recovery"),
    *("curves-fall-recovery-slope-10", "curves-fall-recovery-slope-10-success"),
    *("success-backflip", "joints-fall-recovery", "torques-fall-recovery"),
    *("joints-backflip", "torques-backflip"),
    *("snapshots-fall-recovery", "snapshots-backflip"),
}


class Outline(HTMLParser):
    """What a page is made of."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


@pytest.fixture(scope="module")
def html(page):
    return page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def outline(html):
    return Outline(html)


def sampled_only(clustered, tmp_path):
    """Return a study that has poses and nothing else."""
    path = tmp_path / "study"
    settings = Study(clustered).settings["sample"]
    robot = Study(clustered).settings["robot"]
    pipeline.sample(robot, path, pipeline.SampleConfig(n=settings["n"]))
    return path


def missing(html):
    return re.findall(r'<p class="missing">(.*?) Next: <code>(.*?)</code>', html)


def test_all_sections_come_in_the_order_of_the_flow(outline, html):
    assert [section["id"] for section in outline.all("section")] == SECTIONS
    assert [link["href"] for link in outline.all("a")][1:] == [
        f"#{s}" for s in SECTIONS
    ]
    assert missing(html) == []


def test_every_figure_is_a_png_and_an_svg_beside_the_page(page):
    folder = page.parent / "figures"
    assert {path.stem for path in folder.glob("*.svg")} == FIGURES
    for path in folder.glob("*.svg"):
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        assert path.read_text().startswith("<?xml")


def test_every_figure_but_snapshots_is_inline_and_described(outline):
    shown = [f for f in outline.all("figure") if f.get("id", "").startswith("figure-")]
    names = {figure["id"].removeprefix("figure-") for figure in shown}
    assert names == {name for name in FIGURES if not name.startswith("snapshots")}
    sheets = [div for div in outline.all("div") if div.get("class") == "sheet"]
    assert len(sheets) == len(shown)
    assert all(len(sheet["aria-label"]) > 20 for sheet in sheets)


def test_pictures_have_words(outline):
    images = outline.all("img")
    assert len(images) > 20
    assert all(image["alt"] for image in images)


def test_nothing_comes_from_elsewhere(outline, html):
    for _, attrs in outline.tags:
        for name in ("src", "href", "xlink:href", "action"):
            value = attrs.get(name) or "#"
            assert value.startswith(("#", "data:")), value[:80]
    assert "default-src 'none'" in html
    for address in re.findall(r"url\(([^)]{1,40})", html):
        assert address.startswith(("#", "data:")), address


def test_names_are_unique(outline):
    names = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert len(names) == len(set(names))


def test_a_study_of_poses_says_which_commands_make_the_rest(clustered, tmp_path):
    path = sampled_only(clustered, tmp_path)
    html = views.report(path).read_text(encoding="utf-8")
    commands = [command.replace(str(path), "STUDY") for _, command in missing(html)]
    assert commands == [
        "kaccess access STUDY",  # moves
        "kaccess access STUDY",  # number of clusters
        "kaccess access STUDY",  # clusters
        "kaccess access STUDY",  # graph
        "kaccess access STUDY",  # rivals
        "kaccess train STUDY --task fall-recovery",
        "kaccess train STUDY --task backflip",
        "kaccess train STUDY --task fall-recovery",  # tests
        "kaccess train STUDY --task backflip",
        "kaccess train STUDY --task fall-recovery",  # motion
        "kaccess train STUDY --task backflip",
    ]
    assert [section["id"] for section in Outline(html).all("section")] == SECTIONS


def test_a_half_done_matrix_says_how_much_is_left(clustered, tmp_path, monkeypatch):
    monkeypatch.setattr("kaccess.access.estimate._TILE_PAIRS", 48)
    path = sampled_only(clustered, tmp_path)
    pipeline.access(path, pipeline.AccessConfig(), only_rows=range(12))
    found = missing(views.report(path).read_text(encoding="utf-8"))
    assert ("276 moves are to come.", f"kaccess access {path}") in found


def test_before_any_test_policies_are_shown_all_the_same(clustered, tmp_path):
    path = shutil.copytree(clustered, tmp_path / "study")
    add_training(path, "backflip")
    html = views.report(path).read_text(encoding="utf-8")
    assert "A backflip by ka/seed-0 from test pose" in html
    assert (
        "Backflip has not been tested yet.",
        f"kaccess evaluate {path} --task backflip",
    ) in missing(html)


def test_the_best_policy_is_shown(html):
    assert "A recovery by ka/seed-1 from test pose" in html
    assert "A backflip by ka/seed-1 from test pose" in html


def test_runs_under_conditions_are_told_apart(html):
    assert "Fall recovery (slope-10): reward, 2 seeds." in html
    assert "Fall recovery: reward, 2 seeds (the paper&#39;s Fig. 9)." in html


def test_scores_are_on_the_page(html):
    cells = re.findall(r"<tr><th scope=\"row\">ka</th>(.*?)</tr>", html)
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in cells]
    texts = next(row for row in rows if len(row) == 7)
    assert texts[:3] == ["3", "2", "6.00 (1.50)"]
    assert texts[3].startswith("60.0%") and texts[4].startswith("55.0%")
    assert texts[5:] == ["0.80 s", "2.0 J"]


def test_how_long_stages_took_is_on_the_page(clustered, tmp_path):
    path = shutil.copytree(clustered, tmp_path / "study")
    (path / "timings.json").write_text('{"sample": 6.2, "access": 1980, "train": 9000}')
    study = Study(path)
    section = run_section(read_contents(study, load_poses(study)))
    rows = dict(section.parts[0].rows)
    assert rows["time spent"] == "sample 6 s, access 33 min, train 2.5 h"


def test_pictures_are_made_once(whole_study, page, tmp_path, monkeypatch):
    path = shutil.copytree(whole_study, tmp_path / "study")

    def cannot(*args, **kwargs):
        raise AssertionError("made again")

    for kind in ("render", "sketch"):
        monkeypatch.setitem(pictures._MAKERS, kind, cannot)
    text = views.report(path).read_text(encoding="utf-8")
    assert text.replace(str(path), "") == page.read_text(encoding="utf-8").replace(
        str(whole_study), ""
    )


def test_without_opengl_there_are_drawings_and_a_note(clustered, tmp_path, monkeypatch):
    path = shutil.copytree(clustered, tmp_path / "study")
    shutil.rmtree(path / ".cache", ignore_errors=True)

    def cannot(*args, **kwargs):
        raise InputError("Nothing can be rendered here.")

    monkeypatch.setitem(pictures._MAKERS, "render", cannot)
    html = views.report(path).read_text(encoding="utf-8")
    assert "Nothing can be rendered here. These are line drawings." in html
    assert len(Outline(html).all("img")) > 10


def test_text_cannot_end_a_script():
    assert _script_json({"a": "</script>"}) == '{"a":"\\u003c/script>"}'
