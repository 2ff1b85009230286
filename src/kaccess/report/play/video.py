"""A motion as a video file."""

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.files import whole_file
from kaccess.base.types import Array
from kaccess.report.play.clip import Clip
from kaccess.report.rendering.render import iter_renders

__all__ = ["check_video", "write_video", "write_videos"]

_SUFFIXES = (".mp4", ".mov", ".mkv")

_SIZE = (640, 480)  # [pixels], within MuJoCo's default buffer
_FPS = 50  # maximum; there are no more frames than states
# Without this, imageio-ffmpeg forks to protect ffmpeg from Ctrl-C. Linux refuses a fork
# if this process has reserved more memory than the machine has. Each simulation of a
# test reserves 15 MB, and malloc keeps most of that after the simulations are freed.
_NO_FORK = "IMAGEIO_FFMPEG_NO_PREVENT_SIGINT"


def check_video(path: Path) -> None:
    """Raise `InputError` if a video cannot have this path."""
    if path.is_dir() or path.suffix.lower() not in _SUFFIXES:
        raise InputError(
            f"`video` must be a file that ends with {', '.join(_SUFFIXES)}, got "
            f"{str(path)!r}. Write it like play.mp4."
        )


def write_video(clip: Clip, path: Path) -> None:
    """Write a motion as an H.264 video; see `write_videos`."""
    write_videos([clip], path)


def write_videos(clips: Sequence[Clip], path: Path) -> None:
    """Write motions of the same times, side by side, as an H.264 video.

    Raises:
        InputError: If rendering does not work on this machine, or ffmpeg fails.
        ImportError: If imageio-ffmpeg is not installed.
    """
    check_video(path)
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise ImportError(
            "Videos need imageio-ffmpeg, which is not installed. Run "
            "`pip install 'kaccess[video]'`, or watch it in a browser with --viewer."
        ) from error
    clip = clips[0]
    rate = (len(clip.seconds) - 1) / clip.length
    fps = min(_FPS, round(rate))
    times = np.arange(round(clip.length * fps) + 1) / fps
    images = _render_beside(clips, times)
    size = (len(clips) * _SIZE[0], _SIZE[1])
    try:
        first = next(images)
    except InputError as error:
        raise InputError(f"{error} Or watch it in a browser: --viewer.") from error
    with whole_file(path) as draft, _set_variable(_NO_FORK, "1"):
        try:
            writer = imageio_ffmpeg.write_frames(str(draft), size, fps=fps, quality=8)
            _send(writer, chain([first], images))
            n_written = imageio_ffmpeg.count_frames_and_secs(str(draft))[0]
        except (OSError, RuntimeError) as error:  # ffmpeg has said why
            raise InputError(_explain_failure(path)) from error
        if n_written != len(times):
            raise InputError(_explain_failure(path))


def _render_beside(clips: Sequence[Clip], times: Array) -> Iterator[np.ndarray]:
    """Yield pictures of motions at some times, side by side."""
    width, height = _SIZE
    renders = [
        iter_renders(clip.robot, clip.at(times), width=width, height=height)
        for clip in clips
    ]
    for images in zip(*renders, strict=True):
        yield np.ascontiguousarray(np.concatenate(images, axis=1))


def _send(writer: Generator[None, object, None], images: Iterable[object]) -> None:
    """Send pictures to ffmpeg, and wait until it has ended; it never says how."""
    writer.send(None)  # starts ffmpeg
    for image in images:
        writer.send(image)
    writer.close()


def _explain_failure(path: Path) -> str:
    return (
        f"{path} could not be written: ffmpeg failed. Check that the disk is not full, "
        "or write to another folder."
    )


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
