"""Learning and testing in PyBullet, and tests on poses drawn in another way."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("pybullet", reason="PyBullet is not installed")

from kaccess import InputError, Study, pipeline
from kaccess.config import EngineConfig, EvaluateConfig, SampleConfig, TrainConfig
from kaccess.envs.tasks.fall_recovery import FallRecovery
from kaccess.evaluation.held_out import get_test_poses
from kaccess.policies import Policy
from kaccess.study import RunsName, TestName
from tests.conftest import TINY
from tests.training.runs import CONFIG, SAC, rows

BULLET = replace(CONFIG, starts=("rnd",), seeds=1, test_poses=2, engine="bullet")


def read_test(study, name):
    return json.loads((study / "evaluation" / f"{name}.json").read_text())


@pytest.mark.bullet
def test_a_policy_says_that_it_learned_in_bullet(study, trained):
    out = pipeline.train(study, BULLET, SAC, device="cpu")
    learner = out / "rnd" / "seed-0"
    policy = Policy.load(learner / "policy.safetensors")
    assert policy.metadata["engine"] == "bullet"
    assert len(rows(learner / "evaluation.csv")) == 1
    plain = trained / "train" / "fall-recovery" / "ka" / "seed-0"
    assert "engine" not in Policy.load(plain / "policy.safetensors").metadata
    with pytest.raises(
        InputError, match=r"made differently: meta\.engine was 'bullet'"
    ):
        pipeline.train(study, replace(BULLET, engine="mujoco"), SAC, device="cpu")


def test_sac_learns_with_many_robots_in_warp_and_resumes(study):
    pytest.importorskip("mujoco_warp")
    config = replace(CONFIG, starts=("guided-rnd", "rnd"), seeds=2, engine="warp")
    sac = replace(SAC, envs_per_learner=4, updates=2)

    def interrupt(done, total, metrics):
        if done >= total // 2:
            raise KeyboardInterrupt

    whole = shutil.copytree(study, study.parent / "whole")
    pipeline.train(whole, config, sac, device="cpu")
    with pytest.raises(KeyboardInterrupt):
        pipeline.train(study, config, sac, device="cpu", progress=interrupt)
    out = pipeline.train(study, config, sac, device="cpu")
    for name in ("policy.safetensors", "evaluation.csv"):
        own = out.relative_to(study) / "guided-rnd" / "seed-1" / name
        assert (study / own).read_bytes() == (whole / own).read_bytes()
    policy = Policy.load(out / "rnd" / "seed-0" / "policy.safetensors")
    assert policy.metadata["engine"] == "warp"


@pytest.mark.bullet
def test_policies_are_tested_in_bullet_under_their_own_name(trained, tmp_path):
    path = shutil.copytree(trained, tmp_path / "study")
    config = EvaluateConfig(poses=3)
    found = pipeline.evaluate(path, config, engine="bullet")
    pipeline.evaluate(path, config)
    bullet, mujoco = (
        read_test(path, name) for name in ("fall-recovery_in_bullet", "fall-recovery")
    )
    assert (bullet["engine"], mujoco["engine"]) == ("bullet", "mujoco")
    rewards = [each.summary.reward for each in found]
    assert rewards == [each["summary"]["reward"] for each in bullet["policies"]]
    assert rewards != [each["summary"]["reward"] for each in mujoco["policies"]]


def test_the_curve_is_tested_where_learners_train_unless_told_otherwise():
    assert TrainConfig().tested_in == "mujoco"
    assert BULLET.tested_in == "bullet"
    assert replace(BULLET, test_engine="mujoco").tested_in == "mujoco"


@pytest.mark.bullet
def test_test_poses_are_drawn_in_the_simulator_of_the_study(tmp_path):
    engine = EngineConfig(engine="bullet", threads=1, solver_iterations=40)
    study = pipeline.sample(str(TINY), tmp_path, SampleConfig(n=3), engine=engine)
    assert study.settings["sample"]["engine"] == "bullet:40"
    physics = EngineConfig.of_recorded("bullet:40", threads=1)
    assert physics == engine
    mine = get_test_poses(study, FallRecovery(), "curve", 3, n_threads=1)
    study.settings["sample"]["engine"] = "mujoco"
    (tmp_path / "tests" / "curve.npz").unlink()
    others = get_test_poses(study, FallRecovery(), "curve", 3, n_threads=1)
    assert 0 < np.abs(mine.height - others.height).max() < 0.01


def test_poses_drawn_in_another_way_have_their_own_files(trained, tmp_path):
    path = shutil.copytree(trained, tmp_path / "study")
    pipeline.evaluate(path, EvaluateConfig(poses=4))
    own = read_test(path, "fall-recovery")
    for draw in ("move", "teleport"):
        pipeline.evaluate(path, EvaluateConfig(poses=4, draw=draw))
    assert read_test(path, "fall-recovery") == own  # drawn by moving, as the study
    other = read_test(path, "fall-recovery_from_teleport")
    assert other["policies"] != own["policies"]
    assert TestName(RunsName("fall-recovery"), False, "", draw="teleport") in (
        Study(path).tests()
    )
    files = {each.name for each in (path / "tests").iterdir()}
    assert files == {"curve.npz", "final.npz", "final-teleport.npz"}


def test_teleported_test_poses_are_those_of_a_teleported_study(tmp_path):
    """The same seed and stream: the two studies test on the same poses."""
    tests = []
    for own, draw in (("move", "teleport"), ("teleport", None)):
        config = SampleConfig(n=2, draw=own)
        study = pipeline.sample(str(TINY), tmp_path / own, config)
        tests.append(
            get_test_poses(study, FallRecovery(), "final", 4, draw=draw, n_threads=1)
        )
    np.testing.assert_array_equal(tests[0].qpos, tests[1].qpos)
