"""`kaccess play ROBOT --run routes`: any robot is measured, tested and shown."""

import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

from kaccess import InputError, Study, pipeline
from kaccess.cli import main
from kaccess.config import PlayConfig
from kaccess.report.play import names_robot, video
from kaccess.report.play.fresh import choose_pose
from kaccess.report.play.routes import play_fresh_routes
from tests.conftest import TINY

UP, DOWN = (1.0, 0, 0, 0), (0, 1.0, 0, 0)  # quaternions


@pytest.fixture
def clips(monkeypatch, tmp_path):
    """Clips instead of videos; temporary folders are made in one that is looked at."""
    shown = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(video, "write_video", lambda clip, path: shown.append(clip))
    return shown


def fail(capsys, *args):
    """Return the error message of a command that fails."""
    with pytest.raises(SystemExit) as exit_info:
        main([str(arg) for arg in args])
    assert exit_info.value.code == 2
    return " ".join(capsys.readouterr().err.splitlines()[-1:])


def test_a_robot_is_measured_tested_and_shown(clips, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["play", str(TINY), "--run", "routes", "--poses", "8", "--seed", "3"])
    out, err = capsys.readouterr()
    assert re.search(r"8 poses of tiny; replayed, \d of them stand up", out)
    assert re.search(r"from 8 freshly sampled poses, within .* s: \d", out)
    assert f"To keep such a study, and for its report: kaccess run {TINY} STUDY" in out
    for bar in ("Sampling: 8 of 8 poses", "Moves: 64 of 64 pairs", "Testing: "):
        assert bar in err
    assert len(clips) == 1 and clips[0].robot.name == "tiny"
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_text_has_the_numbers_of_the_study_and_of_the_test(clustered):
    study, steps = Study(clustered), []
    played = play_fresh_routes(
        study,
        PlayConfig(run="routes", poses=6),
        progress=lambda done, total: steps.append((done, total)),
    )
    first, test, _ = played.text.splitlines()
    assert first == (
        "24 poses of tiny; replayed, 5 of them stand up: 1 in one move, 4 in two."
    )
    assert test.startswith("fall-recovery from 6 freshly sampled poses, within ")
    assert f"{played.scores.success.mean():.1%}" in test
    assert steps == [(done, len(steps)) for done in range(1, len(steps) + 1)]


def test_the_pose_shown_lies_on_its_back_and_gets_up():
    qpos = np.zeros((4, 7))
    qpos[:, 3:7] = UP, DOWN, UP, DOWN
    config = PlayConfig(run="routes")
    assert choose_pose(config, qpos) == 1
    assert choose_pose(config, qpos, np.array([1, 0, 1, 1], bool)) == 3
    assert choose_pose(config, qpos, np.array([0, 0, 1, 0], bool)) == 2
    assert choose_pose(config, qpos, np.zeros(4, bool)) == 1
    assert choose_pose(PlayConfig(run="routes", pose=2), qpos) == 2
    with pytest.raises(InputError, match="`pose` must be one of 0 to 3, got 4"):
        choose_pose(PlayConfig(run="routes", pose=4), qpos)


def test_a_file_without_routes_is_told_to_add_them(clips, capsys):
    sentence = fail(capsys, "play", TINY)
    assert "add `--run routes`" in sentence and f"kaccess run {TINY} STUDY" in sentence
    assert "add `--run routes`" in fail(capsys, "play", TINY, "--transition", "0", "1")
    with pytest.raises(InputError, match="add `--run routes`"):
        pipeline.play("bittle-real", PlayConfig())


def test_a_robot_that_does_not_stand_gets_one_sentence(clips, capsys, tmp_path):
    mjcf = tmp_path / "robot.xml"
    rock = '<geom pos="9 0 0" size=".1"/>'  # on such ground, no stance is looked for
    mjcf.write_text(TINY.read_text().replace("<worldbody>", f"<worldbody>{rock}"))
    sentence = fail(capsys, "play", mjcf, "--run", "routes", "--poses", "4")
    assert "does not stand, so it cannot get up: its ground is not" in sentence
    assert clips == []


def test_a_task_beyond_standing_needs_a_study(clips, capsys):
    args = ("play", TINY, "--run", "routes", "--task", "backflip")
    assert "'backflip' needs a skill as well" in fail(capsys, *args)


def test_settings_of_the_model_need_a_robot(clustered, clips, capsys):
    args = ("play", clustered, "--run", "routes", "--kp", "3")
    assert "need a robot and `--run routes`" in fail(capsys, *args)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (str(TINY), True),
        ("missing.xml", True),
        ("bittle", True),
        ("menagerie:unitree_go1", True),
        ("runs/bittle", False),
        (str(Path(__file__).parent), False),
    ],
)
def test_robots_are_told_from_studies(name, expected):
    assert names_robot(name) == expected
