"""The robots of the package, and a loader for others.

The spec of a robot has the path of its MJCF file, and values to replace in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import mujoco

from kaccess.config import RobotConfig
from kaccess.robots.contacts import find_base, find_limbs
from kaccess.robots.files import ModelFile, read_model
from kaccess.robots.prepare import measure_reach, prepare_model
from kaccess.robots.robot import Robot
from kaccess.robots.stance import Stance

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


def load_robot(
    name: str | Path,
    config: RobotConfig | None = None,
    *,
    stance: Stance | None = None,
) -> Robot:
    """Load a robot.

    Args:
        name: Name of a robot of this package (bittle, bittle-real), path of an MJCF or
            URDF file, or the name of a model of another collection, such as
            `menagerie:unitree_go1` or `description:go1_mj_description`.
        config: What to set about the model, if what is found in it is not right.
        stance: How it stands, if that is known; else it is found when needed.
    """
    config = config or RobotConfig()
    if str(name) in ROBOTS and config == RobotConfig():
        spec = ROBOTS[str(name)]
        model = _compile(spec)
        return Robot(str(name), model, spec.drop_height, str(name), known_stance=stance)
    file = _read(name, config)
    model, notes = prepare_model(file, config)
    known = ROBOTS.get(str(name))
    robot = Robot(
        file.name,
        model,
        known.drop_height if known else measure_reach(model),
        source=str(name) if known else str(file.path),
        config=config,
        notes=notes,
        known_stance=stance,
    )
    return replace(robot, notes=(*notes, *_warn(robot)))


def _read(name: str | Path, config: RobotConfig) -> ModelFile:
    if str(name) in ROBOTS:
        spec = ROBOTS[str(name)]
        return ModelFile(str(name), spec.mjcf, _read_spec(spec), ())
    path = None if config.robots_path is None else Path(config.robots_path)
    return read_model(name, path, known=ROBOTS)


def _compile(spec: RobotSpec) -> mujoco.MjModel:
    return _read_spec(spec).compile()


def _read_spec(spec: RobotSpec) -> mujoco.MjSpec:
    mjcf = mujoco.MjSpec.from_file(str(spec.mjcf))
    for joint, limits in spec.joint_range.items():
        mjcf.joint(joint).range = limits
    return mjcf


def _warn(robot: Robot) -> list[str]:
    """Return warnings about a model with which results may be wrong."""
    base = find_base(robot.model)
    if base not in find_limbs(robot.model, robot.ground_geoms):
        return [
            "Warning: its base cannot touch the floor and may sink into it. Give the "
            "base a geom that collides, or load a scene with all collisions."
        ]
    return []
