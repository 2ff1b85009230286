"""Quaternions w-x-y-z of plain floats: NumPy takes ten times as long for one."""

from collections.abc import Iterable

from kaccess.engines.bullet.model import Vector

__all__ = ["cross", "inverse", "multiply", "rotate", "to_xyzw"]


def to_xyzw(quat: Iterable[float]) -> Vector:
    """Return a quaternion in Bullet's order, x-y-z-w."""
    w, x, y, z = quat
    return x, y, z, w


def inverse(quat: Vector) -> Vector:
    """Return the inverse of a unit quaternion."""
    w, x, y, z = quat
    return w, -x, -y, -z


def multiply(a: Vector, b: Vector) -> Vector:
    """Return the product of two quaternions."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product of two vectors."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def rotate(quat: Vector, vector: Vector) -> Vector:
    """Return a vector rotated by a quaternion."""
    return multiply(multiply(quat, (0.0, *vector)), inverse(quat))[1:]
