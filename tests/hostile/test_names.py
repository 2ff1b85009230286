"""Paths where names are expected: nothing outside the study is read or written."""

import shutil
from dataclasses import dataclass
from typing import ClassVar

import pytest

from kaccess import InputError, Study, pipeline
from kaccess.config import EvaluateConfig, TrainConfig
from kaccess.envs.tasks.fall_recovery import FallRecovery
from kaccess.envs.tasks.stand import Stand
from kaccess.evaluation.held_out import get_test_poses
from kaccess.study import RunsName
from kaccess.study.starts import find_starts, write_clustering
from tests.training.runs import refusal


@dataclass(frozen=True, kw_only=True)
class Outside(Stand):
    """A task whose name is a path."""

    name: ClassVar[str] = "../../outside"


def list_files(folder):
    return sorted(path for path in folder.rglob("*") if path.name != ".lock")


@pytest.mark.parametrize("prefix", ["", "guided-", "rnd:0.5+"])
def test_starts_are_names(study, tmp_path, capsys, prefix):
    pytest.importorskip("torch")
    shutil.copy(study / "starts" / "rnd.npz", tmp_path / "mine.npz")
    get_test_poses(Study(study), FallRecovery(), "curve", 4)
    before = list_files(tmp_path)
    for path in (tmp_path / "mine", "../tests/curve", "../../mine"):
        starts = f"{prefix}{path}"
        err = refusal(capsys, "train", study, "--starts", starts, "--device", "cpu")
        assert "The name of starts must be letters" in err
        assert f"{path}'" in err
    assert list_files(tmp_path) == before


def test_own_starts_are_found_by_name(study):
    shutil.copy(study / "starts" / "rnd.npz", study / "starts" / "my-own.npz")
    assert len(find_starts(Study(study), "my-own", FallRecovery())) == 12


def test_tasks_and_methods_are_names(study):
    opened, message = Study(study), "The name of a task must be letters"
    with pytest.raises(InputError, match=message):
        opened.runs_folder(RunsName("../../outside"))
    with pytest.raises(InputError, match=message):
        pipeline.evaluate(opened, EvaluateConfig(task=Outside(), poses=2))
    with pytest.raises(InputError, match="The name of a method must be letters"):
        write_clustering(opened, "../x", opened.clusterings["kaccess"])
    with pytest.raises(InputError, match="`task` must be one of"):
        TrainConfig(task="../../outside")
