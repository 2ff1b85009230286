"""Policies that come with the package do what their cards say."""

from pathlib import Path

import numpy as np
import pytest

import kaccess.policies.shipped
from kaccess import InputError, load_robot, motions
from kaccess.cli import main
from kaccess.envs.task import make_task
from kaccess.policies.shipped import find_shipped, has_shipped, shipped_card

FOLDER = Path(kaccess.policies.shipped.__file__).parent
ALL = [(path.parent.name, path.stem) for path in FOLDER.glob("*/*.safetensors")]


def test_there_are_some_and_they_are_small():
    assert {("bittle", "fall-recovery"), ("bittle", "backflip")} <= set(ALL)
    assert sum(path.stat().st_size for path in FOLDER.glob("*/*")) < 1e6


@pytest.mark.parametrize(("robot", "task"), ALL)
def test_a_policy_is_of_the_robot_as_it_is_now(robot, task):
    policy, card = find_shipped(robot, task), shipped_card(robot, task)
    body = load_robot(robot)
    assert policy.metadata["model"] == card["model"] == body.fingerprint
    assert policy.metadata["task"] == card["task"] == make_task(task).name
    assert policy.metadata["joints"] == list(body.joint_names)
    assert card["scores"]["n"] >= 500


@pytest.mark.parametrize(("robot", "task"), ALL)
def test_onnx_is_the_same_policy(robot, task):
    onnxruntime = pytest.importorskip("onnxruntime")
    policy = find_shipped(robot, task)
    session = onnxruntime.InferenceSession(FOLDER / robot / f"{task}.onnx")
    obs = np.random.default_rng(0).normal(size=(50, policy.obs_dim)).astype(np.float32)
    np.testing.assert_allclose(
        session.run(None, {"obs": obs})[0], policy.act(obs), atol=1e-5
    )


@pytest.mark.parametrize(("robot", "task"), ALL)
def test_it_does_from_fresh_poses_what_its_card_says(robot, task):
    scores, _ = motions.shipped_at_work(robot, task=task, n_poses=40, seed=5)
    expected = shipped_card(robot, task)["scores"]["success"]["value"]
    assert 10 < len(scores) <= 40
    assert scores.success.mean() >= expected - 0.1
    again, _ = motions.shipped_at_work(robot, task=task, n_poses=40, seed=6)
    assert not np.array_equal(scores.reward[:10], again.reward[:10])


def test_the_pose_to_show_lies_on_its_back(bittle):
    qpos = np.array([bittle.standing, bittle.keyframes["back"].qpos])
    assert motions._on_its_back(qpos) == 1
    assert motions._on_its_back(qpos[:1]) == 0


def test_the_command_shows_a_policy_without_a_study(tmp_path, capsys):
    pytest.importorskip("imageio_ffmpeg")
    video = tmp_path / "play.mp4"
    args = [
        "play",
        "bittle",
        "--poses",
        "10",
        "--seconds",
        "0.2",
        "--video",
        str(video),
    ]
    try:
        main(args)
    except SystemExit:
        assert "Nothing can be rendered" in capsys.readouterr().err
        pytest.skip("nothing can be rendered here")
    out = capsys.readouterr().out
    assert "fall-recovery from 10 freshly sampled poses, within 3 s: " in out
    assert video.read_bytes()[4:8] == b"ftyp"


def test_what_does_not_come_with_it_is_told(tmp_path):
    assert has_shipped("bittle")
    assert not has_shipped("spot")
    with pytest.raises(
        InputError, match=r"No policy of 'bittle' for 'stand' .* only: "
    ):
        find_shipped("bittle", "stand")
    with pytest.raises(InputError, match="None of the 2 poses is one that 'backflip'"):
        motions.shipped_at_work("bittle", task="backflip", n_poses=2, seed=1)
    with pytest.raises(InputError, match="`pose` must be one of 0 to 3, got 9"):
        motions.shipped_at_work("bittle", n_poses=4, pose=9)
