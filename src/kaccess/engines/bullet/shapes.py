"""Collision shapes in PyBullet."""

from kaccess.engines.bullet.client import Client
from kaccess.engines.bullet.contact import Shape, Surface
from kaccess.engines.bullet.quaternions import to_xyzw

__all__ = ["make_shape"]


def make_shape(bullet: Client, surface: Surface) -> int:
    """Make the collision shape of a surface, and return PyBullet's index of it."""
    shapes = surface.shapes
    if len(shapes) == 1:
        return _make_single_shape(bullet, shapes[0])
    return int(
        bullet.createCollisionShapeArray(
            shapeTypes=[_get_shape_type(bullet, shape) for shape in shapes],
            halfExtents=[shape.size.tolist() for shape in shapes],
            radii=[shape.size[0] for shape in shapes],
            lengths=[2 * shape.size[1] for shape in shapes],
            collisionFramePositions=[shape.pos.tolist() for shape in shapes],
            collisionFrameOrientations=[to_xyzw(shape.quat) for shape in shapes],
        )
    )


def _make_single_shape(bullet: Client, shape: Shape) -> int:
    """Make a shape on its own; planes and hulls cannot be part of a compound."""
    vertices = [] if shape.vertices is None else shape.vertices.tolist()
    return int(
        bullet.createCollisionShape(
            _get_shape_type(bullet, shape),
            halfExtents=shape.size,
            radius=shape.size[0],
            height=2 * shape.size[1],
            vertices=vertices,
            collisionFramePosition=shape.pos,
            collisionFrameOrientation=to_xyzw(shape.quat),
        )
    )


def _get_shape_type(bullet: Client, shape: Shape) -> int:
    kind = "mesh" if shape.kind == "hull" else shape.kind
    return int(getattr(bullet, f"GEOM_{kind.upper()}"))
