"""Line drawings of a robot, for machines that cannot render: they need no OpenGL.

Each shape of the robot is the outline of its corner points. Shapes are painted from far
to near in their own colours, over a floor of squares.
"""

from functools import cache

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy.spatial import ConvexHull, QhullError

from kaccess.base.types import Array
from kaccess.report.rendering.render import AZIMUTH, ELEVATION
from kaccess.robots import Robot

__all__ = ["sketch_poses"]

_FINER = 3  # drawings are this much larger, then scaled down for smooth edges
_BACKGROUND, _OUTLINE, _FLOOR = (238, 240, 243), (40, 42, 48), (205, 209, 215)
_N_SQUARES = 5  # squares of the floor in each direction from the middle
_MOST_VERTICES = 400  # per mesh


def sketch_poses(
    robot: Robot, qpos: Array, *, width: int = 320, height: int = 240
) -> NDArray[np.uint8]:
    """Return one drawing per state, (n, height, width, 3), as `render_poses` does."""
    data = mujoco.MjData(robot.model)
    images = np.empty((len(qpos), height, width, 3), np.uint8)
    for image, state in zip(images, qpos, strict=True):
        data.qpos[:] = state
        mujoco.mj_kinematics(robot.model, data)
        mujoco.mj_comPos(robot.model, data)
        image[:] = _sketch(robot.model, data, width, height)
    return images


def _sketch(
    model: mujoco.MjModel, data: mujoco.MjData, width: int, height: int
) -> NDArray[np.uint8]:
    sheet = Image.new("RGB", (_FINER * width, _FINER * height), _BACKGROUND)
    pen = ImageDraw.Draw(sheet)
    view = _View(model, data, sheet.size)
    size = float(model.stat.extent) / 6
    for line in _make_floor_lines(data.subtree_com[1], size):
        pen.line([*map(tuple, view.project(line))], fill=_FLOOR, width=_FINER)
    shapes = [
        (points, _get_colour(model, geom))
        for geom in range(model.ngeom)
        if model.geom_bodyid[geom] and model.geom_rgba[geom, 3] > 0
        for points in [_get_corners(model, data, geom)]
    ]
    for points, colour in sorted(shapes, key=lambda shape: -view.get_depth(shape[0])):
        outline = [*map(tuple, _find_outline(view.project(points)))]
        pen.polygon(outline, fill=colour, outline=_OUTLINE, width=_FINER)
    return np.asarray(sheet.resize((width, height), Image.Resampling.LANCZOS))


class _View:
    """A camera that projects points of the world onto the sheet."""

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, size: tuple[int, int]
    ) -> None:
        azimuth, elevation = np.radians([AZIMUTH, ELEVATION])
        self._ahead = np.array(
            [
                np.cos(elevation) * np.cos(azimuth),
                np.cos(elevation) * np.sin(azimuth),
                np.sin(elevation),
            ]
        )
        self._right = np.array([np.sin(azimuth), -np.cos(azimuth), 0.0])
        self._up = np.cross(self._right, self._ahead)
        distance = 1.5 * float(model.stat.extent)  # as MuJoCo's free camera
        self._eye = data.subtree_com[1] - distance * self._ahead
        width, height = size
        self._centre = np.array([width, height]) / 2
        self._scale = height / 2 / np.tan(np.radians(float(model.vis.global_.fovy)) / 2)

    def get_depth(self, points: Array) -> float:
        """Return the mean distance of points along the view direction [m]."""
        return float(((points - self._eye) @ self._ahead).mean())

    def project(self, points: Array) -> Array:
        """Return positions on the sheet, (n, 2) [pixels], of points, (n, 3)."""
        away = points - self._eye
        depth = np.maximum(away @ self._ahead, 1e-6)
        sides = np.stack([away @ self._right, -(away @ self._up)], axis=1)
        return np.asarray(self._centre + self._scale * sides / depth[:, None])


def _make_floor_lines(middle: Array, size: float) -> list[Array]:
    """Return the lines of a floor of squares around a point, (2, 3) each."""
    reach = _N_SQUARES * size
    centre = np.array([middle[0], middle[1], 0.0])
    steps = np.linspace(-reach, reach, 2 * _N_SQUARES + 1)
    along = [np.array([[s, -reach, 0.0], [s, reach, 0.0]]) for s in steps]
    across = [np.array([[-reach, s, 0.0], [reach, s, 0.0]]) for s in steps]
    return [centre + line for line in along + across]


def _get_corners(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> Array:
    """Return points in the world, (m, 3), whose hull is the shape."""
    local = _make_local_corners(
        int(model.geom_type[geom]), tuple(model.geom_size[geom].tolist())
    )
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = int(model.geom_dataid[geom])
        start, n = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
        local = model.mesh_vert[start : start + n : max(1, n // _MOST_VERTICES)]
    return np.asarray(
        data.geom_xpos[geom] + local @ data.geom_xmat[geom].reshape(3, 3).T
    )


@cache
def _make_local_corners(kind: int, size: tuple[float, float, float]) -> Array:
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, -1).T
    turn = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    rim = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], axis=1)
    ball = np.concatenate(
        [
            rim * np.cos(tilt) + [0, 0, np.sin(tilt)]
            for tilt in np.linspace(-np.pi / 2, np.pi / 2, 9)
        ]
    )
    radius, half = size[0], np.array([0.0, 0.0, size[1]])
    if kind == mujoco.mjtGeom.mjGEOM_SPHERE:
        return np.asarray(radius * ball)
    if kind == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return np.concatenate([radius * ball + half, radius * ball - half])
    if kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return np.asarray(ball * size)
    if kind == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return np.concatenate([radius * rim + half, radius * rim - half])
    return np.asarray(signs * size)


def _find_outline(points: Array) -> Array:
    """Return the corners of the hull of points, (n, 2), in order."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:  # all points on a line
        return points


def _get_colour(model: mujoco.MjModel, geom: int) -> tuple[int, int, int]:
    """Return the mean of a shape's colour and the background's."""
    material = int(model.geom_matid[geom])
    rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[geom]
    red, green, blue = (
        (0.5 * (rgba[:3] * 255 + np.array(_BACKGROUND))).astype(int).tolist()
    )
    return red, green, blue
