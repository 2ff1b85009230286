"""Fixtures of environments: tasks, robots, starts and actions."""

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
    """The nine hand-designed poses of Bittle, as starts."""
    names = KEYFRAME_STARTS["9-pose"]
    qpos = np.array([bittle.keyframes[name].qpos for name in names])
    return InitialStates.uniform(qpos, names=names, model=bittle.fingerprint)


@pytest.fixture
def actions():
    """A function that draws random actions, (n_steps, n, nu)."""

    def draw(n_steps, n, seed=0, nu=8):
        return np.random.default_rng(seed).uniform(-1, 1, (n_steps, n, nu))

    return draw
