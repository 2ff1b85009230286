"""Exact distances of a robot's convex shapes from a flat floor.

The distance of a convex shape from a plane is the distance of its centre minus the
extent of the shape towards the plane. MuJoCo's distance sensors give the same, but they
run at every physics step and take a tenth of its time; tasks need distances only at the
end of a control step.
"""

from typing import NamedTuple

import mujoco
import numpy as np

from kaccess.base.compiled import compiled
from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.robots import Robot
from kaccess.robots.contacts import (
    find_base,
    find_collision_margins,
    find_floor,
    find_ground,
    find_limbs,
)

__all__ = ["Shapes", "find_down", "find_shapes", "measure_clearances"]

_SPHERE = int(mujoco.mjtGeom.mjGEOM_SPHERE)
_CAPSULE = int(mujoco.mjtGeom.mjGEOM_CAPSULE)
_ELLIPSOID = int(mujoco.mjtGeom.mjGEOM_ELLIPSOID)
_CYLINDER = int(mujoco.mjtGeom.mjGEOM_CYLINDER)
_BOX = int(mujoco.mjtGeom.mjGEOM_BOX)
_MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
_CONVEX = (_SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH)


class Shapes(NamedTuple):
    """The g shapes of a robot that can touch the floor, the floor, and gravity.

    Attributes:
        geom: (g,) indices of the shapes' geoms in the model.
        kind: (g,) kinds of shape, `mjtGeom`.
        size: (g, 3) MuJoCo's sizes of the shapes [m].
        margin: (g,) distances at which MuJoCo detects contact with the floor [m].
        foot: (g,) index of the foot that a shape belongs to, -1 for none.
        is_body: (g,) whether a shape belongs to the body: to no leg.
        vertices: (v, 3) vertices of all meshes [m].
        mesh: (g, 2) index of a mesh's first vertex, and one past its last.
        floor: (3,) a point of the floor [m].
        up: (3,) normal of the floor.
        down: (3,) direction of gravity.
    """

    geom: IntArray
    kind: IntArray
    size: Array
    margin: Array
    foot: IntArray
    is_body: BoolArray
    vertices: Array
    mesh: IntArray
    floor: Array
    up: Array
    down: Array

    @property
    def n_feet(self) -> int:
        """Number of feet."""
        return int(self.foot.max(initial=-1)) + 1


def find_shapes(robot: Robot) -> Shapes:
    """Return the shapes of a robot that can touch its floor.

    Feet are the geoms that touch it in the standing pose, one foot for each body. Limbs
    from the base to a foot are legs; everything else is the body.

    Raises:
        InputError: If the ground is not one plane, or a shape is not convex.
    """
    model = robot.model
    floor = _find_floor(robot)
    geom = robot.ground_geoms
    _check_convex(robot, geom)
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return Shapes(
        geom=geom,
        kind=model.geom_type[geom].astype(np.int64),
        size=model.geom_size[geom].astype(np.float64),
        margin=find_collision_margins(model, floor)[geom],
        foot=_find_feet(robot, geom),
        is_body=_find_body(robot, geom),
        vertices=model.mesh_vert.astype(np.float64).reshape(-1, 3),
        mesh=_find_mesh_ranges(model, geom),
        floor=data.geom_xpos[floor].copy(),
        up=data.geom_xmat[floor].reshape(3, 3)[:, 2].copy(),
        down=find_down(model),
    )


@compiled
def measure_clearances(
    shapes: Shapes, position: Array, rotation: Array, out: Array
) -> None:
    """Write the distance of each shape from the floor [m]; negative inside it.

    Args:
        shapes: Shapes of the robot.
        position: (ngeom, 3) centres of all geoms of the model [m].
        rotation: (ngeom, 9) rotation matrices of all geoms, row by row.
        out: (g,) distances, to be written to.
    """
    a, b, c = shapes.up
    floor = a * shapes.floor[0] + b * shapes.floor[1] + c * shapes.floor[2]
    for k in range(len(out)):
        g = shapes.geom[k]
        centre = a * position[g, 0] + b * position[g, 1] + c * position[g, 2] - floor
        # The floor's normal in the frame of the shape.
        x = a * rotation[g, 0] + b * rotation[g, 3] + c * rotation[g, 6]
        y = a * rotation[g, 1] + b * rotation[g, 4] + c * rotation[g, 7]
        z = a * rotation[g, 2] + b * rotation[g, 5] + c * rotation[g, 8]
        if shapes.kind[k] == _MESH:
            first, end = shapes.mesh[k]
            extent = _measure_mesh(shapes.vertices[first:end], x, y, z)
        else:
            r, s, t = shapes.size[k]
            extent = _measure_extent(shapes.kind[k], r, s, t, x, y, z)
        out[k] = centre - extent


@compiled
def _measure_extent(
    kind: int, r: float, s: float, t: float, x: float, y: float, z: float
) -> float:
    """Return the extent of a shape of sizes r, s, t along -(x, y, z), a unit vector.

    The vector is in the frame of the shape; the sizes are MuJoCo's.
    """
    if kind == _SPHERE:
        return r
    if kind == _CAPSULE:
        return r + s * abs(z)
    if kind == _CYLINDER:
        return float(r * np.sqrt(x * x + y * y) + s * abs(z))
    if kind == _BOX:
        return r * abs(x) + s * abs(y) + t * abs(z)
    return float(np.sqrt((r * x) ** 2 + (s * y) ** 2 + (t * z) ** 2))  # an ellipsoid


@compiled
def _measure_mesh(vertices: Array, x: float, y: float, z: float) -> float:
    largest = -np.inf
    for v in range(len(vertices)):
        extent = -(vertices[v, 0] * x + vertices[v, 1] * y + vertices[v, 2] * z)
        largest = max(largest, extent)
    return largest


def _find_floor(robot: Robot) -> int:
    """Return the geom of the floor: the only fixed geom that collides."""
    floor = find_floor(robot.model)
    if floor is None:
        raise InputError(
            f"{robot.name} must stand on one plane, because tasks measure heights "
            f"above it, but its world has {len(find_ground(robot.model))} fixed geoms "
            "that collide. Make the ground one <geom type='plane'/>."
        )
    return floor


def find_down(model: mujoco.MjModel) -> Array:
    """Return the direction of gravity; -z if there is none."""
    gravity = np.array(model.opt.gravity)
    size = np.linalg.norm(gravity)
    return gravity / size if size else np.array([0.0, 0.0, -1.0])


def _find_feet(robot: Robot, geom: IntArray) -> IntArray:
    """Return the foot that each geom belongs to, (g,); -1 for none."""
    limbs = find_limbs(robot.model, geom)
    is_foot = np.isin(geom, robot.feet)
    foot = np.full(len(geom), -1)
    foot[is_foot] = np.unique(limbs[is_foot], return_inverse=True)[1]
    return foot


def _find_body(robot: Robot, geom: IntArray) -> BoolArray:
    """Return which geoms are no part of a leg, (g,)."""
    model, base = robot.model, find_base(robot.model)
    legs = set()
    for limb in np.unique(find_limbs(model, np.array(robot.feet, int))):
        while limb not in (base, 0):
            legs.add(int(limb))
            limb = model.body_weldid[model.body_parentid[limb]]
    return np.asarray(~np.isin(find_limbs(model, geom), list(legs)))


def _find_mesh_ranges(model: mujoco.MjModel, geom: IntArray) -> IntArray:
    mesh = model.geom_dataid[geom]
    ranges = np.zeros((len(geom), 2), np.int64)
    for k in np.flatnonzero(model.geom_type[geom] == _MESH):
        first = model.mesh_vertadr[mesh[k]]
        ranges[k] = first, first + model.mesh_vertnum[mesh[k]]
    return ranges


def _check_convex(robot: Robot, geom: IntArray) -> None:
    odd = geom[~np.isin(robot.model.geom_type[geom], _CONVEX)]
    if len(odd):
        kind = mujoco.mjtGeom(int(robot.model.geom_type[odd[0]])).name
        raise InputError(
            f"{robot.name} has a {kind.removeprefix('mjGEOM_').lower()} that collides; "
            "its distance from the floor cannot be computed. Use spheres, capsules, "
            "boxes, cylinders, ellipsoids or meshes for geoms that collide."
        )
