"""Routes as skills: arrays, mirror images, the chooser, and files."""

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.deploy.building import _cover, _find_trigger
from kaccess.deploy.network import Network
from kaccess.deploy.protocol import encode_skill
from kaccess.deploy.skills import Route, Skills, load_shipped, write_skills

STAND = [30] * 8
ROUTE = Route(
    np.array([[-60, 10, 100, 20, 0, 1, 2, 3], STAND]),
    np.array([0.5, 1.0]),
    np.array([[2, 40], [0, 0]]),
)


def test_a_route_as_an_array_solved_by_hand():
    none, first = [0] * 8, [-60, 10, 100, 20, 0, 1, 2, 3]
    assert ROUTE.to_array(triggers=True) == [
        *(-3, 0, 0, 1, 0, 0, 0),  # three frames, level, angles as they are, no loop
        *(*none, *STAND, 16, 0, 0, 0),  # where the robot is already
        *(*none, *first, 16, 10, 2, 40),  # 0.5 s are ten units of delay
        *(*none, *STAND, 16, 20, 0, 0),
    ]
    assert ROUTE.to_array()[7 + 20 + 18 : 7 + 40] == [0, 0]  # NyBoard: no triggers


def test_time_of_a_route():
    # 90, and back 90 deg at 250 deg/s; it holds for 1.5 s.
    assert ROUTE.seconds == pytest.approx(2 * 90 / 250 + 1.5)


def test_mirror_image():
    other = ROUTE.mirror()
    assert other.degrees[0].tolist() == [10, -60, 20, 100, 1, 0, 3, 2]
    assert other.triggers.tolist() == [[-2, -40], [0, 0]]
    assert (other.mirror().degrees == ROUTE.degrees).all()


@pytest.mark.parametrize(
    ("before", "after", "trigger"),
    [
        ([0, 1, 0], [0, 0, -1], (-2, 45)),  # from its left side to its feet
        ([0, -1, 0], [0, 0, -1], (2, -45)),
        ([0, 0, -1], [0, 0, -1], (0, 0)),
        ([0.99, 0, -0.141], [0, 0, -1], (-1, 41)),  # from its nose
    ],
)
def test_triggers(before, after, trigger):
    assert _find_trigger(np.array(before, float), np.array(after, float)) == trigger


def test_cover_takes_few_routes_and_a_second_one_where_there_is_one():
    works = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], bool)
    assert sorted(_cover(works)) == [0, 1, 2]
    assert sorted(_cover(works[:2])) == [0, 1]
    assert _cover(works[1:2]) == [0]


def test_the_chooser_takes_what_works_nearby():
    gravity = np.array([[0, 0, 1.0]] * 6 + [[0, 1.0, 0]] * 6)
    works = np.array([[1, 0]] * 6 + [[0, 1]] * 6, bool)
    skills = Skills((ROUTE, ROUTE), gravity, works, np.array([STAND]), "by hand")
    assert skills.choose(np.array([0, 0.1, 0.99])) == 0
    assert skills.choose(np.array([0, 0.99, 0.1])) == 1
    assert skills.labels.tolist() == [0] * 6 + [1] * 6
    assert skills.share == 1.0
    # Where a route has failed again and again, another one is tried.
    assert skills.choose(np.array([0, 0.7, 0.72]), {0: 9}) == 1


def test_skills_come_back_from_their_file(tmp_path):
    skills = load_shipped()
    skills.save(tmp_path / "skills.json")
    again = Skills.load(tmp_path / "skills.json")
    np.testing.assert_array_equal(again.works, skills.works)
    np.testing.assert_array_equal(again.routes[0].degrees, skills.routes[0].degrees)


def test_shipped_skills_serve_nearly_all_lying_poses():
    assert load_shipped().share > 0.9


def test_shipped_skills_fit_into_messages_of_every_board():
    for route in load_shipped().routes:
        # NyBoard's buffer has 467 bytes (OpenCat.h, BUFF_LEN).
        assert len(encode_skill(route.to_array(triggers=True))) < 467


def test_written_skills(tmp_path):
    paths = write_skills(load_shipped(), tmp_path)
    assert {path.suffix for path in paths} == {".h", ".txt"}
    text = (tmp_path / "krl0.h").read_text()
    assert text.startswith("const int8_t krl0[] PROGMEM = {\n-")
    assert "krl0" in (tmp_path / "skills.txt").read_text()


def test_other_files_are_no_policies(tmp_path):
    with pytest.raises(InputError, match="There is no policy"):
        Network(tmp_path / "none.onnx")
    (tmp_path / "bad.onnx").write_text("no")
    with pytest.raises(InputError, match="must be an ONNX file"):
        Network(tmp_path / "bad.onnx")
