"""`pipeline.play`: moves of a study, and policies that free their simulations."""

import weakref

import pytest

from kaccess import InputError, Study, pipeline
from kaccess.access import Outcome
from kaccess.cli import main
from kaccess.config import AccessConfig, PlayConfig
from kaccess.envs.physics import mujoco as physics
from kaccess.report.play import video
from kaccess.report.play.clip import describe_outcome
from tests.report.play.moves import find_pair


def play_move(study, source, goal):
    return pipeline.play(study, PlayConfig(transition=(source, goal), seconds=0.1))


@pytest.mark.parametrize("outcome", [Outcome.REACHED, Outcome.ELSEWHERE])
def test_a_move_has_the_outcome_of_the_study(clustered, outcome):
    source, goal = find_pair(clustered, outcome)
    time = Study(clustered).times[source, goal]
    words = describe_outcome(outcome, time, AccessConfig())
    played = play_move(clustered, source, goal)
    assert played.text == (
        f"From pose {source} to pose {goal}: {words}. "
        f"The study's matrix (engine mujoco): {words}."
    )
    assert played.scores is None


def test_a_move_in_a_study_without_times(tiny_study):
    assert play_move(tiny_study, 0, 1).clip.outcome.endswith(
        "The study's matrix: not estimated yet."
    )


def test_an_unknown_pose_is_refused(clustered):
    message = r"`transition` must be two poses of 0 to 23, got 24\."
    with pytest.raises(InputError, match=message):
        play_move(clustered, 0, 24)
    with pytest.raises(InputError, match="got -1"):
        play_move(clustered, -1, 0)


@pytest.mark.parametrize("seconds", ["0", "-1", "inf", "nan"])
def test_a_duration_must_be_positive(clustered, capsys, seconds):
    with pytest.raises(SystemExit):
        main(["play", str(clustered), "--transition", "0", "1", "--seconds", seconds])
    assert "`seconds` must be " in capsys.readouterr().err


def test_simulations_are_freed_before_the_video_is_written(tmp_path, monkeypatch):
    """Each simulation reserves 15 MB."""
    batches, alive = [], []

    class Batch(physics.Batch):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            batches.append(weakref.ref(self))

    def write_nothing(clip, path):
        alive.extend(batch for batch in batches if batch() is not None)

    monkeypatch.setattr(physics, "Batch", Batch)
    monkeypatch.setattr(video, "write_video", write_nothing)
    main(["play", "bittle", "--poses", "4", "--video", str(tmp_path / "play.mp4")])
    assert len(batches) == 2  # the test, and the motion
    assert alive == []
