"""A small study with something of everything, and its page."""

import shutil

import numpy as np
import pytest

from kaccess import AccessConfig, Study, load_robot, pipeline, views
from kaccess.config import ClusterConfig, SampleConfig
from kaccess.policies.policy import Policy
from tests.conftest import TINY

STARTS = ("ka", "rnd")
SEEDS = (0, 1)


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
    """The same with curves, scores and policies, none of which was trained."""
    path = tmp_path_factory.mktemp("whole") / "study"
    shutil.copytree(clustered, path)
    for task in ("fall-recovery", "backflip"):
        add_training(path, task)
        add_scores(path, task)
    add_training(path, "fall-recovery@slope-10")
    return path


@pytest.fixture(scope="session")
def page(whole_study):
    return views.report(whole_study)


def add_training(path, task):
    """Write curves and policies as `kaccess train` does."""
    for starts in STARTS:
        for seed in SEEDS:
            folder = path / "train" / task / starts / f"seed-{seed}"
            folder.mkdir(parents=True)
            rows = [
                f"{step},{step / 300 + seed},0.{step // 300},0.9,1" for step in STEPS
            ]
            head = "step,reward,success,success_loose,reward_sd"
            (folder / "evaluation.csv").write_text("\n".join([head, *rows]) + "\n")
            make_policy(task.partition("@")[0]).save(folder / "policy.safetensors")


STEPS = (300, 600, 900)


def make_policy(task):
    """Return a policy of the tiny robot that does something, if nothing useful."""
    robot, rng = load_robot(TINY), np.random.default_rng(0)
    return Policy(
        (rng.normal(size=(8, 2)).astype(np.float32),),
        (np.zeros(2, np.float32),),
        -np.ones(2, np.float32),
        np.ones(2, np.float32),
        {"task": task, "model": robot.fingerprint},
    )


def add_scores(path, task):
    """Write scores as `kaccess evaluate` does."""
    policies = [
        policy(f"{starts}/seed-{seed}", 5 + seed) for starts in STARTS for seed in SEEDS
    ]
    Study(path).write_json(f"evaluation/{task}.json", {"policies": policies})


def policy(name, hits, n=10):
    """Return what came of a policy; all its failures are in cluster 1."""
    return {
        "name": name,
        "summary": {
            "n": n,
            "reward": float(hits),
            "reward_sd": 1.5,
            "success": share(hits, n),
            "success_loose": share(hits, n),
            "time": None if hits == 0 else 0.8,
            "energy": 2.0,
            "roughness": 0.1,
        },
        "groups": {
            "cluster": [
                {"name": "0", "n": hits, "success": share(hits, hits)},
                {"name": "1", "n": n - hits, "success": share(0, n - hits)},
            ]
        },
    }


def share(hits, n):
    return {"value": hits / n if n else 0.0, "low": 0.0, "high": 1.0}
