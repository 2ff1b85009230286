"""Pictures of a robot for a page: small, made once, and cached on disk."""

import base64
import hashlib
import io
import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kaccess.base.damage import DAMAGE
from kaccess.base.errors import InputError
from kaccess.base.files import whole_file
from kaccess.base.types import Array
from kaccess.report.rendering.render import render_poses
from kaccess.report.rendering.sketch import sketch_poses
from kaccess.robots import Robot

__all__ = ["Album", "encode_data_uri", "tile_pictures"]

logger = logging.getLogger(__name__)

_VERSION = 1  # part of the cache key: increase it to make all pictures again
_CACHE_QUALITY, _PAGE_QUALITY = 90, 70  # of WebP, 0 to 100
_MAKERS = {"render": render_poses, "sketch": sketch_poses}


class Album:
    """Pictures of one robot in any state: line drawings if rendering does not work.

    Args:
        robot: Robot on the pictures.
        folder: Folder of the cache; None for no cache.

    Attributes:
        note: Reason why pictures are line drawings; empty if they are rendered.
    """

    def __init__(self, robot: Robot, folder: Path | None) -> None:
        self.note = ""
        self._robot, self._folder = robot, folder
        model = robot.model
        look = (model.geom_rgba.tobytes(), model.mat_rgba.tobytes())
        self._model = hashlib.sha256(b"".join([robot.fingerprint.encode(), *look]))

    def get_pictures(
        self, qpos: Array, *, width: int = 320, height: int = 240
    ) -> NDArray[np.uint8]:
        """Return one picture per state, (n, height, width, 3).

        Args:
            qpos: (n, nq) states.
            width: Width of a picture in pixels.
            height: Height of a picture in pixels.
        """
        if not self.note:
            try:
                return self._load_or_make("render", qpos, width, height)
            except InputError as error:
                self.note = f"{error} The pictures are line drawings."
                logger.warning("%s", self.note)
        return self._load_or_make("sketch", qpos, width, height)

    def _load_or_make(
        self, kind: str, qpos: Array, width: int, height: int
    ) -> NDArray[np.uint8]:
        """Return pictures; make those that are not in the cache."""
        paths = [self._make_path(f"{kind} {width} {height}", state) for state in qpos]
        images = np.empty((len(qpos), height, width, 3), np.uint8)
        missing = []
        for row, path in enumerate(paths):
            stored = _read(path, images[row].shape)
            if stored is None:
                missing.append(row)
            else:
                images[row] = stored
        if missing:
            made = _MAKERS[kind](self._robot, qpos[missing], width=width, height=height)
            for row, image in zip(missing, made, strict=True):
                images[row] = _store(image, paths[row])
        return images

    def _make_path(self, what: str, state: Array) -> Path | None:
        if self._folder is None:
            return None
        key = self._model.copy()
        key.update(f"{_VERSION} {what} ".encode())
        key.update(np.ascontiguousarray(state, np.float64).tobytes())
        return self._folder / f"{key.hexdigest()[:24]}.webp"


def _read(path: Path | None, shape: tuple[int, ...]) -> NDArray[np.uint8] | None:
    """Return a picture from the cache; None if it is missing or damaged."""
    if path is None or not path.is_file():
        return None
    try:
        image = np.asarray(Image.open(path).convert("RGB"))
    except DAMAGE:
        return None
    return image if image.shape == shape else None


def _store(image: NDArray[np.uint8], path: Path | None) -> NDArray[np.uint8]:
    """Write a picture to the cache, and return it as it will be read from there."""
    if path is None:
        return image
    content = _encode_webp(image, _CACHE_QUALITY)
    with whole_file(path) as draft:
        draft.write_bytes(content)
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


def encode_data_uri(image: NDArray[np.uint8]) -> str:
    """Return a picture, (height, width, 3), as a data URI for a page."""
    content = base64.b64encode(_encode_webp(image, _PAGE_QUALITY)).decode()
    return f"data:image/webp;base64,{content}"


def tile_pictures(
    images: Sequence[NDArray[np.uint8]] | NDArray[np.uint8], *, columns: int
) -> NDArray[np.uint8]:
    """Return small pictures as one large picture, row by row."""
    height, width, _ = images[0].shape
    n_rows = -(-len(images) // columns)
    sheet = np.zeros((n_rows * height, columns * width, 3), np.uint8)
    for number, image in enumerate(images):
        row, column = divmod(number, columns)
        top, left = row * height, column * width
        sheet[top : top + height, left : left + width] = image
    return sheet


def _encode_webp(image: NDArray[np.uint8], quality: int) -> bytes:
    content = io.BytesIO()
    Image.fromarray(image).save(content, "webp", quality=quality, method=4)
    return content.getvalue()
