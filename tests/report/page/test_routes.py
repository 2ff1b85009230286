"""The section on getting up: filmstrips, traps, and why there are none."""

import shutil

import pytest

from kaccess import Study, pipeline
from kaccess.report.page.contents import read_contents
from kaccess.report.page.graph import find_chains
from kaccess.report.page.parts import Films, Gallery, Missing
from kaccess.report.page.routes import make_routes_section


def show(path):
    return make_routes_section(read_contents(Study(path)))


@pytest.fixture(scope="module")
def section(clustered):
    return show(clustered)


@pytest.fixture
def copy(clustered, tmp_path):
    return shutil.copytree(clustered, tmp_path / "study")


def test_films_show_each_move_with_its_command_and_its_end(section, clustered):
    films = section.parts[0]
    assert isinstance(films, Films) and films.strip.name == "routes"
    n_moves = Study(clustered).n_moves
    for film in films.films:
        pose = int(film.pictures[0].title.removeprefix("pose "))
        assert len(film.pictures) == n_moves[pose] + 1
        assert film.caption.startswith(f"Pose {pose} (roll ")
        assert film.pictures[-1].title == "command standing"
        time, end = film.pictures[-1].lines
        assert time.endswith(" s") and end == "stands"


def test_traps_have_their_reasons(section):
    traps = section.parts[1]
    assert isinstance(traps, Gallery)
    assert traps.caption == "Traps, from which the robot did not stand up: 12 of 19."
    assert any(len(picture.lines) == 2 for picture in traps.pictures)
    for picture in traps.pictures:
        assert picture.lines and picture.lines[-1][-1] != ";"


def test_the_lead_counts_poses_that_stood_up(section):
    assert section.lead == (
        "By measured moves alone, the robot stood up from 5 of 24 poses in the "
        "simulator: 1 in one move, 4 in two."
    )


def test_a_study_without_landings_says_so_and_has_the_old_routes(copy):
    shutil.rmtree(copy / "study.zarr" / "landings")
    contents = read_contents(Study(copy))
    section = make_routes_section(contents)
    assert section.lead.startswith("This study was made before the program stored")
    assert not section.parts
    chains = find_chains(contents)
    assert any(chains) and not all(chains)
    assert 'id="routes"' in pipeline.report(copy).read_text(encoding="utf-8")


def test_a_robot_that_does_not_stand_has_the_reason(copy):
    study = Study(copy)
    study.settings["loaded"]["stance"] |= {"stands": False, "how": "it falls over"}
    section = make_routes_section(read_contents(study))
    assert section.lead.startswith("This robot has no standing pose to get up to: it")
    assert not section.parts


def test_routes_that_were_not_replayed_name_the_command(copy):
    Study(copy).arrays.write_n_moves(-1)
    section = show(copy)
    assert section.parts == [
        Missing("The routes have not been replayed yet.", f"kaccess access {copy}")
    ]


def test_a_robot_that_never_stood_up_has_only_traps(copy):
    Study(copy).arrays.write_n_moves(0)
    section = show(copy)
    assert section.lead == "The robot stood up from none of the 24 poses."
    assert [type(part) for part in section.parts] == [Gallery]
