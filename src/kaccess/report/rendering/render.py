"""Rendered pictures of a robot in given states."""

from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from kaccess.base.types import Array
from kaccess.envs.camera import AZIMUTH, ELEVATION, make_camera, make_renderer
from kaccess.robots import Robot

__all__ = ["AZIMUTH", "ELEVATION", "iter_renders", "render_poses"]

_SHADOW = 1024  # [pixels]; MuJoCo's 4096 take twice as long and look the same here


def render_poses(
    robot: Robot, qpos: Array, *, width: int = 320, height: int = 240
) -> NDArray[np.uint8]:
    """Return one picture per state, (n, height, width, 3).

    Args:
        robot: Robot to render.
        qpos: (n, nq) states.
        width: Width of a picture in pixels.
        height: Height of a picture in pixels.

    Raises:
        InputError: If rendering does not work on this machine.
    """
    images = np.empty((len(qpos), height, width, 3), np.uint8)
    for row, image in enumerate(iter_renders(robot, qpos, width=width, height=height)):
        images[row] = image
    return images


def iter_renders(
    robot: Robot, qpos: Array, *, width: int, height: int
) -> Iterator[NDArray[np.uint8]]:
    """Yield the pictures of `render_poses` one by one, each in the same array."""
    model = robot.model.__copy__()
    model.vis.quality.shadowsize = _SHADOW
    data = mujoco.MjData(model)
    with make_renderer(model, width, height) as renderer:
        image = np.empty((height, width, 3), np.uint8)
        for state in qpos:
            data.qpos[:] = state
            mujoco.mj_forward(model, data)
            renderer.update_scene(data, camera=make_camera(model, data))
            yield renderer.render(out=image)
