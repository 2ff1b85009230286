"""Training and testing under harder conditions: folders, tests and output."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from kaccess import InputError, Study, pipeline
from kaccess.cli import main
from kaccess.config import EvaluateConfig
from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks.fall_recovery import FallRecovery
from kaccess.evaluation.held_out import choose_poses, get_test_poses
from kaccess.evaluation.policies import act_under
from kaccess.evaluation.pose_test import PoseTest
from kaccess.policies import Policy
from tests.training.runs import AS_SAC_CONFIG, CONFIG, SAC, refusal, rows

HARD = "torque=0.5,delay=0.04"


@pytest.fixture(scope="module")
def trained_hard(trained, tmp_path_factory):
    """Return a study that is trained without and under two sets of conditions."""
    path = tmp_path_factory.mktemp("hard") / "study"
    shutil.copytree(trained, path)
    for conditions in ("delay=.04, torque=0.50", "torque=0.5"):
        config = replace(CONFIG, starts=("ka",), conditions=conditions)
        pipeline.train(path, config, SAC, device="cpu")
    return path


def test_training_under_conditions_has_its_own_folder(trained, trained_hard):
    assert {each.name for each in (trained_hard / "train").iterdir()} == {
        "fall-recovery",
        "fall-recovery@torque=0.5",
        f"fall-recovery@{HARD}",
    }
    hard = trained_hard / "train" / f"fall-recovery@{HARD}"
    plain = trained / "train" / "fall-recovery"
    for name in ("ka/seed-0", "ka/seed-1"):
        assert len(rows(hard / name / "evaluation.csv")) == 1
        policy = Policy.load(hard / name / "policy.safetensors")
        assert policy.metadata["conditions"] == HARD
        same = Policy.load(plain / name / "policy.safetensors")
        assert "conditions" not in same.metadata  # it goes on from older checkpoints
        one, other = (each / name / "episodes.csv" for each in (hard, plain))
        assert one.read_text() != other.read_text()
        kept = trained_hard / "train" / "fall-recovery" / name / "policy.safetensors"
        assert kept.read_bytes() == (plain / name / kept.name).read_bytes()


def test_training_under_conditions_resumes_where_it_stopped(trained_hard, study):
    """The conditions are written differently, and delayed commands are queued."""
    config = replace(CONFIG, starts=("ka",), episodes=2, conditions=HARD)
    pipeline.train(study, config, SAC, device="cpu")
    other = shutil.copytree(trained_hard, study.parent / "other")
    out = pipeline.train(other, config, SAC, device="cpu")
    for file in ("episodes.csv", "evaluation.csv", "policy.safetensors"):
        one = study / "train" / out.name / "ka" / "seed-0" / file
        assert one.read_bytes() == (out / "ka" / "seed-0" / file).read_bytes()


def test_curves_are_tested_under_the_conditions_of_the_training(trained_hard, tiny):
    """The last point of a curve equals a test of the policies under them."""
    study = Study(trained_hard)
    n = CONFIG.test_poses
    drawn = get_test_poses(study, FallRecovery(), "curve", 5 * n)
    qpos = choose_poses(study, drawn, n, number=1)
    for text, same in ((HARD, True), ("torque=0.2,delay=0.04", False)):
        tester = PoseTest(FallRecovery(), tiny, qpos, conditions=Conditions.parse(text))
        out = trained_hard / "train" / f"fall-recovery@{HARD}" / "ka" / "seed-0"
        scores = tester.score(Policy.load(out / "policy.safetensors").act)
        stored = float(rows(out / "evaluation.csv")[-1]["reward"])
        assert (abs(scores.reward.mean() - stored) < 1e-3) == same


def evaluate(path, **kwargs):
    found = pipeline.evaluate(path, EvaluateConfig(poses=6, **kwargs))
    return [each.summary.reward for each in found]


def test_policies_are_tested_under_conditions(trained_hard):
    """By default nominal ones; also those of the training, or others."""
    kinds = {
        "fall-recovery": {},
        "fall-recovery_under_friction=0.3": {"conditions": "friction=0.30"},
        f"fall-recovery@{HARD}": {"trained_under": HARD},
        f"fall-recovery@{HARD}_under_delay=0.04": {
            "trained_under": HARD,
            "conditions": "delay=0.04",
        },
        "fall-recovery_under_mass=2,delay=0.04": {"conditions": "mass=2,delay=0.04"},
        "fall-recovery@torque=0.5_under_nominal": {
            "trained_under": "torque=0.5",
            "conditions": "nominal",
        },
    }
    rewards = {name: evaluate(trained_hard, **kind) for name, kind in kinds.items()}
    assert {each.stem for each in (trained_hard / "evaluation").iterdir()} == set(kinds)
    assert [len(each) for each in rewards.values()] == [5, 5, 3, 3, 5, 3]  # routes too
    assert (
        len({reward for each in rewards.values() for reward in each}) == 23
    )  # routes twice
    stored = Study(trained_hard).read_jsons("evaluation")
    said = [(each["trained_under"], each["conditions"]) for each in stored.values()]
    assert sorted(said) == sorted(
        [
            ("", ""),
            ("", "friction=0.3"),
            (HARD, HARD),
            (HARD, "delay=0.04"),
            ("", "mass=2,delay=0.04"),
            ("torque=0.5", ""),
        ]
    )


def test_a_policy_that_observes_delayed_commands_needs_them(trained_hard):
    with pytest.raises(InputError, match="trained with delayed commands"):
        pipeline.evaluate(
            trained_hard, EvaluateConfig(poses=2, trained_under=HARD, conditions="")
        )


def test_the_command_line_takes_conditions(trained_hard, study, capsys):
    main(["evaluate", str(trained_hard), "--poses", "4", "--conditions", "slope=5"])
    assert "3.47 s each, under slope=5." in capsys.readouterr().out
    args = ["--poses", "4", "--trained-under", HARD]
    main(["evaluate", str(trained_hard), *args])
    assert f"3.47 s each, under {HARD}." in capsys.readouterr().out
    err = refusal(capsys, "train", study, "--conditions", "torqe=0.5")
    assert "Did you mean 'torque'?" in err
    err = refusal(capsys, "evaluate", trained_hard, "--conditions", "delay=0.05")
    assert "whole number of control periods" in err
    err = refusal(capsys, "evaluate", trained_hard, "--trained-under", "mass=2")
    assert f"kaccess train {trained_hard} --task fall-recovery --conditions mass=2" in (
        err
    )
    assert not (study / "train").exists()


def test_policies_trained_under_conditions_are_played_and_exported(
    trained_hard, tmp_path
):
    onnx = pytest.importorskip("onnx")
    path = pipeline.export(
        trained_hard, "ka/seed-0", tmp_path / "policy.onnx", trained_under=HARD
    )
    said = {item.key: item.value for item in onnx.load(path).metadata_props}
    assert said["conditions"] == HARD
    observed = json.loads(said["observation"])
    assert [part["size"] for part in observed["parts"]] == [3, 3, 2]
    assert observed["after"] == [{"name": "delayed_actions", "size": 2, "unit": "1"}]


def test_a_policy_in_the_folder_of_other_conditions_is_refused(trained_hard, tmp_path):
    study = shutil.copytree(trained_hard, tmp_path / "study")
    runs = study / "train"
    shutil.copytree(runs / f"fall-recovery@{HARD}", runs / "fall-recovery@mass=2")
    with pytest.raises(InputError, match="its `conditions` is not that"):
        pipeline.evaluate(study, EvaluateConfig(trained_under="mass=2"))


@pytest.mark.parametrize(
    "options", [[], ["--trained-under", HARD, "--conditions", "delay=0.04"]]
)
def test_play_writes_a_video(trained_hard, tmp_path, capsys, options):
    pytest.importorskip("imageio_ffmpeg")
    video = tmp_path / "play.mp4"
    args = ["play", trained_hard, "--run", "ka/seed-0", "--seconds", "0.2", *options]
    try:
        main([*map(str, args), "--video", str(video)])
    except SystemExit:
        pytest.skip(f"nothing can be rendered: {capsys.readouterr().err}")
    assert video.read_bytes()[4:8] == b"ftyp"  # an MP4 file
    assert "succeeded in fall-recovery" in capsys.readouterr().out


# Conditions that are drawn, and policies without joint sensors

DRAWN = "randomize=1,observe=imu"


@pytest.fixture(scope="module")
def trained_blind(trained, tmp_path_factory):
    """Return a study with policies that observe no joints, under drawn conditions."""
    path = tmp_path_factory.mktemp("blind") / "study"
    shutil.copytree(trained, path)
    args = ["train", path, "--randomize", "--observe", "imu", "--starts", "ka"]
    args += ["--seeds", "1", "--episodes", "2", "--episode-steps", "60"]
    args += ["--test-every", "1", "--test-poses", "3", "--device", "cpu"]
    args += ["--sac.hidden", "8", "--sac.batch-size", "8", "--sac.warmup-steps", "40"]
    args += AS_SAC_CONFIG
    main([str(each) for each in args])
    return path


def test_a_policy_says_what_it_observes_and_what_was_drawn(trained_blind, tmp_path):
    onnx = pytest.importorskip("onnx")
    run = trained_blind / "train" / f"fall-recovery@{DRAWN}" / "ka" / "seed-0"
    said = Policy.load(run / "policy.safetensors").metadata
    assert said["conditions"] == DRAWN
    assert said["randomize"]["friction"] == [0.2, 1.5]
    observed = said["observation"]
    assert observed["frames"] == 4
    names = [part["name"] for part in observed["parts"]]
    assert names == ["gravity", "angular_velocity", "commands"]
    path = tmp_path / "policy.onnx"
    pipeline.export(trained_blind, "ka/seed-0", path, trained_under=DRAWN)
    props = {item.key: item.value for item in onnx.load(path).metadata_props}
    assert json.loads(props["observation"]) == observed


def test_a_policy_is_tested_with_its_own_observations(trained_blind):
    found = pipeline.evaluate(
        trained_blind,
        EvaluateConfig(poses=4, trained_under=DRAWN, conditions="friction=0.5"),
    )
    assert [each.name for each in found] == ["ka/seed-0", "routes"]
    name = f"fall-recovery@{DRAWN}_under_friction=0.5,observe=imu"
    assert (trained_blind / "evaluation" / f"{name}.json").exists()
    with pytest.raises(InputError, match=r"observes 32 numbers, but .* has 8"):
        policy = Policy.load(
            trained_blind / f"train/fall-recovery@{DRAWN}/ka/seed-0/policy.safetensors"
        )
        act_under(policy, Conditions())(np.zeros((1, 8)))


def test_a_training_on_drawn_conditions_resumes_where_it_stopped(trained_blind, study):
    """Draws, noise, latency and frames go on as if nothing had happened."""
    config = replace(
        CONFIG, starts=("ka",), seeds=1, episode_steps=60, randomize=True, observe="imu"
    )
    sac = replace(SAC, hidden=(8,), warmup_steps=40)
    pipeline.train(study, replace(config, test_poses=3), sac, device="cpu")
    config = replace(config, episodes=2, test_poses=3)
    out = pipeline.train(study, config, sac, device="cpu")
    for file in ("episodes.csv", "evaluation.csv", "policy.safetensors"):
        once = trained_blind / "train" / out.name / "ka" / "seed-0" / file
        assert once.read_bytes() == (out / "ka" / "seed-0" / file).read_bytes()
