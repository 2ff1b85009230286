"""Poses that policies are tested from."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from kaccess import InputError, Study, pipeline
from kaccess.config import (
    EvaluateConfig,
    SampleConfig,
)
from kaccess.envs.tasks.backflip import Backflip
from kaccess.envs.tasks.fall_recovery import FallRecovery
from kaccess.evaluation.held_out import choose_poses, get_test_poses
from kaccess.evaluation.pose_test import PoseTest
from kaccess.policies import Policy
from tests.conftest import TINY
from tests.training.runs import CONFIG, SAC, rows


def test_the_task_can_start_from_all_test_poses(study):
    task, path = Backflip(), Study(study)
    every = get_test_poses(path, FallRecovery(), "final", 40).qpos
    some = every[task.qualifies(every)]
    assert 0 < len(some) < len(every)
    fit = get_test_poses(path, task, "final", len(some) + 1).qpos  # draws more
    assert task.qualifies(fit).all() and len(fit) == len(some) + 1
    np.testing.assert_array_equal(fit[:-1], some)


def test_the_search_for_test_poses_ends(study, monkeypatch):
    monkeypatch.setattr(Backflip, "qualifies", lambda self, qpos: qpos[:, 0] > 1e9)
    with pytest.raises(
        InputError, match=r"fewer than one in 16 poses \(0 found, 2 needed"
    ):
        get_test_poses(Study(study), Backflip(), "final", 2)


def test_test_poses_differ_from_training_poses_and_stay_the_same(study):
    known = Study(study).poses.qpos
    final = get_test_poses(Study(study), FallRecovery(), "final", 8).qpos
    curve = get_test_poses(Study(study), FallRecovery(), "curve", 8).qpos
    for one, other in ((known, final), (known, curve), (final, curve)):
        assert np.abs(one[:, None] - other[None]).max(axis=2).min() > 1e-6
    shutil.rmtree(study / "tests")
    first = get_test_poses(Study(study), FallRecovery(), "final", 1).qpos
    np.testing.assert_array_equal(first, final[:1])
    more = get_test_poses(Study(study), FallRecovery(), "final", 12).qpos
    np.testing.assert_array_equal(more[:8], final)
    np.testing.assert_array_equal(
        get_test_poses(Study(study), FallRecovery(), "final", 8).qpos, final
    )


def test_published_numbers_have_test_poses_of_their_own(trained):
    pipeline.evaluate(trained, EvaluateConfig(poses=4))
    before = (trained / "evaluation" / "fall-recovery.json").read_bytes()
    pipeline.evaluate(trained, EvaluateConfig(poses=4, held_out=True))
    assert (trained / "evaluation" / "fall-recovery.json").read_bytes() == before
    assert (trained / "evaluation" / "fall-recovery_held-out.json").exists()
    final, kept = (
        get_test_poses(Study(trained), FallRecovery(), kind, 4).qpos
        for kind in ("final", "held-out")
    )
    assert np.abs(final[:, None] - kept[None]).max(axis=2).min() > 1e-6


def test_each_test_of_a_curve_has_its_own_poses(study):
    """They depend on the number of the test alone, and none comes twice in a test."""
    opened = Study(study)
    drawn = get_test_poses(opened, FallRecovery(), "curve", 10)
    first, again, second = (
        choose_poses(opened, drawn, 5, number=number) for number in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)
    assert len(np.unique(first, axis=0)) == 5
    assert (first[:, None] == drawn.qpos[None]).all(axis=2).any(axis=1).all()


def test_tests_of_a_curve_can_share_their_poses(study, tiny):
    config = replace(CONFIG, starts=("rnd",), seeds=1, test_anew=False)
    out = pipeline.train(study, config, SAC, device="cpu") / "rnd" / "seed-0"
    qpos = get_test_poses(Study(study), FallRecovery(), "curve", CONFIG.test_poses).qpos
    scores = PoseTest(FallRecovery(), tiny, qpos).score(
        Policy.load(out / "policy.safetensors").act
    )
    stored = float(rows(out / "evaluation.csv")[-1]["reward"])
    # Of other poses it differs by some points; by rounding of the actions by 0.03.
    assert scores.reward.mean() == pytest.approx(stored, abs=0.05)


def test_policies_are_tested_before_any_time_is_estimated(tmp_path):
    folder = tmp_path / "study"
    pipeline.sample(str(TINY), folder, SampleConfig(n=6))
    with pytest.raises(InputError, match=r"36 of 36 pairs .* are not estimated yet"):
        pipeline.evaluate(folder, EvaluateConfig(poses=4))
    plan = replace(CONFIG, starts=("fresh",), seeds=1)
    pipeline.train(folder, plan, SAC, device="cpu")
    (tested,) = pipeline.evaluate(folder, EvaluateConfig(poses=4))
    assert tested.name == "fresh/seed-0"
