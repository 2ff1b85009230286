"""A posture graph of five poses of the tiny robot."""

import pytest

from kaccess import AccessConfig, sample_poses
from kaccess.access import find_nodes
from kaccess.engines.mujoco import MujocoEngine
from tests.access.graphs import simulate_graph


@pytest.fixture(scope="session")
def tiny_engine(tiny):
    return MujocoEngine(tiny, n_threads=1)


@pytest.fixture(scope="session")
def tiny_poses(tiny, tiny_engine):
    return sample_poses(tiny, 40, seed=0, engine=tiny_engine)


@pytest.fixture(scope="session")
def make_graph(tiny_poses, tiny_engine):
    """Return the graph of the first poses; targets move for a tenth of a second."""

    def make(n):
        config = AccessConfig(time_limit=1.0, move_time=0.1)
        nodes = find_nodes(tiny_poses, config, engine=tiny_engine)
        few = type(nodes)(nodes.robot, nodes.qpos[:n], nodes.qpos[-1], nodes.config)
        return simulate_graph(few, tiny_engine)

    return make


@pytest.fixture(scope="session")
def graph(make_graph):
    return make_graph(5)
