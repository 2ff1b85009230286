"""Shipped policies fit the robot of today and reach the scores of their cards."""

from pathlib import Path

import numpy as np
import pytest

import kaccess.policies.shipped
from kaccess import InputError, load_robot, pipeline
from kaccess.base.rotations import gravity_in_body
from kaccess.cli import main
from kaccess.config import PlayConfig
from kaccess.envs.tasks import make_task
from kaccess.policies.shipped import find_shipped, has_shipped, load_card

FOLDER = Path(kaccess.policies.shipped.__file__).parent

# Tests from 60 fresh poses with seed 0: poses that the task can start from, mean reward
# and its tolerance. Rounding differs between CPUs. Weights changed by their last bit,
# five times, moved the reward by up to 0.04 % (fall recovery) and 2.6 % (backflips);
# all poses succeeded each time.
TESTS = {
    ("bittle", "fall-recovery"): (60, 93.079, 0.002),
    ("bittle", "backflip"): (26, 70.27, 0.04),
}


def play(robot, **settings):
    return pipeline.play(robot, PlayConfig(seconds=0.1, **settings))


def test_all_shipped_policies_are_tested_and_small():
    files = FOLDER.glob("*/*.safetensors")
    assert {(path.parent.name, path.stem) for path in files} == TESTS.keys()
    assert sum(path.stat().st_size for path in FOLDER.glob("*/*")) < 1e6


@pytest.mark.parametrize(("robot", "task"), TESTS)
def test_policy_was_trained_on_the_current_robot(robot, task):
    policy, card = find_shipped(robot, task), load_card(robot, task)
    body = load_robot(robot)
    assert policy.metadata["model"] == card["model"] == body.fingerprint
    assert policy.metadata["task"] == card["task"] == make_task(task).name
    assert policy.metadata["joints"] == list(body.joint_names)
    assert card["scores"]["n"] >= 500


@pytest.mark.parametrize(("robot", "task"), TESTS)
def test_onnx_is_the_same_policy(robot, task):
    onnxruntime = pytest.importorskip("onnxruntime")
    policy = find_shipped(robot, task)
    session = onnxruntime.InferenceSession(FOLDER / robot / f"{task}.onnx")
    obs = np.random.default_rng(0).normal(size=(50, policy.obs_dim)).astype(np.float32)
    np.testing.assert_allclose(
        session.run(None, {"obs": obs})[0], policy.act(obs), atol=1e-5
    )


@pytest.mark.parametrize(("robot", "task"), TESTS)
def test_policy_reaches_the_scores_of_its_card(robot, task):
    """One failure would put the success below the interval of the card."""
    n, reward, tolerance = TESTS[robot, task]
    scores = play(robot, task=task, poses=60, seed=0).scores
    assert len(scores) == n
    assert scores.success.mean() >= load_card(robot, task)["scores"]["success"]["low"]
    assert scores.success.sum() == n
    assert scores.reward.mean() == pytest.approx(reward, rel=tolerance)


def test_fresh_poses_depend_on_the_seed():
    first, second = (play("bittle", poses=5, seed=seed).scores for seed in (5, 6))
    assert not np.array_equal(first.reward, second.reward)


def test_default_start_is_upside_down():
    start = play("bittle", poses=10).clip.qpos[:1]
    assert gravity_in_body(start[:, 3:7])[0, 2] > 0.5


def test_command_shows_a_policy_without_a_study(tmp_path, capsys):
    pytest.importorskip("imageio_ffmpeg")
    video = tmp_path / "play.mp4"
    options = f"--poses 10 --seconds 0.2 --video {video}"
    try:
        main(["play", "bittle", *options.split()])
    except SystemExit:
        assert "Nothing can be rendered" in capsys.readouterr().err
        pytest.skip("nothing can be rendered here")
    out = capsys.readouterr().out
    assert "fall-recovery from 10 freshly sampled poses, within 3 s: " in out
    assert video.read_bytes()[4:8] == b"ftyp"


def test_missing_policies_and_poses_are_explained():
    assert has_shipped("bittle")
    assert not has_shipped("spot")
    expected = r"No policy of 'bittle' for 'stand' .* policies: bittle backflip, "
    with pytest.raises(InputError, match=expected):
        find_shipped("bittle", "stand")
    with pytest.raises(InputError, match="can start from none of the 2 poses"):
        play("bittle", task="backflip", poses=2, seed=1)
    with pytest.raises(InputError, match="`pose` must be one of 0 to 3, got 9"):
        play("bittle", poses=4, pose=9)
