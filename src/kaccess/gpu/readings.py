"""Readings of all robots at once, as tensors; see `kaccess.envs.readings`."""

from typing import Any, NamedTuple

import mujoco
import numpy as np
import torch
from torch import Tensor

from kaccess.envs.ground import Shapes
from kaccess.envs.readings import JointAddresses, Readings

__all__ = ["TensorFields", "TensorReader", "rotate_into_body"]

_GEOM = mujoco.mjtGeom


class TensorFields(NamedTuple):
    """MuJoCo's fields of n simulations as tensors; see `Fields`.

    Attributes:
        qpos: (n, nq) states.
        qvel: (n, nv) velocities.
        ctrl: (n, nu) joint targets.
        force: (n, nu) actuator forces in the last physics step.
        geom_xpos: (n, ngeom, 3) centres of the geoms [m].
        geom_xmat: (n, ngeom, 3, 3) rotation matrices of the geoms.
    """

    qpos: Tensor
    qvel: Tensor
    ctrl: Tensor
    force: Tensor
    geom_xpos: Tensor
    geom_xmat: Tensor


class TensorReader:
    """Computes readings from fields.

    Args:
        shapes: Shapes of the robot, and its floor.
        joints: Addresses of the actuated joints.
        standing_height: Height of the base when the standing pose is at rest [m].
        standing_joints: (nu,) joint positions of the standing pose [rad].
        time_step: Time between two readings [s].
        like: A tensor with the device and the precision of the fields.

    Attributes:
        down: (3,) direction of gravity.
        joint_adr: (nu,) addresses of the actuated joints in `qpos`.
    """

    def __init__(
        self,
        shapes: Shapes,
        joints: JointAddresses,
        *,
        standing_height: float,
        standing_joints: np.ndarray,
        time_step: float,
        like: Tensor,
    ) -> None:
        self._like, self._shapes = like, shapes
        self._up, self.down = self._send(shapes.up), self._send(shapes.down)
        self._floor = float(shapes.up @ shapes.floor)
        self._geom = torch.as_tensor(shapes.geom.astype(np.int64), device=like.device)
        self._margin, self._size = self._send(shapes.margin), self._send(shapes.size)
        self.joint_adr, self._velocity_adr = (
            torch.as_tensor(each, device=like.device) for each in joints
        )
        self._by_kind = {
            kind: torch.as_tensor(
                np.flatnonzero(shapes.kind == kind), device=like.device
            )
            for kind in np.unique(shapes.kind).tolist()
        }
        self._meshes = {
            int(k): self._send(shapes.vertices[slice(*shapes.mesh[k])])
            for k in np.flatnonzero(shapes.kind == _GEOM.mjGEOM_MESH)
        }
        self._body = torch.as_tensor(shapes.is_body, device=like.device)
        self._feet = [
            torch.as_tensor(np.flatnonzero(shapes.foot == foot), device=like.device)
            for foot in range(shapes.n_feet)
        ]
        self._fixed: dict[str, Any] = {
            "standing_height": standing_height,
            "standing_joints": self._send(standing_joints),
            "time_step": time_step,
        }

    def read(self, fields: TensorFields, last_quat: Tensor) -> Readings:
        """Return the readings of all robots.

        Args:
            fields: Fields of the simulations.
            last_quat: (n, 4) orientation of the base at the last readings.
        """
        quat, gaps = fields.qpos[:, 3:7], self.measure_clearances(fields)
        touches = gaps <= self._margin
        readings: Any = {
            "height": (fields.qpos[:, :3] * self._up).sum(-1) - self._floor,
            "gravity": rotate_into_body(self.down, quat),
            "angular_velocity": fields.qvel[:, 3:6],
            "turn": _find_rotation(last_quat, quat),
            "joints": fields.qpos[:, self.joint_adr],
            "joint_velocity": fields.qvel[:, self._velocity_adr],
            "torque": fields.force,
            "target": fields.ctrl,
            "distance": gaps.amin(1),
            "foot_distance": torch.stack([gaps[:, k].amin(1) for k in self._feet], 1),
            "body_touches": (touches & self._body).any(1),
            "foot_touches": torch.stack([touches[:, k].any(1) for k in self._feet], 1),
            "floor_cosine": rotate_into_body(self._up, quat)[:, 2],
        }
        return Readings(**readings, **self._fixed)

    def measure_clearances(self, fields: TensorFields) -> Tensor:
        """Return the distance of each shape from the floor, (n, g) [m]."""
        centre = (fields.geom_xpos[:, self._geom] * self._up).sum(-1) - self._floor
        # The floor's normal in the frame of each shape, (n, g, 3).
        # No matrix products: a learner may have made them less precise.
        normal = (fields.geom_xmat[:, self._geom] * self._up[:, None]).sum(-2)
        extent = torch.zeros_like(centre)
        for kind, columns in self._by_kind.items():
            if kind == _GEOM.mjGEOM_MESH:
                continue
            measured = _measure_extent(kind, self._size[columns], normal[:, columns])
            extent[:, columns] = measured
        for k, vertices in self._meshes.items():
            x, y, z = normal[:, k, :, None].unbind(1)
            a, b, c = vertices.T
            extent[:, k] = -(x * a + y * b + z * c).amin(1)
        return centre - extent

    def _send(self, array: np.ndarray) -> Tensor:
        return torch.as_tensor(array, dtype=self._like.dtype, device=self._like.device)


def _measure_extent(kind: int, size: Tensor, normal: Tensor) -> Tensor:
    """Return the extents, (n, k), of shapes of a kind with sizes (k, 3)."""
    r, s, _ = size.unbind(-1)
    x, y, z = normal.unbind(-1)
    if kind == _GEOM.mjGEOM_SPHERE:
        return r.expand_as(x)
    if kind == _GEOM.mjGEOM_CAPSULE:
        return r + s * z.abs()
    if kind == _GEOM.mjGEOM_CYLINDER:
        return r * torch.sqrt(x * x + y * y) + s * z.abs()
    if kind == _GEOM.mjGEOM_BOX:
        return (size * normal.abs()).sum(-1)
    return torch.sqrt(torch.square(size * normal).sum(-1))  # an ellipsoid


def rotate_into_body(world: Tensor, quat: Tensor) -> Tensor:
    """Return a vector of the world, (3,), in the frames of bodies, (n, 3)."""
    w, axis = quat[:, :1], -quat[:, 1:]  # the inverse rotation
    vector = world.expand_as(axis)
    across: Tensor = torch.linalg.cross(axis, vector)
    turned: Tensor = w * across + torch.linalg.cross(axis, across)
    return vector + 2.0 * turned / torch.square(quat).sum(1, keepdim=True)


def _find_rotation(before: Tensor, after: Tensor) -> Tensor:
    """Return the rotations between two orientations, as vectors in the body frame."""
    w, axis = before[:, :1], -before[:, 1:]
    real, imaginary = after[:, :1], after[:, 1:]
    product = w * imaginary + real * axis + torch.linalg.cross(axis, imaginary)
    real = w * real - (axis * imaginary).sum(1, keepdim=True)
    # q and -q are the same rotation: take the shorter way.
    product, real = torch.where(real < 0, -product, product), real.abs()
    sine = torch.linalg.vector_norm(product, dim=1, keepdim=True)
    scale = 2.0 * torch.atan2(sine, real) / sine
    vector: Tensor = product * torch.where(sine > 0, scale, 2.0)
    return vector
