"""Contacts of a robot's geoms, converted to PyBullet.

Geoms of one body with the same collision settings share a surface: one collision shape
of a link. Spheres, capsules, boxes and planes are exact. In Bullet, a cylinder is a
prism with 16 sides; meshes and ellipsoids are convex hulls, 1 mm thicker on all sides.

Friction. MuJoCo takes the larger coefficient of two geoms, Bullet the product of two
factors. Robot and ground get factors whose products are MuJoCo's coefficients. They are
exact for every contact with the ground. For contacts of the robot with itself, they are
exact if all its geoms have the same coefficient; else only their geometric mean is.
Torsional and rolling friction (contacts with more than three dimensions) are not
supported.

Softness. Bullet's contacts and joint limits are hard, and each step corrects a share of
the error x. The share follows from `solref`, which defines the acceleration -b v - k x:
integrated implicitly over a step h, it reduces x by h k / (h k + b).
"""

from dataclasses import dataclass, replace
from itertools import combinations

import mujoco
import numpy as np
from scipy.spatial import ConvexHull

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray
from kaccess.engines.bullet.checks import GEOM_KINDS, is_solid

__all__ = [
    "Shape",
    "Surface",
    "derive_correction",
    "describe_ground",
    "describe_surface",
    "group_geoms",
    "find_colliding",
    "find_touch_margins",
    "add_friction",
]

_GAP = 1e-4  # [m]: contacts are hard, so parts at rest may hover by up to this
_HULL_MARGIN = 1e-3  # [m], by which Bullet makes convex hulls thicker
_DEFAULT_CORRECTION = 0.2  # Bullet's default, if there is nothing to derive it from


@dataclass(frozen=True)
class Shape:
    """One geom: its kind, its size as in MuJoCo, and its pose in its link's frame."""

    kind: str
    size: Array
    pos: Array
    quat: Array
    vertices: Array | None = None


@dataclass(frozen=True)
class Surface:
    """Geoms with the same collision settings: indices, shapes and friction factor."""

    geoms: tuple[int, ...]
    shapes: tuple[Shape, ...]
    friction: float = 0.0


def group_geoms(model: mujoco.MjModel, body: int) -> list[list[int]]:
    """Group the geoms of a body that can collide by their collision settings.

    A compound shape of PyBullet cannot contain a convex hull, so each hull is alone.
    """
    groups: dict[tuple[float, ...], list[int]] = {}
    for geom in np.flatnonzero(is_solid(model) & (model.geom_bodyid == body)).tolist():
        is_hull = GEOM_KINDS[mujoco.mjtGeom(int(model.geom_type[geom]))] == "hull"
        settings = (
            *(model.geom_contype[geom], model.geom_conaffinity[geom]),
            *(model.geom_friction[geom, 0], model.geom_condim[geom]),
            *(model.geom_priority[geom], geom if is_hull else -1),
        )
        groups.setdefault(settings, []).append(geom)
    return list(groups.values())


def describe_surface(
    model: mujoco.MjModel, geoms: list[int], body_origin: Array
) -> Surface:
    """Return geoms as a surface, given the origin of their body in the link's frame."""
    return Surface(
        tuple(geoms),
        tuple(
            _describe_shape(
                model, geom, body_origin + model.geom_pos[geom], model.geom_quat[geom]
            )
            for geom in geoms
        ),
    )


def describe_ground(model: mujoco.MjModel) -> list[Surface]:
    """Return one surface for each geom that can collide and never moves."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    surfaces = []
    fixed = is_solid(model) & (model.body_weldid[model.geom_bodyid] == 0)
    for geom in np.flatnonzero(fixed).tolist():
        quat = np.zeros(4)
        mujoco.mju_mat2Quat(quat, data.geom_xmat[geom])
        shape = _describe_shape(model, geom, data.geom_xpos[geom], quat)
        surfaces.append(Surface((geom,), (shape,)))
    return surfaces


def _describe_shape(model: mujoco.MjModel, geom: int, pos: Array, quat: Array) -> Shape:
    kind = mujoco.mjtGeom(int(model.geom_type[geom]))
    size = np.array(model.geom_size[geom])
    vertices = None
    if kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.mesh(int(model.geom_dataid[geom]))
        first, count = int(mesh.vertadr[0]), int(mesh.vertnum[0])
        points = model.mesh_vert[first : first + count]
        vertices = points[ConvexHull(points).vertices].astype(float)
    elif kind == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        vertices = _make_sphere_points(400) * size
    return Shape(GEOM_KINDS[kind], size, np.array(pos), np.array(quat), vertices)


def _make_sphere_points(n: int) -> Array:
    """Return n points spread evenly over the unit sphere, (n, 3), on a spiral."""
    z = 1 - (2 * np.arange(n) + 1) / n
    angle = np.pi * (1 + np.sqrt(5)) * np.arange(n)
    radius = np.sqrt(1 - z**2)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)


def find_colliding(model: mujoco.MjModel, surfaces: list[Surface]) -> BoolArray:
    """Return whether two surfaces can touch, (n, n)."""
    collides = np.zeros((len(surfaces), len(surfaces)), bool)
    for a, b in combinations(range(len(surfaces)), 2):
        allowed = _can_touch(model, surfaces[a].geoms[0], surfaces[b].geoms[0])
        collides[a, b] = collides[b, a] = allowed
    return collides


def _can_touch(model: mujoco.MjModel, geom: int, other: int) -> bool:
    """Return whether two geoms can touch: masks, welds, parents and exclusions."""
    masks = (model.geom_contype[geom] & model.geom_conaffinity[other]) | (
        model.geom_contype[other] & model.geom_conaffinity[geom]
    )
    bodies = sorted((int(model.geom_bodyid[geom]), int(model.geom_bodyid[other])))
    if not masks or (bodies[0] << 16) + bodies[1] in model.exclude_signature:
        return False
    weld = model.body_weldid[bodies]
    parent = model.body_weldid[model.body_parentid[weld]]
    keeps_parents = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    is_child = weld[0] == parent[1] or weld[1] == parent[0]
    filtered = weld.all() and is_child and not keeps_parents
    return bool(weld[0] != weld[1] and not filtered)


def add_friction(
    model: mujoco.MjModel,
    name: str,
    surfaces: list[Surface],
    *,
    collides: BoolArray,
    n_moving: int,
) -> tuple[Surface, ...]:
    """Return the surfaces with friction factors.

    Args:
        model: Compiled model.
        name: Name of the robot.
        surfaces: Surfaces; the moving ones come first.
        collides: (n, n) whether two surfaces can touch.
        n_moving: Number of surfaces that move.

    Raises:
        InputError: If geoms of the ground differ in friction.
    """
    first = [surface.geoms[0] for surface in surfaces]
    moving, ground = first[:n_moving], first[n_moving:]
    on_ground = np.array(
        [[_combine_friction(model, geom, other) for other in ground] for geom in moving]
    )
    if (on_ground != on_ground[:, :1]).any():
        raise InputError(
            f"{name} has ground geoms that differ in friction, which the 'bullet' "
            "engine does not support. Either give them the same friction, or choose "
            "the 'mujoco' engine."
        )
    factor = _fit_ground_factor(model, moving, on_ground[:, 0], collides)
    factors = [*(on_ground[:, 0] / factor), *([factor] * len(ground))]
    return tuple(
        replace(surface, friction=float(value))
        for surface, value in zip(surfaces, factors, strict=True)
    )


def _fit_ground_factor(
    model: mujoco.MjModel, moving: list[int], on_ground: Array, collides: BoolArray
) -> float:
    """Return the ground's factor that fits contacts of the robot with itself best."""
    ratios = [
        on_ground[a] * on_ground[b] / _combine_friction(model, moving[a], moving[b])
        for a, b in combinations(range(len(moving)), 2)
        if collides[a, b] and _combine_friction(model, moving[a], moving[b]) > 0
    ]
    if ratios and min(ratios) > 0:
        return float(np.exp(0.5 * np.mean(np.log(ratios))))
    return float(np.sqrt(on_ground.max(initial=0.0)) or 1.0)


def _combine_friction(model: mujoco.MjModel, geom: int, other: int) -> float:
    """Return the sliding friction of two geoms, combined as in MuJoCo."""
    pair = [geom, other]
    priority = model.geom_priority[pair]
    pair = [geom for geom in pair if model.geom_priority[geom] == priority.max()]
    has_friction = model.geom_condim[pair].max() > 1
    return float(model.geom_friction[pair, 0].max()) if has_friction else 0.0


def find_touch_margins(model: mujoco.MjModel) -> Array:
    """Return how far above the floor a geom at rest on it may be, (ngeom,) [m]."""
    kinds = [GEOM_KINDS.get(mujoco.mjtGeom(int(kind))) for kind in model.geom_type]
    return _GAP + _HULL_MARGIN * np.array([kind == "hull" for kind in kinds])


def derive_correction(model: mujoco.MjModel, solref: Array, solimp: Array) -> float:
    """Return the share of an error that one step corrects.

    Args:
        model: Compiled model.
        solref: (n, 2) `solref` of geoms or joints.
        solimp: (n, 5) their `solimp`.
    """
    if not len(solref):
        return _DEFAULT_CORRECTION
    step, full = model.opt.timestep, solimp[:, 1]
    direct = solref[:, 0] <= 0  # then it is negative stiffness and damping
    time = np.maximum(np.where(direct, 1.0, solref[:, 0]), 2 * step)
    ratio = np.where(direct, 1.0, solref[:, 1])
    stiffness = np.where(
        direct, -solref[:, 0] / full**2, 1 / (full * time * ratio) ** 2
    )
    damping = np.where(direct, -solref[:, 1] / full, 2 / (full * time))
    return float(np.mean(step * stiffness / (step * stiffness + damping)))
