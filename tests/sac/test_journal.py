"""Curves of a run that was interrupted."""

import pytest

pytest.importorskip("torch")

from kaccess import InputError
from kaccess.sac.journal import Journal


@pytest.fixture
def journal(tmp_path):
    """A journal with one test of one learner."""
    journal = Journal(tmp_path, ["a/seed-0"], tensorboard=False)
    journal.add_row("evaluation", 0, 10, {"reward": 1.5})
    return journal


def resume(tmp_path, marks):
    return Journal(tmp_path, ["a/seed-0"], step=10, marks=marks, tensorboard=False)


def test_rows_after_a_checkpoint_are_removed_even_those_of_its_step(journal, tmp_path):
    """A test that a checkpoint does not know is made again; its row must be new."""
    file = tmp_path / "a/seed-0/evaluation.csv"
    marks, before = journal.get_marks(), file.read_bytes()
    journal.add_row("evaluation", 0, 10, {"reward": 2.5})
    journal.add_row("episodes", 0, 11, {"return": 1.0})
    resumed = resume(tmp_path, marks)
    assert file.read_bytes() == before
    assert not (file.parent / "episodes.csv").exists()
    assert resumed.get_marks() == marks


@pytest.mark.parametrize("content", [b"step,reward\n10,1.6\n", b"step,reward\n", b""])
def test_a_curve_that_has_changed_is_not_continued(journal, tmp_path, content):
    marks, file = journal.get_marks(), tmp_path / "a/seed-0/evaluation.csv"
    file.write_bytes(content)
    with pytest.raises(
        InputError, match=rf"^{file} is damaged: its content is not wha"
    ):
        resume(tmp_path, marks)
    file.unlink()
    with pytest.raises(InputError, match=rf"^{file} does not exist"):
        resume(tmp_path, marks)


def test_checkpoints_without_marks_keep_rows_up_to_their_step(journal, tmp_path):
    file = tmp_path / "a/seed-0/evaluation.csv"
    before = file.read_bytes()
    journal.add_row("evaluation", 0, 20, {"reward": 2.5})
    resume(tmp_path, None)
    assert file.read_bytes() == before
