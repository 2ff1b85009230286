"""Learning curves on the page: the comparison of speeds, and the right episodes."""

import logging
import shutil

import numpy as np
import pytest

from kaccess import Study
from kaccess.evaluation.curves import Curves
from kaccess.report.page.contents import read_contents
from kaccess.report.page.learning import _make_speed_table, make_learning_section
from kaccess.study import RunsName
from tests.report.conftest import N_EPISODES, train

FALL_RECOVERY = RunsName("fall-recovery")


def make_curves(*success):
    table = np.array(success, dtype=float)
    episodes = 25.0 * np.arange(1, table.shape[1] + 1)
    return Curves(np.arange(len(table)), episodes, {"success": table})


def test_speed_is_compared_with_random_starts():
    """Three tests in a row begin after 100 episodes or earlier."""
    one, good = 1.0, 0.96
    fast = make_curves([0, good, good, one, one, one], [0, good, good, good, 0, 0])
    slow = make_curves([0, 0, 0, good, good, good], [0, one, one, 0, 0.9, 0.9])
    (table,) = _make_speed_table(FALL_RECOVERY, {"ka": fast, "rnd": slow})
    assert table.head[:4] == ("starts", "to 90%", "to 95%", "to 99%")
    ka = ["ka", "50", "50", "100, 1 of 2 seeds", "0.50 (0.50 to 0.50)", "0.333"]
    late = ["100, 1 of 2 seeds", "100, 1 of 2 seeds", "100, 0 of 2 seeds"]
    assert table.rows == [ka, ["rnd", *late, "1", ""]]
    assert "at most 100 episodes" in table.note


def test_too_few_tests_have_no_table():
    two = make_curves([1.0, 1.0])
    assert not _make_speed_table(FALL_RECOVERY, {"ka": two, "rnd": two})


def test_there_is_no_table_without_random_starts_or_others():
    one = make_curves([1.0])
    assert not _make_speed_table(FALL_RECOVERY, {"rnd": one})
    assert not _make_speed_table(FALL_RECOVERY, {"ka": one, "km": one})


def test_tests_are_at_the_episodes_of_the_task(clustered, tmp_path):
    """An episode of `stand` has 100 steps, one of `fall-recovery` has 300."""
    pytest.importorskip("torch")
    path = shutil.copytree(clustered, tmp_path / "study")
    train(path, "stand", starts=("rnd",), episodes=3)
    contents = read_contents(Study(path))
    curves = contents.curves[RunsName("stand")]["rnd"]
    assert curves.episodes.tolist() == [1, 2, 3]
    reward = make_learning_section(contents).parts[0]
    (line,) = reward.figure.axes[0].get_lines()
    assert line.get_xdata().tolist() == [1, 2, 3]


def test_tasks_that_are_not_registered_are_shown(whole_study, tmp_path, caplog):
    path = shutil.copytree(whole_study, tmp_path / "study")
    (path / "train" / "notes").mkdir()
    (path / "train" / "fall-recovery@slope=10").rename(path / "train" / "own-task")
    with caplog.at_level(logging.INFO, "kaccess"):
        contents = read_contents(Study(path))
    expected = {FALL_RECOVERY, RunsName("backflip"), RunsName("own-task")}
    assert set(contents.curves) == expected
    assert contents.curves[FALL_RECOVERY]["ka"].episodes[-1] == N_EPISODES
    assert f"The page skips {path / 'train' / 'notes'}: " in caplog.text
    learning = make_learning_section(contents)
    assert "curves-own-task" in [getattr(part, "name", "") for part in learning.parts]
