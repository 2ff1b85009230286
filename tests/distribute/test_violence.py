"""Nodes and drivers that die, and nodes that join, while a matrix is estimated."""

import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager

import pytest

from kaccess import pipeline
from kaccess.config import AccessConfig, SampleConfig
from tests.distribute.conftest import read_all

pytestmark = [pytest.mark.ray, pytest.mark.hostile]

N, SECONDS = 40, 300.0  # poses; longest wait


@pytest.fixture(scope="module")
def bittles(tmp_path_factory):
    """A study of Bittle in tiles of two rows: without times, and finished."""
    folder = tmp_path_factory.mktemp("bittle")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kaccess.access.estimate._TILE_PAIRS", 2 * N)
        pipeline.sample("bittle", folder / "sampled", SampleConfig(n=N))
    shutil.copytree(folder / "sampled", folder / "finished")
    pipeline.access(folder / "finished", AccessConfig())
    return folder


@pytest.fixture
def study(bittles, tmp_path):
    return shutil.copytree(bittles / "sampled", tmp_path / "study")


@pytest.fixture
def expected(bittles):
    return read_all(bittles / "finished")


@contextmanager
def start_cluster(n_nodes):
    """Start a cluster whose head does no work, and some nodes of one CPU."""
    pytest.importorskip("ray", reason="needs Ray, the extra `cluster`")
    from kaccess.distribute.connection import import_ray

    import_ray()
    from ray.cluster_utils import Cluster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        head = {"num_cpus": 0, "include_dashboard": False}
        cluster = Cluster(initialize_head=True, head_node_args=head)
        try:
            nodes = [cluster.add_node(num_cpus=1) for _ in range(n_nodes)]
            yield cluster, nodes
        finally:
            cluster.shutdown()


@contextmanager
def start_driver(cluster, study):
    """Run `kaccess access` on a study, as a process of its own."""
    command = [sys.executable, "-m", "kaccess", "access", study, "--cluster", "auto"]
    driver = subprocess.Popen(
        command,
        env=os.environ | {"RAY_ADDRESS": cluster.address},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield driver
    finally:
        driver.kill()
        driver.communicate()


def count_tiles(study):
    return len(list((study / "study.zarr" / "times" / "c").glob("*/0")))


def wait_for_tiles(study, n, driver):
    end = time.monotonic() + SECONDS
    while count_tiles(study) < n:
        assert driver.poll() is None, driver.communicate()[0]
        assert time.monotonic() < end
        time.sleep(0.02)


def finish(driver):
    said, _ = driver.communicate(timeout=SECONDS)
    assert driver.returncode == 0, said
    assert len(said.splitlines()) < 20, said  # no walls of text
    return said


def test_node_removed_without_grace(study, expected):
    with start_cluster(3) as (cluster, nodes), start_driver(cluster, study) as driver:
        wait_for_tiles(study, 4, driver)
        assert count_tiles(study) < N // 2
        cluster.remove_node(nodes[0], allow_graceful=False)
        finish(driver)
    assert read_all(study) == expected


def test_raylet_killed_by_its_pid(study, expected):
    with start_cluster(2) as (cluster, nodes), start_driver(cluster, study) as driver:
        wait_for_tiles(study, 4, driver)
        raylet = nodes[1].all_processes["raylet"][0].process
        os.kill(raylet.pid, signal.SIGKILL)
        n_before = count_tiles(study)
        said = finish(driver)
    assert n_before < N // 2
    assert sum("has left the cluster" in each for each in said.splitlines()) == 1
    assert read_all(study) == expected


def test_driver_killed_and_restarted(study, expected):
    with start_cluster(2) as (cluster, _):
        with start_driver(cluster, study) as driver:
            wait_for_tiles(study, 4, driver)
            driver.kill()
            driver.wait()
        stored = count_tiles(study)
        assert 4 <= stored < N // 2
        with start_driver(cluster, study) as driver:
            said = finish(driver)
    done = f"{N * 2 * stored:,} of {N * N:,} pairs"
    assert done in said.splitlines()[0]
    assert read_all(study) == expected


def test_two_drivers_at_once(study, expected):
    with start_cluster(2) as (cluster, _), start_driver(cluster, study) as driver:
        wait_for_tiles(study, 1, driver)
        with start_driver(cluster, study) as second:
            said, _ = second.communicate(timeout=SECONDS)
        assert second.returncode == 2
        assert said.startswith("kaccess: Another process fills the matrix of")
        assert len(said.splitlines()) == 1
        finish(driver)
    assert read_all(study) == expected


def test_node_that_joins_is_used(study, expected):
    with start_cluster(1) as (cluster, _), start_driver(cluster, study) as driver:
        wait_for_tiles(study, 2, driver)
        cluster.add_node(num_cpus=1)
        said = finish(driver)
    assert sum("pairs, " in each and "Node" in each for each in said.splitlines()) == 2
    assert read_all(study) == expected


def test_all_nodes_die_and_another_joins(study, expected):
    with start_cluster(1) as (cluster, nodes), start_driver(cluster, study) as driver:
        wait_for_tiles(study, 2, driver)
        cluster.remove_node(nodes[0], allow_graceful=False)
        cluster.add_node(num_cpus=1)
        finish(driver)
    assert read_all(study) == expected
