"""What the stages read from a study, checked, and the starts that they write to it."""

import mujoco
import numpy as np

from kaccess import __version__
from kaccess.config import StillConfig
from kaccess.engines import make_engine
from kaccess.errors import InputError
from kaccess.poses import Poses, settle_keyframes
from kaccess.robots import Robot, load_robot
from kaccess.starts import LYING_POSE, NINE_POSES, InitialStates
from kaccess.study import Settings, Study
from kaccess.types import Array, IntArray

__all__ = [
    "as_starts",
    "finished_times",
    "load_poses",
    "provenance",
    "write_plain_starts",
]


def load_poses(study: Study) -> Poses:
    """Return the poses of a study, refused if the robot or a version has changed."""
    robot = load_robot(study.settings["robot"])
    study.require_same(provenance(robot))  # by its model: a file may be moved
    return Poses(
        robot,
        study.pose_array("qpos"),
        study.pose_array("contacts"),
        mirrored=study.settings["sample"]["mirror"],
    )


def finished_times(study: Study) -> Array:
    """Return the transition times of a study, (n, n), all of which must be there."""
    times = study.times
    missing = int(np.isnan(times).sum())
    if missing:
        raise InputError(
            f"{missing:,} of {times.size:,} pairs of {study.path} are not estimated "
            f"yet. Run `kaccess access {study.path}` first."
        )
    return times


def provenance(robot: Robot) -> Settings:
    """Return what results depend on beside the settings."""
    return {
        "model": robot.fingerprint,
        "versions": {"kaccess": __version__, "mujoco": mujoco.__version__},
    }


def as_starts(poses: Poses, indices: IntArray) -> InitialStates:
    """Return some of the poses as initial states of equal weight."""
    names = tuple(f"pose {index}" for index in indices)
    model = poses.robot.fingerprint
    return InitialStates.uniform(poses.qpos[indices], names=names, model=model)


def write_plain_starts(study: Study, poses: Poses) -> None:
    """Write the initial states that need no clustering: `rnd`, `9-pose`, `1-pose`."""
    robot, folder = poses.robot, study.path / "starts"
    as_starts(poses, np.arange(len(poses))).save(folder / "rnd.npz")
    engine = make_engine("mujoco", robot, StillConfig(**study.settings["still"]))
    for name, keys in (("9-pose", NINE_POSES), ("1-pose", (LYING_POSE,))):
        if set(keys) <= robot.keyframes.keys():
            qpos = settle_keyframes(robot, keys, engine=engine)
            starts = InitialStates.uniform(qpos, names=keys, model=robot.fingerprint)
            starts.save(folder / f"{name}.npz")
