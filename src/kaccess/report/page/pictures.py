"""Pictures of poses and motions, for several sections."""

from collections.abc import Sequence

import numpy as np

from kaccess.base.types import IntArray
from kaccess.report.figures import draw_poses
from kaccess.report.figures.style import figure_style, make_figure
from kaccess.report.page.contents import Contents
from kaccess.report.page.parts import Drawing, Picture
from kaccess.report.rendering.album import encode_data_uri
from kaccess.report.text.numbers import format_degrees

__all__ = ["make_pictures", "make_strip"]


def make_pictures(
    contents: Contents, poses: IntArray, lines: Sequence[Sequence[str]]
) -> list[Picture]:
    """Return a picture of each pose.

    Args:
        contents: Contents of the study.
        poses: (n,) pose indices.
        lines: (n,) lines below each picture.
    """
    qpos = contents.poses.qpos[poses]
    images = contents.album.get_pictures(qpos, width=240, height=180)
    roll = format_degrees(contents.poses.roll)
    pitch = format_degrees(contents.poses.pitch)
    return [
        Picture(
            encode_data_uri(image),
            f"Pose {pose}: roll {roll[pose]}, pitch {pitch[pose]}, on "
            f"{contents.cases[pose]}",
            f"pose {pose}",
            text,
        )
        for image, pose, text in zip(images, poses, lines, strict=True)
    ]


def make_strip(
    name: str, images: np.ndarray, titles: Sequence[str], caption: str
) -> Drawing:
    """Return pictures in a row as one figure.

    Args:
        name: Name of the figure, unique on the page.
        images: (n, height, width, 3) pictures.
        titles: (n,) titles of the pictures.
        caption: Caption and alt text.
    """
    with figure_style():
        figure = make_figure(1.5 * len(images), 1.45)
        draw_poses(np.ravel(figure.subplots(1, len(images))), images, titles)
    return Drawing(name, figure, caption, caption, wide=True)
