"""The exported files, and the check that a robot is in one of the starts."""

import os
from pathlib import Path

import numpy as np

from tests.exports.loading import load_file

FOLDER = Path(os.environ.get("KACCESS_EXPORTS", "build/exports"))


def load_export(framework):
    """Return the Python file of a framework, as a module."""
    return load_file(FOLDER / framework / f"kaccess_{framework}.py")


def load_guide(framework):
    return load_file(FOLDER / framework / "kaccess_guide.py")


def find_start(joint_names, root, joints):
    """Return the number of the start that a robot is in; an error if in none.

    Args:
        joint_names: Joints in the order of the framework.
        root: (7,) position and quaternion w-x-y-z.
        joints: Positions of the joints, in that order.
    """
    with np.load(FOLDER / "mjcf" / "kaccess_starts.npz") as data:
        qpos, names = data["qpos"], data["joint_names"].tolist()
    assert list(joint_names) != names  # otherwise nothing would be matched
    by_name = dict(zip(joint_names, np.asarray(joints), strict=True))
    state = [*np.asarray(root), *(by_name[name] for name in names)]
    distance = np.abs(qpos - state).max(axis=1)
    assert distance.min() < 1e-5
    return int(distance.argmin())
