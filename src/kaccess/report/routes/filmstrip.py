"""Filmstrips: one figure with the routes of some poses, a row each."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kaccess.base.errors import InputError
from kaccess.report.figures import draw_poses
from kaccess.report.figures.style import figure_style, make_figure, save_figure
from kaccess.report.rendering.album import Album
from kaccess.report.routes.played import PlayedRoute, pick_poses, play_routes
from kaccess.report.text.numbers import format_seconds
from kaccess.study import Study

__all__ = ["draw_pictures", "make_filmstrip", "write_filmstrip"]

_SIZE = (240, 180)  # of a picture [pixels]
_WIDTH, _HEIGHT = 1.75, 1.75  # of a picture with its two lines of text [inches]


def write_filmstrip(study: Study, path: Path) -> Path:
    """Write one picture with the routes of a few poses to standing.

    Args:
        study: Study with all its moves.
        path: File to write, such as `routes.png`.

    Raises:
        InputError: If the robot stood up from no pose.
    """
    routes = play_routes(study, pick_poses(study))
    if not routes:
        raise InputError(
            f"{study.path} has no route to show: its robot has stood up from no pose. "
            f"`kaccess info {study.path}` says why."
        )
    album = Album(study.robot, study.path / ".cache" / "pictures")
    pictures = [draw_pictures(album, route) for route in routes]
    save_figure(make_filmstrip(routes, pictures), path)
    return path


def draw_pictures(album: Album, route: PlayedRoute) -> NDArray[np.uint8]:
    """Return pictures of a route: the pose, and where each move ended."""
    width, height = _SIZE
    return album.get_pictures(route.states, width=width, height=height)


def make_filmstrip(
    routes: Sequence[PlayedRoute], pictures: Sequence[NDArray[np.uint8]]
) -> Figure:
    """Return a figure with one row of pictures for each route.

    Args:
        routes: Routes to standing.
        pictures: (m + 1, height, width, 3) pictures of each route of m moves.
    """
    columns = max(map(len, pictures))
    with figure_style():
        figure = make_figure(_WIDTH * columns, _HEIGHT * len(routes))
        grid = figure.subplots(len(routes), columns, squeeze=False)
        for row, route, images in zip(grid, routes, pictures, strict=True):
            draw_poses(row[: len(images)], images)
            for ax, title in zip(row, _make_titles(route), strict=False):
                ax.set_title(title, fontsize=8)
            for ax in row[len(images) :]:
                ax.set_axis_off()
    return figure


def _make_titles(route: PlayedRoute) -> list[str]:
    """Return two lines above each picture: what was commanded, and the time."""
    moves = zip(route.words, route.seconds, strict=True)
    titles = [
        f"\u2192 {word.removeprefix('command the ').removeprefix('command ')}\n"
        f"{format_seconds(seconds)}"
        for word, seconds in moves
    ]
    return [f"pose {route.pose}\n ", *titles]
