"""Stages on a real Ray cluster of two nodes: the same bytes as in one process."""

import pickle
import shutil

import numpy as np
import pytest

from kaccess import EngineConfig, InputError, load_robot, make_engine, pipeline
from kaccess.config import (
    AccessConfig,
    EvaluateConfig,
    GrowConfig,
    SampleConfig,
)
from kaccess.distribute.connection import Cluster
from kaccess.distribute.jobs import SettleJob
from kaccess.distribute.nodes import Needs, Tally
from kaccess.distribute.pool import Pool
from kaccess.distribute.workplace import ClusterWork
from kaccess.engines.motion import Motion
from kaccess.study import Study
from kaccess.study.lock import claim_cluster
from tests.conftest import TINY
from tests.distribute.conftest import read_all
from tests.training import runs

pytestmark = [pytest.mark.ray, pytest.mark.usefixtures("two_nodes")]


def test_times_are_the_same_bit_for_bit(fresh, finished, caplog):
    caplog.set_level("INFO", "kaccess")
    seen = []
    pipeline.access(
        fresh,
        AccessConfig(),
        cluster="auto",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert read_all(fresh) == read_all(finished)
    assert seen == sorted(seen) and seen[-1] == (576, 576)
    assert sum("pairs" in each for each in caplog.messages) == 2  # rates of two nodes
    assert not any("disagree" in each for each in caplog.messages)


def test_stored_tiles_are_not_estimated_again(fresh, finished, monkeypatch):
    pipeline.access(fresh, AccessConfig(), only_rows=range(6))
    sent = []
    send = Pool._send

    def spy(pool, item):
        sent.append(item)
        return send(pool, item)

    monkeypatch.setattr(Pool, "_send", spy)
    pipeline.access(fresh, AccessConfig(), cluster="auto")
    rows = [row for item in sent if isinstance(item, range) for row in item]
    assert sorted(rows) == list(range(6, 24))
    assert read_all(fresh) == read_all(finished)


def test_poses_are_the_same_bit_for_bit(sampled, tmp_path):
    pipeline.sample(str(TINY), tmp_path / "s", SampleConfig(n=24), cluster="auto")
    ours, theirs = Study(tmp_path / "s"), Study(sampled)
    np.testing.assert_array_equal(ours.poses.qpos, theirs.poses.qpos)
    assert ours.settings["draws"] == theirs.settings["draws"]


def test_mirrored_poses_and_motions_that_take_time(two_nodes, bittle):
    start = np.repeat(bittle.standing[None], 130, axis=0)
    points = np.random.default_rng(0).uniform(-0.3, 0.3, (130, 2, bittle.model.nu))
    motion = Motion(points, np.tile([0.0, 0.1], (130, 1)))
    there = ClusterWork(Cluster()).make_engine("mujoco", bittle)
    found = there.settle(start, motion, time_limit=0.3)
    here = make_engine("mujoco", bittle).settle(start, motion, time_limit=0.3)
    for name in ("qpos", "time", "diverged"):
        np.testing.assert_array_equal(getattr(found, name), getattr(here, name))
    assert there.batch_size > 0
    none = there.settle(start[:0], motion[:0], time_limit=0.3)
    assert none.qpos.shape == (0, bittle.model.nq)


@pytest.mark.slow
def test_growth_is_the_same(finished, tmp_path):
    config = GrowConfig(most=30, tests=10, added=4, patience=1, share=1.0)
    grown = []
    for cluster in (None, "auto"):
        path = shutil.copytree(finished, tmp_path / str(cluster))
        found = pipeline.grow(path, config, cluster=cluster)
        graph = Study(path).graph
        assert graph is not None
        grown.append((found.rounds, graph.nodes.qpos.tobytes()))
    assert grown[0] == grown[1]


@pytest.mark.slow
def test_scores_are_the_same(trained, tmp_path):
    config, scores = EvaluateConfig(poses=6), []
    for cluster in (None, "auto"):
        path = shutil.copytree(trained, tmp_path / str(cluster))
        scores.append(pipeline.evaluate(path, config, cluster=cluster))
    assert repr(scores[0]) == repr(scores[1])  # NaN is not equal to itself


def test_learners_are_those_of_one_machine(study, tmp_path):
    config, first = runs.CONFIG, shutil.copytree(study, tmp_path / "one")
    for seed in (0, 1):
        each = pipeline.replace(config, first_seed=seed, seeds=1)
        pipeline.train(first, each, runs.SAC, device="cpu", n_threads=1)
    second = shutil.copytree(study, tmp_path / "cluster")
    pipeline.train(second, config, runs.SAC, device="cpu", cluster="auto")
    files = list_files(first)
    assert files == list_files(second)
    assert any(name.endswith(".safetensors") for name in files)
    for name in files:
        if not name.endswith("episodes.csv"):
            ours, theirs = (second / name).read_bytes(), (first / name).read_bytes()
            assert ours == theirs, name
    pipeline.train(
        second, config, runs.SAC, device="cpu", cluster="auto"
    )  # nothing left
    with pytest.raises(InputError, match="in a different population"):
        pipeline.train(second, config, runs.SAC, device="cpu")


def list_files(study):
    found = (study / "train").rglob("*")
    return sorted(
        str(path.relative_to(study))
        for path in found
        if path.is_file() and not path.name.startswith((".lock", "events."))
    )


def test_two_drivers_are_refused(fresh):
    before = read_all(fresh)
    with (
        claim_cluster(fresh),
        pytest.raises(InputError, match="Another process fills the matrix"),
    ):
        pipeline.access(fresh, AccessConfig(), cluster="auto")
    assert read_all(fresh) == before


def test_cluster_without_gpu_is_refused(fresh):
    with pytest.raises(InputError, match=r"needs a GPU .*1 CPUs, 0 GPUs"):
        pipeline.access(fresh, AccessConfig(), engine="warp", cluster="auto")


def test_errors_of_workers_are_one_sentence(tiny):
    job = SettleJob(tiny, None, EngineConfig(threads=1), model="of another robot")
    pool = Pool(Cluster(), job, Needs(), Tally("simulations"))
    with pytest.raises(InputError, match="has arrived changed on a node"):
        list(pool.run(["batch size"]))


def test_robot_travels_with_its_stance():
    robot = load_robot("bittle")
    assert robot.keyframes and robot.stance.stands  # what cannot travel is left behind
    there = pickle.loads(pickle.dumps(robot))
    assert there.fingerprint == robot.fingerprint
    assert there.known_stance is not None
    np.testing.assert_array_equal(there.standing, robot.standing)
    assert there.scale == robot.scale
