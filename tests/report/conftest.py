"""A small study with results of every stage, and its page."""

import shutil

import pytest

from kaccess import AccessConfig, pipeline
from kaccess.config import ClusterConfig, EvaluateConfig, SampleConfig, TrainConfig
from tests.conftest import TINY
from tests.training.runs import SAC

N_EPISODES = 2
N_TEST_POSES = 10
SLOPE = "slope=10"


@pytest.fixture(scope="session")
def clustered(tmp_path_factory):
    """24 poses of the tiny robot, their times, and two clusterings."""
    path = tmp_path_factory.mktemp("report") / "study"
    pipeline.sample(str(TINY), path, SampleConfig(n=24))
    pipeline.access(path, AccessConfig())
    pipeline.cluster(path, ClusterConfig(k_max=6, n_init=2))
    pipeline.cluster(path, ClusterConfig(method="kmeans", k=3))
    return path


@pytest.fixture(scope="session")
def whole_study(clustered, tmp_path_factory):
    """The same study with short trainings and tests of their policies."""
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("whole") / "study"
    shutil.copytree(clustered, path)
    for task in ("fall-recovery", "backflip"):
        train(path, task)
        pipeline.evaluate(path, EvaluateConfig(task=task, poses=N_TEST_POSES))
    train(path, "fall-recovery", conditions=SLOPE)
    return path


@pytest.fixture(scope="session")
def page(whole_study):
    return pipeline.report(whole_study)


def train(path, task, *, starts=("ka", "rnd"), conditions="", episodes=N_EPISODES):
    """Train two small learners per kind of starts, and test them every episode."""
    config = TrainConfig(
        task=task,
        starts=starts,
        seeds=2,
        episodes=episodes,
        test_every=1,
        test_poses=4,
        conditions=conditions,
    )
    pipeline.train(path, config, SAC, device="cpu")
