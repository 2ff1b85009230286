"""Pictures of a robot in given states: rendered, or drawn where nothing can render."""

from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.robots import Robot

__all__ = ["AZIMUTH", "ELEVATION", "iter_renders", "render_poses"]

AZIMUTH, ELEVATION = -125.0, -24.0  # [deg], from ahead, from its left and from above
_SHADOW = (
    1024  # [pixels]; MuJoCo's 4096 take twice the time, for the same small picture
)


def render_poses(
    robot: Robot, qpos: Array, *, width: int = 320, height: int = 240
) -> NDArray[np.uint8]:
    """Return one picture per state, (n, height, width, 3).

    Args:
        robot: The robot.
        qpos: (n, nq) states.
        width: Width of a picture in pixels.
        height: Height of a picture in pixels.

    Raises:
        InputError: If there is no way to render on this machine.
    """
    images = np.empty((len(qpos), height, width, 3), np.uint8)
    for row, image in enumerate(iter_renders(robot, qpos, width=width, height=height)):
        images[row] = image
    return images


def iter_renders(
    robot: Robot, qpos: Array, *, width: int, height: int
) -> Iterator[NDArray[np.uint8]]:
    """Yield the pictures of `render_poses` one by one, in the same memory."""
    model = robot.model.__copy__()
    model.vis.quality.shadowsize = _SHADOW
    data = mujoco.MjData(model)
    with _renderer(model, width, height) as renderer:
        image = np.empty((height, width, 3), np.uint8)
        for state in qpos:
            data.qpos[:] = state
            mujoco.mj_forward(model, data)
            renderer.update_scene(data, camera=_look_at(model, data))
            yield renderer.render(out=image)


def _renderer(model: mujoco.MjModel, width: int, height: int) -> mujoco.Renderer:
    try:
        return mujoco.Renderer(model, height, width)
    except Exception as error:  # each GL platform fails in a way of its own
        raise InputError(
            f"Nothing can be rendered here: {error}. Without a screen, set "
            "MUJOCO_GL=egl before Python starts; on Debian, libegl1 is needed for it."
        ) from error


def _look_at(model: mujoco.MjModel, data: mujoco.MjData) -> mujoco.MjvCamera:
    """Look at the robot from ahead, from its left and from above."""
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    camera.lookat[:] = data.subtree_com[1]
    camera.azimuth, camera.elevation = AZIMUTH, ELEVATION
    return camera
