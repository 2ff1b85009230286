"""The robots of the package, and a loader for others.

The spec of a robot has the path of its MJCF file, and values to replace in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.robots.robot import Robot

__all__ = ["ROBOTS", "RobotSpec", "load_robot"]


@dataclass(frozen=True, kw_only=True)
class RobotSpec:
    """A robot made from an MJCF file."""

    mjcf: Path
    """Model, including the ground."""
    drop_height: float
    """Height of the base at the start of a drop [m]."""
    joint_range: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Joint ranges that replace those of the file, in the file's unit of angles."""
    firmware_joints: Mapping[int, str] = field(default_factory=dict)
    """Joint names by their index in the robot's firmware."""


_BITTLE = Path(__file__).parent / "bittle" / "bittle.xml"
_LEGS = ("lf", "rf", "rr", "lr")
_DROP_HEIGHT = 0.35  # [m], the paper, section III-A

# Joint angles at which a leg touches the body, measured on a real Bittle in OpenCat
# degrees (NiranjanJ2/bittle-rl). The limits of +-125 are Petoi's recommended range.
_MEASURED_RANGE = {
    "f_shoulder": (-125.0, 70.0),
    "r_shoulder": (-35.0, 125.0),
    "f_knee": (-60.0, 125.0),
    "r_knee": (-45.0, 125.0),
}

# The leg joints of Bittle have the indices 8 to 15 in OpenCat (PetoiCamp/OpenCat).
_OPENCAT = dict(
    enumerate(
        (f"{leg}_{joint}" for joint in ("shoulder", "knee") for leg in _LEGS), start=8
    )
)

ROBOTS: Mapping[str, RobotSpec] = {
    "bittle": RobotSpec(
        mjcf=_BITTLE, drop_height=_DROP_HEIGHT, firmware_joints=_OPENCAT
    ),
    "bittle-real": RobotSpec(
        mjcf=_BITTLE,
        drop_height=_DROP_HEIGHT,
        firmware_joints=_OPENCAT,
        joint_range={
            f"{side}{joint}": limits
            for side in "lr"
            for joint, limits in _MEASURED_RANGE.items()
        },
    ),
}


def load_robot(name: str | Path) -> Robot:
    """Load a robot by its name, or from the path of an MJCF file."""
    if str(name) in ROBOTS:
        spec = ROBOTS[str(name)]
        return Robot(str(name), _compile(spec), spec.drop_height)
    path = Path(name)
    if not path.is_file():
        close = get_close_matches(str(name), ROBOTS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise InputError(
            f"Unknown robot {str(name)!r}: expected the path of an MJCF file or one "
            f"of {', '.join(ROBOTS)}.{hint}"
        )
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path} is not an MJCF model: {reason}") from error
    return Robot(str(path.resolve()), model, _measure_reach(model))


def _compile(spec: RobotSpec) -> mujoco.MjModel:
    mjcf = mujoco.MjSpec.from_file(str(spec.mjcf))
    for joint, limits in spec.joint_range.items():
        mjcf.joint(joint).range = limits
    return mjcf.compile()


def _measure_reach(model: mujoco.MjModel) -> float:
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
