"""A motion as a video file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.files import whole_file
from kaccess.report.play.clip import Clip
from kaccess.report.rendering.render import iter_renders

__all__ = ["write_video"]

_SIZE = (640, 480)  # [pixels], within MuJoCo's default buffer
_FPS = 50  # maximum; there are no more frames than states
# Without this, imageio-ffmpeg forks to protect ffmpeg from Ctrl-C. Linux refuses a fork
# if this process has reserved more memory than the machine has. Each simulation of a
# test reserves 15 MB, and malloc keeps most of that after the simulations are freed.
_NO_FORK = "IMAGEIO_FFMPEG_NO_PREVENT_SIGINT"


def write_video(clip: Clip, path: Path) -> None:
    """Write a motion as an H.264 video.

    Raises:
        InputError: If rendering does not work on this machine.
        ImportError: If imageio-ffmpeg is not installed.
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
        raise InputError(f"{error} Or watch it in a browser: --viewer.") from error
    with whole_file(path) as draft:
        writer = write_frames(str(draft), _SIZE, fps=fps, quality=8)
        with _set_variable(_NO_FORK, "1"):
            writer.send(None)  # starts ffmpeg
        for image in chain([first], images):
            writer.send(image)
        writer.close()


@contextmanager
def _set_variable(name: str, value: str) -> Iterator[None]:
    """Set an environment variable within this block."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before
