"""Makes a robot of any model: adds a free base, a floor and servos where they lack."""

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.config import RobotConfig
from kaccess.robots.contacts import (
    find_base,
    find_collision_margins,
    find_floor,
    find_ground,
    find_limbs,
    find_movable,
    is_collider,
)
from kaccess.robots.files import ModelFile, compile_model
from kaccess.robots.servos import SCALAR_JOINTS, add_servos

__all__ = ["measure_reach", "prepare_model"]

_STANDING_SHARE = 0.4  # [-], of a robot's reach, where nothing better is known
_FREE = mujoco.mjtJoint.mjJNT_FREE


def prepare_model(
    file: ModelFile, config: RobotConfig
) -> tuple[mujoco.MjModel, tuple[str, ...]]:
    """Return the model of a robot, compiled, and what was changed in it.

    Args:
        file: Model as it was read.
        config: What the user has set about it.
    """
    spec, notes = file.spec, list(file.notes)
    model = compile_model(file)
    _check_movable(model, file.name)
    if not (model.jnt_type == _FREE).any():
        notes += _free_base(spec, model, file.name)
        model = compile_model(file)
    if file.path.suffix.lower() == ".urdf":
        notes += _exclude_overlaps(spec, model)
    notes += _add_floor(spec, model)
    notes += _touch_floor(spec, compile_model(file))
    try:
        notes += add_servos(spec, model, config, height=_guess_height(model))
    except InputError as error:
        raise InputError(f"{file.name}: {error}") from error
    return compile_model(file), tuple(notes)


def _check_movable(model: mujoco.MjModel, name: str) -> None:
    """Raise `InputError` for a model that has nothing to move or to touch with."""
    if not np.isin(model.jnt_type, SCALAR_JOINTS).any():
        raise InputError(
            f"{name} has no hinge or slide that could move it, so it is no robot. Give "
            "the file of a robot with joints."
        )
    moving = model.body_weldid[model.geom_bodyid] != 0
    if not (moving & is_collider(model)).any():
        raise InputError(
            f"{name} has no shapes that can touch the floor. Give its bodies geoms "
            "that collide."
        )


def measure_reach(model: mujoco.MjModel) -> float:
    """Return an upper bound on the distance of any part from the base [m].

    From the base to a geom, each link adds at most its length, the travel of its slides
    and twice the offset of its joints.
    """
    if model.njnt == 0:
        return 0.0
    base = int(model.jnt_bodyid[0])
    length = np.zeros(model.nbody)
    for body in range(base + 1, model.nbody):  # parents come first
        joints = model.body_jntadr[body] + np.arange(model.body_jntnum[body])
        slides = model.jnt_type[joints] == mujoco.mjtJoint.mjJNT_SLIDE
        travel = np.abs(model.jnt_range[joints]).max(axis=1, initial=0.0)[slides].sum()
        swing = 2 * np.linalg.norm(model.jnt_pos[joints], axis=1).sum()
        link = np.linalg.norm(model.body_pos[body]) + travel + swing
        length[body] = length[model.body_parentid[body]] + link
    geoms = np.flatnonzero(model.body_rootid[model.geom_bodyid] == base)
    offset = np.linalg.norm(model.geom_pos[geoms], axis=1) + model.geom_rbound[geoms]
    return float(np.max(length[model.geom_bodyid[geoms]] + offset, initial=0.0))


def _guess_height(model: mujoco.MjModel) -> float:
    """Return the height of the centre of mass above the lowest geom [m].

    The robot is in its first keyframe, or in its zero pose.
    """
    data = mujoco.MjData(model)
    data.qpos[:] = model.key_qpos[0] if model.nkey else model.qpos0
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    geoms = find_movable(model) & is_collider(model)
    lowest = data.geom_xpos[geoms, 2].min(initial=np.inf)
    height = float(data.subtree_com[find_base(model), 2] - lowest)
    return height if height > 0 else _STANDING_SHARE * measure_reach(model)


def _free_base(spec: mujoco.MjSpec, model: mujoco.MjModel, name: str) -> list[str]:
    """Add a free joint to the only tree of bodies."""
    roots = [body for body in spec.worldbody.bodies if _has_joints(body)]
    if len(roots) != 1:
        raise InputError(
            f"{name} must have one free joint (its floating base), but has none, and "
            f"{len(roots)} of the bodies in its world have joints. Give its root body "
            "a <freejoint/>."
        )
    if len(roots[0].joints):
        joints = ", ".join(repr(joint.name) for joint in roots[0].joints)
        raise InputError(
            f"{name} must have one free joint (its floating base), but its root body "
            f"moves by {joints}. Replace these joints with a <freejoint/>."
        )
    roots[0].add_freejoint()
    for key in list(spec.keys):  # their states do not fit any more
        spec.delete(key)
    lost = " Its keyframes no longer fit and were left out." if model.nkey else ""
    return [f"A free joint was added to its fixed base.{lost}"]


def _has_joints(body: mujoco.MjsBody) -> bool:
    return bool(len(body.joints)) or any(map(_has_joints, body.bodies))


def _exclude_overlaps(spec: mujoco.MjSpec, model: mujoco.MjModel) -> list[str]:
    """Let parts pass through each other that overlap in the zero pose of a URDF."""
    data = mujoco.MjData(model)
    mujoco.mj_fwdPosition(model, data)
    own = find_movable(model)[data.contact.geom].all(axis=1)
    bodies = np.sort(model.geom_bodyid[data.contact.geom[own]], axis=1)
    pairs = sorted(
        (model.body(int(first)).name, model.body(int(second)).name)
        for first, second in set(map(tuple, bodies))
    )
    for first, second in pairs:
        spec.add_exclude(bodyname1=first, bodyname2=second)
    if not pairs:
        return []
    names = " and ".join(pairs[0])
    more = f", and {len(pairs) - 1} more" if len(pairs) > 1 else ""
    return [f"Parts that overlap in its zero pose do not collide: {names}{more}."]


def _add_floor(spec: mujoco.MjSpec, model: mujoco.MjModel) -> list[str]:
    """Add a floor that all geoms of the robot can touch, if there is no ground."""
    if len(find_ground(model)):
        return []
    collides = is_collider(model)
    grid = spec.add_texture(
        name="kaccess_grid",
        type=mujoco.mjtTexture.mjTEXTURE_2D,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.86, 0.88, 0.90],
        rgb2=[0.80, 0.82, 0.85],
        width=128,
        height=128,
    )
    material = spec.add_material(name=grid.name, texrepeat=[5, 5], texuniform=True)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = grid.name
    spec.worldbody.add_geom(
        name="floor",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0, 0, 0.05],
        material=material.name,
        contype=_join_bits(model.geom_conaffinity[collides]),
        conaffinity=_join_bits(model.geom_contype[collides]),
    )
    if not spec.lights:
        spec.worldbody.add_light(pos=[1, 1, 3], dir=[-0.3, -0.3, -1])
    return ["A floor was added."]


def _touch_floor(spec: mujoco.MjSpec, model: mujoco.MjModel) -> list[str]:
    """Let all shapes that collide touch the floor, if those of the base cannot.

    Models for walking often let only the soles touch it; a fallen robot would sink.
    """
    floor = find_floor(model)
    if floor is None:
        return []
    margins = find_collision_margins(model, floor)
    touching = np.flatnonzero(margins >= 0)
    others = np.flatnonzero(find_movable(model) & is_collider(model) & (margins < 0))
    if find_base(model) in find_limbs(model, touching) or not len(others):
        return []
    names = {geom.id: _name_geom(geom) for geom in spec.geoms}
    for geom in others:
        spec.add_pair(geomname1=names[floor], geomname2=names[int(geom)])
    n = len(others)
    return [f"The floor now also stops shapes that could touch only each other ({n})."]


def _name_geom(geom: mujoco.MjsGeom) -> str:
    """Return the name of a geom; give it one if it has none."""
    geom.name = geom.name or f"geom {geom.id}"
    return str(geom.name)


def _join_bits(bits: np.ndarray) -> int:
    """Return all bits that any of the numbers has; 1 if none has any."""
    return int(np.bitwise_or.reduce(bits, initial=0)) or 1
