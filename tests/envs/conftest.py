"""Environments, and starts that are not all the same."""

import numpy as np
import pytest

from kaccess import InitialStates
from kaccess.envs import ENV_IDS
from kaccess.robots import ROBOTS, load_robot
from kaccess.starts import KEYFRAME_STARTS


@pytest.fixture(params=ENV_IDS)
def task_name(request):
    return request.param


@pytest.fixture(scope="session", params=ROBOTS)
def robot(request):
    return load_robot(request.param)


@pytest.fixture(scope="session")
def nine(bittle):
    """The keyframes of Bittle."""
    qpos = np.array([bittle.keyframes[name].qpos for name in KEYFRAME_STARTS["9-pose"]])
    return InitialStates.uniform(qpos, names=KEYFRAME_STARTS["9-pose"], model=bittle.fingerprint)


@pytest.fixture
def actions():
    """As many random actions of n robots as asked for."""

    def draw(n_steps, n, seed=0, nu=8):
        return np.random.default_rng(seed).uniform(-1, 1, (n_steps, n, nu))

    return draw
