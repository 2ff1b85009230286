"""The page of a study: it is complete, self-contained, and says what is missing."""

import re
import shutil
from html.parser import HTMLParser

import pytest

from kaccess import InputError, Study, pipeline
from kaccess.report.page.contents import read_contents
from kaccess.report.page.motions import make_motion_section
from kaccess.report.page.paper import list_paper_tasks
from kaccess.report.page.run import make_run_section
from kaccess.report.page.scores import find_best_run, score_starts
from kaccess.report.page.tests import make_tests_section
from kaccess.report.page.write import _encode_script_json
from kaccess.report.rendering import album
from kaccess.study import ROUTES
from tests.report.conftest import N_EPISODES, N_TEST_POSES

SECTIONS = [
    *("run", "poses", "moves", "routes", "choice", "clusters", "graph"),
    *("rivals", "regions", "learning", "tests", "motion"),
]
FIGURES = {
    *("contacts", "attitudes", "matrix", "asymmetry", "times", "reach", "choice"),
    *("sizes", "chord", "curves-fall-recovery", "curves-fall-recovery-success"),
    *("curves-backflip", "curves-backflip-success", "success-fall-recovery"),
    *("curves-fall-recovery-slope-10", "curves-fall-recovery-slope-10-success"),
    *("success-backflip", "joints-fall-recovery", "torques-fall-recovery"),
    *("joints-backflip", "torques-backflip", "metric", "exploration", "redundancy"),
    *("routes", "snapshots-fall-recovery", "snapshots-backflip"),
}


class Outline(HTMLParser):
    """Tags of a page."""

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


def sample_only(clustered, tmp_path):
    """Return a study with poses and nothing else."""
    path = tmp_path / "study"
    settings = Study(clustered).settings["sample"]
    robot = Study(clustered).settings["robot"]
    pipeline.sample(robot, path, pipeline.SampleConfig(n=settings["n"]))
    return path


def list_missing(html):
    """Return the notes on missing results, with their commands."""
    return re.findall(r'<p class="missing">(.*?) Next: <code>(.*?)</code>', html)


def test_sections_are_in_the_order_of_the_stages(outline, html):
    assert [section["id"] for section in outline.all("section")] == SECTIONS
    assert [link["href"] for link in outline.all("a")][1:] == [
        f"#{s}" for s in SECTIONS
    ]
    assert list_missing(html) == []


def test_every_figure_is_a_png_and_an_svg_beside_the_page(page):
    folder = page.parent / "figures"
    assert {path.stem for path in folder.glob("*.svg")} == FIGURES
    for path in folder.glob("*.svg"):
        assert path.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
        assert path.read_text().startswith("<?xml")


def test_every_figure_but_snapshots_is_inline_and_described(outline):
    shown = [f for f in outline.all("figure") if f.get("id", "").startswith("figure-")]
    names = {figure["id"].removeprefix("figure-") for figure in shown}
    strips = {"routes", "snapshots-fall-recovery", "snapshots-backflip"}
    assert names == FIGURES - strips
    sheets = [div for div in outline.all("div") if div.get("class") == "sheet"]
    assert len(sheets) == len(shown)
    assert all(len(sheet["aria-label"]) > 20 for sheet in sheets)


def test_pictures_have_alt_texts(outline):
    images = outline.all("img")
    assert len(images) > 20
    assert all(image["alt"] for image in images)


def test_the_page_loads_nothing_from_the_network(outline, html):
    for _, attrs in outline.tags:
        for name in ("src", "href", "xlink:href", "action"):
            value = attrs.get(name) or "#"
            assert value.startswith(("#", "data:")), value[:80]
    assert "default-src 'none'" in html
    for address in re.findall(r"url\(([^)]{1,40})", html):
        assert address.startswith(("#", "data:")), address


def test_ids_are_unique(outline):
    names = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert len(names) == len(set(names))


def test_a_study_of_poses_only_names_the_next_commands(clustered, tmp_path):
    path = sample_only(clustered, tmp_path)
    html = pipeline.report(path).read_text(encoding="utf-8")
    commands = [
        command.replace(str(path), "STUDY") for _, command in list_missing(html)
    ]
    assert commands == [
        "kaccess access STUDY",  # moves
        "kaccess access STUDY",  # getting up
        "kaccess access STUDY",  # number of clusters
        "kaccess access STUDY",  # clusters
        "kaccess access STUDY",  # graph
        "kaccess access STUDY",  # rivals
        "kaccess access STUDY",  # regions
        "kaccess train STUDY --task fall-recovery",  # learning
        "kaccess train STUDY --task fall-recovery",  # tests
        "kaccess train STUDY --task fall-recovery",  # motion
    ]
    assert [section["id"] for section in Outline(html).all("section")] == SECTIONS


def test_a_half_done_matrix_says_how_many_moves_are_left(
    clustered, tmp_path, monkeypatch
):
    monkeypatch.setattr("kaccess.access.estimate._TILE_PAIRS", 48)
    path = sample_only(clustered, tmp_path)
    pipeline.access(path, pipeline.AccessConfig(), only_rows=range(12))
    found = list_missing(pipeline.report(path).read_text(encoding="utf-8"))
    assert ("276 moves are not estimated yet.", f"kaccess access {path}") in found


def test_policies_that_are_not_tested_yet_are_shown(whole_study, page, tmp_path):
    path = shutil.copytree(whole_study, tmp_path / "study")
    (path / "evaluation" / "backflip.json").unlink()
    contents = read_contents(Study(path))
    captions = [part.caption for part in make_motion_section(contents).parts]
    shown = [text for text in captions if text.startswith("A backflip by")]
    assert shown[0].startswith("A backflip by ka/seed-0 from test pose")
    missing = make_tests_section(contents).parts[-1]
    assert missing.text == "Backflip has not been tested yet."
    assert missing.command == f"kaccess evaluate {path} --task backflip"


def read_scores(path, task):
    return Study(path).read_jsons("evaluation")[task]["policies"]


@pytest.mark.parametrize(
    ("task", "motion"), [("fall-recovery", "A recovery"), ("backflip", "A backflip")]
)
def test_the_best_policy_is_shown(html, whole_study, task, motion):
    scores = read_scores(whole_study, task)
    best = find_best_run([each for each in scores if each["name"] != ROUTES])
    assert f"{motion} by {best} from test pose" in html


def test_runs_under_conditions_are_told_apart(html):
    assert "Fall recovery (slope=10): reward, 2 seeds." in html
    assert "Fall recovery: reward, 2 seeds (the paper&#39;s Fig. 9)." in html


def test_scores_are_on_the_page(html, whole_study):
    cells = re.findall(r"<tr><th scope=\"row\">ka</th>(.*?)</tr>", html)
    rows = [re.findall(r"<td>(.*?)</td>", row) for row in cells]
    texts = next(row for row in rows if len(row) == 8)
    test = next(iter(Study(whole_study).tests()))
    ka = score_starts(read_scores(whole_study, test.text))[0]
    assert ka.starts == "ka" and ka.n_poses == N_TEST_POSES
    reward = f"{ka.reward:.2f} ({ka.reward_sd:.2f})"
    assert texts[:3] == [str(N_EPISODES), "2", reward]
    assert texts[3:5] == [f"{ka.best:.1%}", f"{ka.worst:.1%}"]
    assert texts[5] == ka.success.text(".1%")
    assert texts[7] == f"{ka.work:.1f} J"


def test_times_of_the_stages_are_on_the_page(clustered, tmp_path):
    path = shutil.copytree(clustered, tmp_path / "study")
    (path / "timings.json").write_text('{"sample": 6.2, "access": 1980, "train": 9000}')
    section = make_run_section(read_contents(Study(path)))
    rows = dict(section.parts[0].rows)
    assert rows["time spent"] == "sample 6 s, access 33 min, train 2.5 h"


def test_pictures_are_made_only_once(whole_study, page, tmp_path, monkeypatch):
    path = shutil.copytree(whole_study, tmp_path / "study")

    def cannot(*args, **kwargs):
        raise AssertionError("made again")

    for kind in ("render", "sketch"):
        monkeypatch.setitem(album._MAKERS, kind, cannot)
    text = pipeline.report(path).read_text(encoding="utf-8")
    assert text.replace(str(path), "") == page.read_text(encoding="utf-8").replace(
        str(whole_study), ""
    )


def test_without_opengl_there_are_line_drawings_and_a_note(
    clustered, tmp_path, monkeypatch
):
    path = shutil.copytree(clustered, tmp_path / "study")
    shutil.rmtree(path / ".cache", ignore_errors=True)

    def cannot(*args, **kwargs):
        raise InputError("Nothing can be rendered here.")

    monkeypatch.setitem(album._MAKERS, "render", cannot)
    html = pipeline.report(path).read_text(encoding="utf-8")
    assert "Nothing can be rendered here. The pictures are line drawings." in html
    assert len(Outline(html).all("img")) > 10


def test_json_cannot_end_a_script():
    assert _encode_script_json({"a": "</script>"}) == '{"a":"\\u003c/script>"}'


def test_the_page_asks_for_the_backflips_of_the_paper_on_its_robot_only(bittle, tiny):
    assert list_paper_tasks(bittle) == ["fall-recovery", "backflip"]
    assert list_paper_tasks(tiny) == ["fall-recovery"]
