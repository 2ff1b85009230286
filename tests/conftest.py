"""Robots, poses and studies that many tests share."""

import os
import shutil
from pathlib import Path

import pytest

from kaccess.report.rendering.headless import prefer_egl_without_screen

prefer_egl_without_screen()
# Networks of tests are small: threads of torch would only wait for one another, in the
# scripts that tests start too. Set before anything loads OpenMP.
os.environ.setdefault("OMP_NUM_THREADS", "1")

from kaccess import AccessConfig, load_robot, make_engine, pipeline, sample_poses
from kaccess.config import ClusterConfig, SampleConfig
from kaccess.robots import ROBOTS
from tests.training import runs

TINY = Path(__file__).parent / "tiny.xml"
DEAR = ("tests/report/", "warp", "tests/distribute/")  # page, code of Warp, cluster


def pytest_collection_modifyitems(config, items):
    """Keep tests that share what is dear in one of the processes of `pytest -n`."""
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        shared = next((name for name in DEAR if name in item.nodeid), None)
        if shared:
            item.add_marker(pytest.mark.xdist_group(shared))


@pytest.fixture(scope="session")
def bittle():
    return load_robot("bittle")


@pytest.fixture(scope="session")
def tiny():
    return load_robot(TINY)


@pytest.fixture(scope="session", params=[*ROBOTS, str(TINY)])
def any_robot(request):
    return load_robot(request.param)


@pytest.fixture(scope="session")
def engine(bittle):
    return make_engine("mujoco", bittle)


@pytest.fixture(scope="session")
def poses(bittle, engine):
    return sample_poses(bittle, 10, seed=3, engine=engine)


@pytest.fixture
def tiny_study(tmp_path):
    """A study of 24 poses of the tiny robot, with no times yet, in several tiles."""
    path = tmp_path / "study"
    pipeline.sample(str(TINY), path, SampleConfig(n=24))
    return path


@pytest.fixture
def access_config():
    return AccessConfig(time_limit=1.0)


@pytest.fixture(scope="session")
def clustered(tmp_path_factory):
    """A study of 12 poses of the tiny robot, in four clusters."""
    path = tmp_path_factory.mktemp("learning") / "study"
    pipeline.sample(str(TINY), path, SampleConfig(n=12))
    pipeline.access(path, AccessConfig())
    pipeline.cluster(path, ClusterConfig(k=4))
    return path


@pytest.fixture(scope="session")
def trained(clustered, tmp_path_factory):
    """The same, with four learners that have trained for an episode."""
    path = tmp_path_factory.mktemp("trained") / "study"
    shutil.copytree(clustered, path)
    pipeline.train(path, runs.CONFIG, runs.SAC, device="cpu")
    return path


@pytest.fixture
def study(clustered, tmp_path):
    """A copy, to be changed."""
    return shutil.copytree(clustered, tmp_path / "study")


@pytest.fixture
def no_replay(monkeypatch):
    """Let tests count simulations of tiles only."""
    monkeypatch.setattr(pipeline, "replay_once", lambda *_: None)
