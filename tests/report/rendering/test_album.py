"""Pictures of robots: cached, rendered or drawn."""

import numpy as np
import pytest

from kaccess import InputError, load_robot
from kaccess.report.rendering import album as albums
from kaccess.report.rendering.album import Album, encode_data_uri, tile_pictures
from kaccess.report.rendering.sketch import sketch_poses
from tests.conftest import TINY


@pytest.fixture
def calls(monkeypatch):
    """Replace the renderer; return a list of the number of pictures in each call."""
    made = []

    def render(robot, qpos, *, width, height):
        made.append(len(qpos))
        colour = 40 * np.arange(1, len(qpos) + 1, dtype=np.uint8)
        return np.broadcast_to(
            colour[:, None, None, None], (len(qpos), height, width, 3)
        )

    monkeypatch.setitem(albums._MAKERS, "render", render)
    return made


def states(robot, n):
    qpos = np.repeat(robot.standing[None], n, axis=0)
    qpos[:, robot.joint_adr[0]] = np.linspace(0, 1, n)
    return qpos


def test_only_new_pictures_are_made(tiny, tmp_path, calls):
    qpos = states(tiny, 4)
    Album(tiny, tmp_path).get_pictures(qpos[:3], width=8, height=6)
    again = Album(tiny, tmp_path).get_pictures(qpos, width=8, height=6)
    assert calls == [3, 1]
    assert again[:, 0, 0, 0].tolist() == [40, 80, 120, 40]
    Album(tiny, tmp_path).get_pictures(qpos, width=16, height=12)  # another size
    assert calls == [3, 1, 4]


def test_pictures_of_another_robot_are_not_used(tiny, bittle, tmp_path, calls):
    Album(tiny, tmp_path).get_pictures(states(tiny, 2), width=8, height=6)
    Album(bittle, tmp_path).get_pictures(states(bittle, 2), width=8, height=6)
    assert calls == [2, 2]


def test_without_rendering_there_are_line_drawings(tiny, tmp_path, monkeypatch, caplog):
    def cannot(*args, **kwargs):
        raise InputError("No OpenGL.")

    monkeypatch.setitem(albums._MAKERS, "render", cannot)
    album = Album(tiny, tmp_path)
    assert album.note == ""
    drawn = album.get_pictures(states(tiny, 2), width=80, height=60)
    assert album.note == "No OpenGL. The pictures are line drawings."
    expected = sketch_poses(tiny, states(tiny, 2), width=80, height=60)
    assert np.abs(drawn.astype(int) - expected).mean() < 4


def test_pictures_are_tiled_in_rows():
    images = np.arange(5, dtype=np.uint8)[:, None, None, None] * np.ones(
        (1, 2, 3, 3), np.uint8
    )
    sheet = tile_pictures(images, columns=2)
    assert sheet.shape == (6, 6, 3)
    assert sheet[::2, ::3, 0].tolist() == [[0, 1], [2, 3], [4, 0]]


def test_a_picture_becomes_a_data_uri():
    text = encode_data_uri(np.zeros((60, 80, 3), np.uint8))
    assert text.startswith("data:image/webp;base64,UklGR")


def test_a_drawing_shows_the_pose(any_robot):
    qpos = states(any_robot, 2)
    first, second = sketch_poses(any_robot, qpos, width=160, height=120)
    assert len(np.unique(first.reshape(-1, 3), axis=0)) > 30
    assert (first != second).any()


def test_every_shape_can_be_drawn():
    zoo = load_robot(TINY.parent / "engines" / "zoo.xml")
    image = sketch_poses(zoo, zoo.standing[None], width=160, height=120)[0]
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 30


def test_a_drawing_has_the_camera_of_a_rendering(bittle):
    """The robot covers the same part of the picture."""
    from kaccess.report.rendering.render import render_poses

    qpos = bittle.standing[None]
    try:
        rendered = render_poses(bittle, qpos, width=160, height=120)[0]
    except InputError as error:
        pytest.skip(str(error))
    drawn = sketch_poses(bittle, qpos, width=160, height=120)[0]

    def yellow(image):
        red, _, blue = image.astype(int).transpose(2, 0, 1)
        return np.argwhere(red - blue > 60)

    for bound in (np.min, np.max, np.mean):
        difference = bound(yellow(rendered), axis=0) - bound(yellow(drawn), axis=0)
        assert np.abs(difference).max() < 8, bound
