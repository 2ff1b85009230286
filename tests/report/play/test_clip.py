"""Motions to show: states, what came of them, and videos."""

import errno
from dataclasses import replace

import numpy as np
import pytest
from kaccess.evaluation.recording import Recording, record

from kaccess import InputError, Study, motions
from kaccess.access import Outcome
from kaccess.cli import main
from kaccess.config import AccessConfig, StillConfig
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import make_task
from kaccess.report.play.clip import Clip, move_clip, outcome_text, policy_clip

CONFIG = AccessConfig()


def find_pair(path, outcome):
    """Return two different poses between which a move ended in some way."""
    found = np.argwhere(Study(path).outcomes == outcome)
    return tuple(
        int(pose) for pose in next(pair for pair in found if pair[0] != pair[1])
    )


def test_a_clip_gives_the_nearest_state(tiny):
    clip = Clip(tiny, np.arange(5) * 0.1, np.arange(5.0)[:, None], "")
    assert clip.length == pytest.approx(0.4)
    assert clip.at(0.14).item() == 1 and clip.at(0.16).item() == 2
    assert clip.at(np.array([-1.0, 0.31, 9.0])).ravel().tolist() == [0, 3, 4]


def test_a_move_goes_through_the_states_of_the_engine(poses, engine):
    held = poses.robot.get_joints(poses.qpos[[4]])
    for limit in (0.5, 3.0):
        config = replace(CONFIG, time_limit=limit)
        end = engine.settle(poses.qpos[[1]], held, time_limit=limit)
        clip = move_clip(poses, 1, 4, seconds=limit, config=config, still=StillConfig())
        arrived = (
            end.time[0] + StillConfig().window if np.isfinite(end.time[0]) else limit
        )
        np.testing.assert_array_equal(clip.at(arrived), end.qpos[0])
        np.testing.assert_array_equal(clip.qpos[0], poses.qpos[1])
        assert clip.length == pytest.approx(limit)


@pytest.mark.parametrize("outcome", [Outcome.REACHED, Outcome.ELSEWHERE])
def test_a_move_says_what_the_study_says(clustered, outcome):
    source, goal = find_pair(clustered, outcome)
    time = Study(clustered).times[source, goal]
    said = outcome_text(outcome, time, CONFIG)
    clip = motions.move(clustered, source, goal, seconds=0.1)
    assert clip.outcome == (
        f"From pose {source} to pose {goal}: {said}. "
        f"The study's matrix (engine mujoco): {said}."
    )


def test_a_move_in_a_study_without_times(tiny_study):
    assert motions.move(tiny_study, 0, 1, seconds=0.1).outcome.endswith(
        "The study's matrix: not estimated yet."
    )


def test_outcomes_in_words():
    words = [outcome_text(outcome, 0.5, CONFIG) for outcome in Outcome]
    assert words[Outcome.REACHED] == "arrived after 0.50 s"
    assert words[Outcome.RESTLESS] == "was not at rest within 3 s"
    assert len(set(words)) == len(Outcome)


def test_an_unknown_pose_is_refused(clustered):
    message = r"`transition` must be two poses of 0 to 23, got 24\."
    with pytest.raises(InputError, match=message):
        motions.move(clustered, 0, 24)
    with pytest.raises(InputError, match="got -1"):
        motions.move(clustered, -1, 0)


def test_a_policy_moves_as_it_is_recorded_under_conditions(tiny):
    def still(obs):
        return np.zeros((len(obs), 2))

    task, start = make_task("stand"), tiny.standing
    slope = Conditions(slope=8.0)
    clip = policy_clip(task, tiny, still, start, seconds=0.4, conditions=slope)
    level = record(task, tiny, still, start[None], n_steps=10)
    tilted = record(task, tiny, still, start[None], n_steps=10, conditions=slope)
    np.testing.assert_array_equal(clip.qpos, tilted.qpos[:, 0])
    assert not np.array_equal(clip.qpos, level.qpos[:, 0])
    assert clip.robot.model.opt.gravity[0] != 0
    assert clip.length == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("success", "done_at"),
    [
        ([0, 0, 1, 1], 0.2),
        ([0, 1, 0, 1], 0.3),
        ([1, 1, 1, 1], 0.0),
        ([0, 1, 1, 0], None),
    ],
)
def test_success_counts_from_when_it_stays(success, done_at):
    blank = np.zeros((4, 1, 2))
    done = np.array(success, bool)[:, None]
    times = np.array([0.0, 0.1, 0.2, 0.3])
    assert (
        Recording(times, blank, blank, blank, done, blank[0, 0]).done_at(0) == done_at
    )


def test_the_command_writes_a_video_of_a_move(clustered, tmp_path, capsys):
    pytest.importorskip("imageio_ffmpeg")
    source, goal = find_pair(clustered, Outcome.REACHED)
    video = tmp_path / "new" / "move.mp4"
    args = ["--transition", source, goal, "--video", video, "--seconds", 0.2]
    try:
        main(["play", str(clustered), *map(str, args)])
    except SystemExit:
        pytest.skip(f"nothing can be rendered: {capsys.readouterr().err}")
    out = capsys.readouterr().out
    assert "arrived after" in out and out.endswith(f"Video: {video}\n")
    assert video.read_bytes()[4:8] == b"ftyp"
    assert list(video.parent.iterdir()) == [video]


def test_where_nothing_can_be_rendered_the_viewer_is_named(
    clustered, tmp_path, capsys, monkeypatch
):
    import mujoco

    def fail(*_):
        raise RuntimeError("no GL")

    pytest.importorskip("imageio_ffmpeg")
    monkeypatch.setattr(mujoco, "Renderer", fail)
    video = tmp_path / "move.mp4"
    with pytest.raises(SystemExit) as error:
        main(["play", str(clustered), "--transition", "0", "1", "--video", str(video)])
    assert error.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("kaccess: Nothing can be rendered here: no GL.")
    assert err.endswith("A browser can show it without any of that: --viewer.\n")
    assert not list(tmp_path.iterdir())


def test_too_little_memory_for_a_video_is_explained(
    clustered, tmp_path, capsys, monkeypatch
):
    imageio_ffmpeg = pytest.importorskip("imageio_ffmpeg")

    def fail(*_, **__):
        raise OSError(errno.ENOMEM, "Cannot allocate memory")
        yield

    monkeypatch.setattr(imageio_ffmpeg, "write_frames", fail)
    video = tmp_path / "move.mp4"
    with pytest.raises(SystemExit):
        main(["play", str(clustered), "--transition", "0", "1", "--video", str(video)])
    err = capsys.readouterr().err
    if "Nothing can be rendered" in err:
        pytest.skip(err)
    assert "take fewer with --poses" in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan"])
def test_no_time_at_all_is_refused(clustered, capsys, seconds):
    with pytest.raises(SystemExit):
        main(["play", str(clustered), "--transition", "0", "1", "--seconds", seconds])
    assert "`seconds` must be positive" in capsys.readouterr().err
