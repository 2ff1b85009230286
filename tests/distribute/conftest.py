"""A real Ray cluster of two nodes on this machine, and studies in several tiles."""

import shutil
import warnings

import pytest

from kaccess import pipeline
from kaccess.config import AccessConfig, SampleConfig
from kaccess.study import Study
from tests.conftest import TINY


@pytest.fixture(scope="session")
def two_nodes():
    """Connect to a cluster of two nodes, with one CPU each."""
    pytest.importorskip("ray", reason="needs Ray, the extra `cluster`")
    from kaccess.distribute.connection import import_ray

    ray = import_ray()
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        head = {"num_cpus": 1, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        cluster.add_node(num_cpus=1)
        ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
        yield cluster
        ray.shutdown()
        cluster.shutdown()


@pytest.fixture(scope="session")
def sampled(tmp_path_factory):
    """A study of 24 poses of the tiny robot in 12 tiles, with no times yet."""
    path = tmp_path_factory.mktemp("sampled") / "study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kaccess.access.estimate._TILE_PAIRS", 48)
        pipeline.sample(str(TINY), path, SampleConfig(n=24))
    return path


@pytest.fixture(scope="session")
def finished(sampled, tmp_path_factory):
    """The same with all times, estimated in one process."""
    path = shutil.copytree(sampled, tmp_path_factory.mktemp("finished") / "study")
    pipeline.access(path, AccessConfig())
    return path


@pytest.fixture
def fresh(sampled, tmp_path):
    """A copy of the study without times, to be filled."""
    return shutil.copytree(sampled, tmp_path / "study")


def read_all(path):
    """Return the bytes of every array of a study."""
    arrays = Study(path).arrays
    return {name: arrays.read(name).tobytes() for name in arrays.names}
