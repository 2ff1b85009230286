"""What the stages read from a study, checked: its poses, and its times if complete."""

import mujoco
import numpy as np

from kaccess import __version__
from kaccess.errors import InputError
from kaccess.poses import Poses
from kaccess.robots import Robot, load_robot
from kaccess.study import Settings, Study
from kaccess.types import Array

__all__ = ["finished_times", "load_poses", "provenance"]


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
