import numpy as np
import pytest

from kaccess import load_robot, sample_poses
from kaccess.config import SimulateConfig
from kaccess.deploy.session import Session
from kaccess.deploy.simulated import SimulatedBittle, VirtualLink


@pytest.fixture(scope="session")
def real():
    return load_robot("bittle-real")


@pytest.fixture(scope="session")
def lying(real):
    """Three poses: on its back and a side, and those most on either side."""
    poses = sample_poses(real, 24, seed=5)
    _, y, z = poses.gravity.T
    back = np.where(np.abs(y) > 0.3, z, -1.0)
    return poses.qpos[[back.argmax(), y.argmax(), y.argmin()]]


@pytest.fixture(scope="session")
def flat(real):
    """The pose that is most on its back: flat, on cover and head."""
    poses = sample_poses(real, 24, seed=5)
    return poses.qpos[poses.gravity[:, 2].argmax()]


@pytest.fixture
def meet(real):
    """A function that makes a session with a simulated robot."""

    def make(qpos=None, *, slow=0.0, version="B10_250712", model="Bittle X", **faults):
        bittle = SimulatedBittle(
            SimulateConfig(**faults), qpos, robot=real, version=version, model=model
        )
        return Session(VirtualLink(bittle, slow=slow), real)

    return make
