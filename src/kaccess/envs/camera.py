"""Pictures of robots as they move, rendered off screen."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from kaccess.base.errors import InputError

__all__ = ["Camera"]

_WIDTH, _HEIGHT = 640, 480  # [pixels], within MuJoCo's default buffer
_AZIMUTH, _ELEVATION = -125.0, -24.0  # [deg], from ahead, from its left and from above


class Camera:
    """A camera that follows a robot.

    Args:
        model: The robot and its world.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._renderer: mujoco.Renderer | None = None

    def frame(self, data: mujoco.MjData) -> NDArray[np.uint8]:
        """Return a picture of a state, (height, width, 3)."""
        mujoco.mj_forward(self._model, data)
        renderer = self._renderer = self._renderer or _make_renderer(self._model)
        camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(self._model, camera)
        camera.lookat[:] = data.subtree_com[self._model.jnt_bodyid[0]]
        camera.azimuth, camera.elevation = _AZIMUTH, _ELEVATION
        renderer.update_scene(data, camera=camera)
        return np.array(renderer.render())

    def close(self) -> None:
        """Free what rendering holds."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def _make_renderer(model: mujoco.MjModel) -> mujoco.Renderer:
    try:
        return mujoco.Renderer(model, _HEIGHT, _WIDTH)
    except Exception as error:  # each GL platform fails in a way of its own
        raise InputError(
            f"Nothing can be rendered here: {error}. Without a screen, set "
            "MUJOCO_GL=egl before Python starts; on Debian, libegl1 is needed for it."
        ) from error
