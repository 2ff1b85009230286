"""A motion as a video file."""

import errno
from collections.abc import Generator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.files import whole_file
from kaccess.report.play.clip import Clip
from kaccess.report.rendering.render import iter_renders

__all__ = ["write_video"]

_SIZE = (640, 480)  # [pixels], within MuJoCo's default buffer
_FPS = 50  # at most; there are no more frames than states


def write_video(clip: Clip, path: Path) -> None:
    """Write a motion as an H.264 video.

    Raises:
        InputError: If there is no way to render on this machine, or too little memory.
    """
    try:
        from imageio_ffmpeg import write_frames
    except ImportError as error:
        raise ImportError(
            "Videos need imageio-ffmpeg, which is not installed. Run "
            "`pip install 'kaccess[video]'`, or watch it in a browser with --viewer."
        ) from error
    rate = (len(clip.seconds) - 1) / clip.length
    fps = min(_FPS, round(rate))
    states = clip.at(np.arange(round(clip.length * fps) + 1) / fps)
    width, height = _SIZE
    images = iter_renders(clip.robot, states, width=width, height=height)
    try:
        first = next(images)
    except InputError as error:
        raise InputError(
            f"{error} A browser can show it without any of that: --viewer."
        ) from error
    with whole_file(path) as draft:
        writer = write_frames(str(draft), _SIZE, fps=fps, quality=8)
        _start(writer)
        for image in chain([first], images):
            writer.send(image)
        writer.close()


def _start(writer: Generator[None, Any, None]) -> None:
    """Start ffmpeg, which is granted memory only if all that we reserved is there."""
    try:
        writer.send(None)  # it is a coroutine
    except OSError as error:
        if error.errno != errno.ENOMEM:
            raise
        raise InputError(
            "There is not enough memory to write a video beside so many robots: "
            "take fewer with --poses, or watch it in a browser with --viewer."
        ) from error
