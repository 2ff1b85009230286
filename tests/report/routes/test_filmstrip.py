"""One picture of the routes of a robot."""

import re

import numpy as np
import pytest
from PIL import Image

from kaccess import InputError, Study
from kaccess.report.routes import make_filmstrip, write_filmstrip
from tests.report.routes.test_played import make_route


def test_the_picture_is_written_without_a_page(clustered, tmp_path):
    path = write_filmstrip(Study(clustered), tmp_path / "routes.png")
    image = np.asarray(Image.open(path).convert("RGB"))
    height, width, _ = image.shape
    assert height > width  # five rows of at most three pictures
    assert image.std() > 20


def test_a_row_for_each_route_and_a_picture_for_each_move():
    routes = [make_route(nodes=[1], stood=True), make_route(nodes=[1, 4], stood=True)]
    pictures = [np.zeros((n, 6, 8, 3), np.uint8) for n in (2, 3)]
    axes = make_filmstrip(routes, pictures).axes
    assert [len(ax.images) for ax in axes] == [1, 1, 0, 1, 1, 1]
    titles = [re.sub(r"\s+", " ", ax.get_title()).strip() for ax in axes]
    assert titles[:3] == ["pose 2", "\u2192 joints of pose 1 1.00 s", ""]


def test_a_robot_that_never_stood_up_has_no_picture(tiny_study, tmp_path):
    with pytest.raises(InputError, match="has no route to show"):
        write_filmstrip(Study(tiny_study), tmp_path / "routes.png")
