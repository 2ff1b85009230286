"""Training and testing on a study: files, resumption, errors."""

import json
import shutil
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("torch")

from kaccess import InitialStates, InputError, Study, pipeline
from kaccess.config import (
    EvaluateConfig,
    PlayConfig,
    RobotConfig,
    SampleConfig,
    TrainConfig,
)
from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks.backflip import Backflip
from kaccess.envs.tasks.fall_recovery import FallRecovery
from kaccess.envs.tasks.stand import Stand
from kaccess.evaluation import held_out
from kaccess.evaluation.held_out import group_poses
from kaccess.policies import Policy
from kaccess.report.page.contents import read_contents
from kaccess.robots import load_robot
from kaccess.sac import load_checkpoint
from kaccess.study import RunsName
from kaccess.study.starts import find_starts
from kaccess.training.train import find_task
from tests.conftest import TINY
from tests.training.runs import CONFIG, NAMES, SAC, refusal, rows


def test_guided_learners_differ_and_do_not_affect_others(study, trained):
    """This run is all warm-up: guided learners have other returns than plain ones."""
    config = replace(CONFIG, starts=("ka", "guided-ka"))
    sac = replace(SAC, warmup_steps=300)
    out = pipeline.train(study, config, sac, device="cpu")
    returns = {
        name: float(rows(out / name / "episodes.csv")[0]["return"])
        for name in ("ka/seed-0", "ka/seed-1", "guided-ka/seed-0", "guided-ka/seed-1")
    }
    assert len(set(returns.values())) == 4
    alone = shutil.copytree(study, study.parent / "alone")
    shutil.rmtree(alone / "train")
    plain = pipeline.train(alone, replace(config, starts=("ka",)), sac, device="cpu")
    for seed in range(2):
        name = f"ka/seed-{seed}"
        mine = rows(plain / name / "episodes.csv")[0]["return"]
        assert float(mine) == returns[name]


def test_default_starts_are_those_that_learn_fastest():
    assert TrainConfig().starts == ("guided-rnd",)
    assert TrainConfig(task="backflip").starts == ("guided-rnd",)


@pytest.mark.parametrize(
    ("task", "seconds", "given", "expected"),
    [
        ("fall-recovery", 3.0, None, 150),
        ("fall-recovery", 10.0, None, 250),  # no shorter than a test
        ("stand", 3.0, None, 100),  # no longer than the task
        ("fall-recovery", 10.0, 40, 40),
    ],
)
def test_episodes_have_a_usual_length(task, seconds, given, expected):
    robot = load_robot(str(TINY), RobotConfig(test_time=seconds))
    config = TrainConfig(task=task, episode_steps=given)
    found = find_task(SimpleNamespace(robot=robot), config, Conditions())
    assert found.episode_steps == expected


def test_by_default_each_learner_has_many_robots(study):
    config = replace(CONFIG, starts=("rnd",), seeds=1, episode_steps=10)
    out = pipeline.train(study, config, device="cpu")
    settings = load_checkpoint(next(out.glob("*.safetensors"))).settings
    assert settings["envs_per_learner"] == 64
    assert settings["warmup_steps"] == 640  # an episode of each
    assert settings["policy_tau"] == 0.005


@pytest.mark.parametrize(
    ("task", "given", "expected"),
    [("fall-recovery", None, 4), ("backflip", None, 8), ("backflip", 2, 2)],
)
def test_return_steps_default_to_those_of_the_task(study, task, given, expected):
    config = replace(CONFIG, starts=("rnd",), seeds=1, task=task)
    out = pipeline.train(study, config, replace(SAC, return_steps=given), device="cpu")
    (checkpoint,) = out.glob("*.safetensors")
    settings = load_checkpoint(checkpoint).settings
    assert settings["return_steps"] == expected


def test_guided_backflips_need_a_skill_and_are_tested_with_the_guide(study, tiny):
    config = replace(CONFIG, starts=("guided-rnd",), task="backflip")
    with pytest.raises(InputError, match="Run `kaccess search"):
        pipeline.train(study, config, SAC, device="cpu")
    pipeline.train(study, replace(config, starts=("rnd",)), SAC, device="cpu")
    found = pipeline.evaluate(study, EvaluateConfig(task="backflip", poses=4))
    assert "routes" not in [each.name for each in found]
    skill = {"actions": np.zeros((3, tiny.model.nu)), "success": 0.5, "reward": 1.0}
    Study(study).write_json("skills/backflip.json", skill)
    pipeline.train(study, config, SAC, device="cpu")
    found = pipeline.evaluate(study, EvaluateConfig(task="backflip", poses=4))
    names = ["guided-rnd/seed-0", "guided-rnd/seed-1", "rnd/seed-0", "rnd/seed-1"]
    assert [each.name for each in found] == [*names, "routes"]


def test_the_best_policies_can_be_tested_instead_of_the_last(trained, tmp_path):
    path = shutil.copytree(trained, tmp_path / "study")
    runs = path / "train" / "fall-recovery"
    other, mine = runs / "ka" / "seed-1", runs / "ka" / "seed-0"
    assert (mine / "best.safetensors").exists()
    shutil.copy(other / "policy.safetensors", mine / "best.safetensors")
    last = {
        each.name: each.summary
        for each in pipeline.evaluate(path, EvaluateConfig(poses=4))
    }
    best = pipeline.evaluate(path, EvaluateConfig(poses=4, best=True))
    found = {each.name: each.summary for each in best}
    assert found["ka/seed-0"] == last["ka/seed-1"] != last["ka/seed-0"]
    assert (path / "evaluation" / "fall-recovery_best.json").exists()
    html = pipeline.report(path).read_text(encoding="utf-8")
    assert "Fall recovery (best) from 4 test poses" in html
    (mine / "best.safetensors").unlink()
    with pytest.raises(InputError, match="seed-0 has no best policy"):
        pipeline.evaluate(path, EvaluateConfig(poses=4, best=True))


def test_the_guide_can_be_played(study, tmp_path):
    """The guide needs no training."""
    clip = pipeline.play(study, PlayConfig(run="routes", seconds=0.4)).clip
    assert len(clip.qpos) > 1
    assert not np.array_equal(clip.qpos[0], clip.qpos[-1])


def test_every_learner_leaves_curves_and_a_policy(trained):
    out = trained / "train" / "fall-recovery"
    for name in NAMES:
        episodes = rows(out / name / "episodes.csv")
        assert [row["length"] for row in episodes] == ["150"]
        tests = rows(out / name / "evaluation.csv")
        assert [row["step"] for row in tests] == ["150"]
        assert 0 <= float(tests[0]["success"]) <= float(tests[0]["success_loose"]) <= 1
        policy = Policy.load(out / name / "policy.safetensors")
        assert policy.metadata["task"] == "fall-recovery"
        assert policy.metadata["joints"] == ["left", "right"]
        assert policy.metadata["control_rate_hz"] == 25.0
        assert policy.metadata["learner"] == name


def test_training_resumes_where_it_stopped(study):
    config = replace(CONFIG, starts=("ka", "rnd"), seeds=1, episodes=2)
    other = shutil.copytree(study, study.parent / "other")
    for path in (study, other):
        if path == other:
            pipeline.train(path, replace(config, episodes=1), SAC, device="cpu")
        pipeline.train(path, config, SAC, device="cpu")
    for name in ("ka/seed-0", "rnd/seed-0"):
        for file in ("episodes.csv", "evaluation.csv", "policy.safetensors"):
            one, two = (
                path / "train" / "fall-recovery" / name / file
                for path in (study, other)
            )
            assert one.read_bytes() == two.read_bytes()


def test_a_learner_does_not_depend_on_its_population(trained, study):
    config = replace(CONFIG, starts=("ka", "1-pose"))
    rnd = InitialStates.load(study / "starts" / "rnd.npz")
    rnd.save(study / "starts" / "1-pose.npz")
    pipeline.train(study, config, SAC, device="cpu")
    for path in ("ka/seed-0/episodes.csv", "ka/seed-1/episodes.csv"):
        here, there = (
            each / "train" / "fall-recovery" / path for each in (study, trained)
        )
        assert here.read_text() == there.read_text()


def test_seeds_can_be_trained_separately(trained, study):
    """For jobs on several machines, or to add seeds later."""
    for seed in range(2):
        config = replace(CONFIG, seeds=1, first_seed=seed)
        pipeline.train(study, config, SAC, device="cpu")
    for name in NAMES:
        here, there = (
            each / "train" / "fall-recovery" / name / "episodes.csv"
            for each in (study, trained)
        )
        assert here.read_text() == there.read_text()
    config = replace(CONFIG, seeds=1, first_seed=1, episodes=2)
    out = pipeline.train(study, config, SAC, device="cpu")  # resumes its own
    assert [len(rows(out / name / "episodes.csv")) for name in NAMES] == [1, 2, 1, 2]


def test_policies_and_the_guide_are_tested_on_test_poses(trained):
    found = pipeline.evaluate(trained, EvaluateConfig(poses=10))
    assert [each.name for each in found] == [*NAMES, "routes"]
    for each in found:
        assert each.summary.n == 10
        assert sum(group.n for group in each.groups["cluster"]) == 10
        assert sum(group.n for group in each.groups["contact"]) == 10
    stored = json.loads((trained / "evaluation" / "fall-recovery.json").read_text())
    assert stored["n_poses"] == 10
    assert stored["policies"][0]["name"] == NAMES[0]


def test_a_centroid_belongs_to_its_own_cluster(clustered):
    study = Study(clustered)
    poses = study.poses
    centroids = study.clusterings["kaccess"].centroids
    some = replace(
        poses, qpos=poses.qpos[centroids], contacts=poses.contacts[centroids]
    )
    homes = group_poses(study, some, n_threads=1)["cluster"]
    assert homes.tolist() == ["0", "1", "2", "3"]


def test_clusters_are_found_for_the_first_poses_only(clustered, monkeypatch):
    monkeypatch.setattr(held_out, "_N_CLUSTERED", 3)
    study = Study(clustered)
    groups = group_poses(study, study.poses, n_threads=1)
    assert len(groups["contact"]) == len(study.poses)
    assert len(groups["cluster"]) == 3


def test_states_that_a_task_cannot_start_from_are_left_out(clustered):
    study = Study(clustered)
    all_of_them = find_starts(study, "rnd", FallRecovery())
    some = find_starts(study, "rnd", Backflip())
    assert len(all_of_them) == 12 and 0 < len(some) < 12
    assert some.weights.sum() == pytest.approx(1.0)
    assert Backflip().qualifies(some.qpos).all()


def test_missing_starts_name_the_command_that_makes_them(study, tmp_path, capsys):
    err = refusal(capsys, "train", study, "--starts", "ka", "km")
    assert f"Run `kaccess cluster {study} --method kmeans` first" in err
    pipeline.sample(str(TINY), tmp_path / "bare", SampleConfig(n=4))
    err = refusal(capsys, "train", tmp_path / "bare")
    assert f"Run `kaccess cluster {tmp_path / 'bare'}` first" in err
    err = refusal(capsys, "train", study, "--starts", "kb")
    assert "Unknown starts 'kb': must be one of ka, km" in err
    assert not (study / "train").exists()


def test_starts_of_another_model_are_refused(study, capsys):
    starts = InitialStates.load(study / "starts" / "ka.npz")
    replace(starts, model="0" * 64).save(study / "starts" / "ka.npz")
    err = refusal(capsys, "train", study, "--starts", "guided-ka")
    assert "belongs to another robot" in err


def test_a_learner_of_another_population_is_not_overwritten(trained, capsys):
    err = refusal(capsys, "train", trained, "--starts", "ka", "--device", "cpu")
    assert "was already trained, in a different population" in err
    overlap = ("--seeds", 2, "--first-seed", 1, "--starts", "ka", "--device", "cpu")
    assert "further seeds with `--first-seed`" in refusal(
        capsys, "train", trained, *overlap
    )
    err = refusal(capsys, "train", trained, "--first-seed", -1)
    assert "`first_seed` must not be negative, got -1" in err


@pytest.mark.parametrize("other", [(), ("--run", "routes")])
def test_only_learners_have_a_best_policy(study, capsys, other):
    assert "`--best` needs `--run LEARNER`" in refusal(
        capsys, "play", study, "--best", *other
    )


def test_a_missing_gpu_is_an_error(study, capsys, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    err = refusal(capsys, "train", study, "--starts", "rnd", "--device", "cuda")
    assert "torch finds no NVIDIA GPU" in err


def test_without_policies_the_error_names_the_command_to_run(study, capsys):
    args = ["--run", "ka/seed-0", "--onnx", "a.onnx"]
    err = refusal(capsys, "export", study, *args)
    assert f"Run `kaccess train {study} --task fall-recovery` first" in err


def test_before_any_training_routes_are_tested(study):
    (found,) = pipeline.evaluate(study, EvaluateConfig(poses=4))
    assert found.name == "routes"


def test_a_policy_of_another_task_is_refused(trained, tmp_path, capsys):
    study = shutil.copytree(trained, tmp_path / "study")
    shutil.copytree(study / "train" / "fall-recovery", study / "train" / "stand")
    err = refusal(capsys, "evaluate", study, "--task", "stand")
    assert "was trained differently: its `task` is not that" in err


def test_an_unknown_run_is_an_error_that_lists_the_runs(trained, capsys):
    err = refusal(capsys, "export", trained, "--run", "kb/seed-0", "--onnx", "a.onnx")
    assert "no policy 'kb/seed-0'" in err and "ka/seed-1" in err


def test_an_exported_policy_says_how_to_use_it(trained, tmp_path):
    onnx = pytest.importorskip("onnx")
    path = pipeline.export(trained, "ka/seed-0", tmp_path / "policy.onnx")
    said = {item.key: item.value for item in onnx.load(path).metadata_props}
    assert json.loads(said["joints"]) == ["left", "right"]
    assert float(said["control_rate_hz"]) == 25.0
    assert np.shape(json.loads(said["joint_range_rad"])) == (2, 2)


def test_bittles_policies_know_its_firmware(bittle):
    from kaccess.training.train import describe_policy

    known = describe_policy(FallRecovery(), bittle)["firmware_joints"]
    assert list(known) == [str(index) for index in range(8, 16)]
    assert known["8"] == "lf_shoulder" and known["14"] == "rr_knee"
    assert set(known.values()) == set(bittle.joint_names)


@dataclass(frozen=True, kw_only=True)
class Rest(Stand):
    """A task of the user's own: standing, in episodes of 50 steps."""

    episode_steps: int = 50
    name: ClassVar[str] = "rest"


def test_a_task_of_the_users_own_is_trained_tested_and_shown(study):
    config = replace(CONFIG, task=Rest(), starts=("rnd",), episodes=4, test_every=2)
    out = pipeline.train(study, config, SAC, device="cpu")
    assert out.name == "rest"
    found = pipeline.evaluate(study, EvaluateConfig(task=Rest(), poses=4))
    assert [each.name for each in found] == ["rnd/seed-0", "rnd/seed-1", "routes"]
    curves = read_contents(Study(study)).curves[RunsName("rest")]
    np.testing.assert_array_equal(curves["rnd"].episodes, [2, 4])


def test_copies_of_a_learner_are_left_alone(trained, tmp_path):
    path = shutil.copytree(trained, tmp_path / "study")
    ka = path / "train" / "fall-recovery" / "ka"
    shutil.copytree(ka / "seed-0", ka / "seed-0.bak")
    found = pipeline.evaluate(path, EvaluateConfig(poses=2))
    assert [each.name for each in found] == [*NAMES, "routes"]
