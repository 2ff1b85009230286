"""What can touch what in a model: its floor, and the geoms that can touch it."""

import mujoco
import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray

__all__ = [
    "find_base",
    "find_collision_margins",
    "find_floor",
    "find_floor_contacts",
    "find_limbs",
    "find_movable",
    "is_collider",
]

_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)
NOT_TOUCHING = -1.0  # [m], in place of a margin


def find_base(model: mujoco.MjModel) -> int:
    """Return the body of the floating base."""
    return int(model.jnt_bodyid[0])


def find_movable(model: mujoco.MjModel) -> BoolArray:
    """Return which geoms belong to the robot, (ngeom,)."""
    return np.asarray(model.body_rootid[model.geom_bodyid] == find_base(model))


def is_collider(model: mujoco.MjModel) -> BoolArray:
    """Return which geoms can touch others, (ngeom,): by their bits or in a <pair>."""
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    collides[model.pair_geom1] = True
    collides[model.pair_geom2] = True
    return np.asarray(collides)


def find_ground(model: mujoco.MjModel) -> IntArray:
    """Return the fixed geoms that can touch others."""
    fixed = model.body_weldid[model.geom_bodyid] == 0
    return np.flatnonzero(fixed & is_collider(model))


def find_floor(model: mujoco.MjModel) -> int | None:
    """Return the geom of the floor; None if the ground is not one plane."""
    ground = find_ground(model)
    if len(ground) != 1 or model.geom_type[ground[0]] != _PLANE:
        return None
    return int(ground[0])


def find_collision_margins(model: mujoco.MjModel, floor: int) -> Array:
    """Return the distance at which each geom touches the floor, (ngeom,) [m].

    It is `NOT_TOUCHING` for geoms that cannot touch it, and that are not the robot's.
    """
    bits = (model.geom_contype & model.geom_conaffinity[floor]) | (
        model.geom_contype[floor] & model.geom_conaffinity
    )
    margin = model.geom_margin + model.geom_margin[floor]
    margin = np.where(bits != 0, margin, NOT_TOUCHING)
    for first, second, own in zip(
        model.pair_geom1, model.pair_geom2, model.pair_margin, strict=True
    ):
        if floor in (first, second):
            margin[second if first == floor else first] = own
    return np.where(find_movable(model), margin, NOT_TOUCHING)


def find_limbs(model: mujoco.MjModel, geom: IntArray) -> IntArray:
    """Return the body that each geom moves with, (g,): welded bodies count as one."""
    return np.asarray(model.body_weldid[model.geom_bodyid[geom]])


def find_floor_contacts(data: mujoco.MjData, floor: int) -> IntArray:
    """Return the geoms that touch the floor in the current state, ascending."""
    geoms = data.contact.geom
    touching = np.unique(geoms[(geoms == floor).any(axis=1)])
    return np.asarray(touching[touching != floor])
