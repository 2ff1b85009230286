"""A camera that follows a robot, rendered off screen."""

import os
import sys
from functools import lru_cache

import mujoco
import numpy as np
from numpy.typing import NDArray

from kaccess.base.errors import InputError

__all__ = [
    "AZIMUTH",
    "ELEVATION",
    "Camera",
    "make_camera",
    "make_renderer",
    "find_distance",
    "show_bare_bodies",
]

AZIMUTH, ELEVATION = -125.0, -24.0  # [deg], from the front left and above
_VIEW_DISTANCE = 2.4  # of the camera, in radii of the robot: all of it is in view
_FIRST_HIDDEN = 3  # groups of geoms from here on are not drawn
_WIDTH, _HEIGHT = 640, 480  # [pixels], within MuJoCo's default buffer


class Camera:
    """A camera that follows a robot.

    Args:
        model: Model of the robot and its world.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._renderer: mujoco.Renderer | None = None

    def render(self, data: mujoco.MjData) -> NDArray[np.uint8]:
        """Return a picture of a state, (height, width, 3)."""
        mujoco.mj_forward(self._model, data)
        if self._renderer is None:
            self._renderer = make_renderer(self._model, _WIDTH, _HEIGHT)
        self._renderer.update_scene(data, camera=make_camera(self._model, data))
        return np.array(self._renderer.render())

    def close(self) -> None:
        """Close the renderer."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def make_renderer(model: mujoco.MjModel, width: int, height: int) -> mujoco.Renderer:
    """Return a renderer of pictures, (height, width, 3).

    Raises:
        InputError: If this machine cannot render.
    """
    try:
        if _lacks_screen():
            raise OSError("there is no screen")  # GLFW may end the whole process
        return mujoco.Renderer(show_bare_bodies(model), height, width)
    except Exception as error:  # each GL platform raises its own kind of error
        raise InputError(
            f"Nothing can be rendered here: {error}. Without a screen, set "
            "MUJOCO_GL=egl before Python starts; on Debian, install libegl1 first."
        ) from error


def show_bare_bodies(model: mujoco.MjModel) -> mujoco.MjModel:
    """Return a model in which all bodies can be seen.

    Shapes that collide are usually hidden behind meshes. A body without a mesh shows
    the shapes instead; so do all bodies, if most of them have no mesh.
    """
    visible = (model.geom_group < _FIRST_HIDDEN) & (model.geom_rgba[:, 3] > 0)
    bodies = np.unique(model.geom_bodyid[model.geom_bodyid > 0])
    bare = np.setdiff1d(bodies, model.geom_bodyid[visible])
    if 2 * len(bare) > len(bodies):
        bare = bodies
    shown = np.isin(model.geom_bodyid, bare) & (model.geom_group >= _FIRST_HIDDEN)
    if not shown.any():
        return model
    model = model.__copy__()
    model.geom_group[shown] = 0
    return model


def _lacks_screen() -> bool:
    """Return whether MuJoCo renders with GLFW, which needs a screen, without one."""
    has_screen = any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    context = getattr(mujoco, "GLContext", None)  # MuJoCo chose it when imported
    wants_screen = context is not None and "glfw" in context.__module__
    return sys.platform == "linux" and wants_screen and not has_screen


def make_camera(model: mujoco.MjModel, data: mujoco.MjData) -> mujoco.MjvCamera:
    """Return a camera that looks at the robot from the front left and above."""
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    camera.lookat[:] = data.subtree_com[model.jnt_bodyid[0]]
    camera.azimuth, camera.elevation = AZIMUTH, ELEVATION
    camera.distance = find_distance(model)
    return camera


@lru_cache(maxsize=8)
def find_distance(model: mujoco.MjModel) -> float:
    """Return a distance from which the whole robot is in view [m]."""
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    return max(float(camera.distance), _VIEW_DISTANCE * _measure_radius(model))


def _measure_radius(model: mujoco.MjModel) -> float:
    """Return the radius of a ball about the robot in its zero pose [m]."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    base = model.jnt_bodyid[0]
    geoms = model.body_rootid[model.geom_bodyid] == base
    offset = data.geom_xpos[geoms] - data.subtree_com[base]
    return float(np.linalg.norm(offset, axis=1).max(initial=0.0))
