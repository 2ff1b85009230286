"""A study stays consistent: when commands are refused, killed, or run at once."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from kaccess import InputError, pipeline
from kaccess.base.files import make_draft, remove_drafts, whole_file
from kaccess.config import ClusterConfig, EvaluateConfig, GrowConfig
from kaccess.report.check import check_study
from kaccess.report.page.contents import read_scores
from kaccess.starts import InitialStates
from kaccess.study import RunsName, Study, TestName
from kaccess.study.graph_file import mark_graph
from kaccess.study.lock import claim_graph
from tests.hostile.attacks import run
from tests.report.page.test_scores import make_scores
from tests.training import runs


def snapshot(path):
    """Return the content of every file of a study, except its locks."""
    return {
        file: file.read_bytes()
        for file in path.rglob("*")
        if file.is_file() and not file.name.endswith("lock")
    }


@pytest.mark.parametrize(
    "args",
    [
        ["access", "--joint-tol", "0.1"],
        ["cluster", "--k", "100"],
        ["evaluate", "--trained-under", "torque=0.5"],
        ["evaluate", "--poses", "3", "--conditions", "nonsense"],
    ],
)
def test_a_refused_command_changes_nothing(study, capsys, monkeypatch, args):
    monkeypatch.setattr("kaccess.study.timing._SHORTEST", 0.0)
    before = snapshot(study)
    code, _ = run(capsys, args[0], study, *args[1:])
    assert code == 2
    assert snapshot(study) == before


def test_a_refused_training_draws_no_test_poses(trained, tmp_path, monkeypatch):
    from dataclasses import replace

    monkeypatch.setattr("kaccess.study.timing._SHORTEST", 0.0)
    study = shutil.copytree(trained, tmp_path / "study")
    (study / "tests" / "curve.npz").unlink()
    before = snapshot(study)
    other = replace(runs.SAC, batch_size=16)
    with pytest.raises(InputError, match="batch_size was 8 and is now 16"):
        pipeline.train(study, runs.CONFIG, other, device="cpu")
    assert snapshot(study) == before


def test_a_test_that_fails_stores_no_poses(study, monkeypatch):
    def fail(*_):
        raise InputError("no.")

    monkeypatch.setattr("kaccess.evaluation.pose_test.PoseTest.score", fail)
    with pytest.raises(InputError):
        pipeline.evaluate(study, EvaluateConfig(poses=2))
    assert not (study / "tests").exists()


def test_a_killed_clustering_leaves_no_starts_of_another(study, monkeypatch, capsys):
    with monkeypatch.context() as patch:
        save = InitialStates.save

        def die(self, path):
            if path.name == "ka.npz":
                raise KeyboardInterrupt
            save(self, path)

        patch.setattr(InitialStates, "save", die)
        with pytest.raises(KeyboardInterrupt):
            pipeline.cluster(study, ClusterConfig(k=2))
    assert not (study / "starts" / "ka.npz").exists()
    assert check_study(study) == []
    pipeline.cluster(study, ClusterConfig(k=2))
    centroids = Study(study).clusterings["kaccess"].centroids
    stored = InitialStates.load(study / "starts" / "ka.npz").qpos
    np.testing.assert_array_equal(stored, Study(study).poses.qpos[centroids])


def test_drafts_have_names_of_their_own(tmp_path):
    """Two containers that share a folder may have the same process ids."""
    assert make_draft(tmp_path / "x.json") != make_draft(tmp_path / "x.json")


def test_drafts_of_killed_processes_are_removed(tmp_path):
    script = (
        "import os, sys; from pathlib import Path\n"
        "from kaccess.base.files import make_draft\n"
        "folder = Path(sys.argv[1])\n"
        "make_draft(folder / 'x.json').write_text('half')\n"
        "make_draft(folder / 'study').mkdir()\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    foreign = tmp_path / ".kaccess-0123abcd0123-1-0123abcd.part.y.json"
    foreign.write_text("another machine is writing it")
    old = tmp_path / ".kaccess-0123abcd0123-1-0123abce.part.z.json"
    old.write_text("another machine wrote it long ago")
    os.utime(old, (0, 0))
    (tmp_path / ".mine.part.txt").write_text("no draft")
    assert len(list(tmp_path.iterdir())) == 5
    remove_drafts.cache_clear()
    with whole_file(tmp_path / "x.json") as draft:
        draft.write_text("whole")
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"x.json", foreign.name, ".mine.part.txt"}


def test_a_draft_of_a_killed_process_is_no_damage(study):
    (study / ".kaccess-0123abcd0123-1-0123abcd.part.timings.json").write_text('{"a')
    assert check_study(study) == []


@pytest.mark.parametrize("name", ["", "."])
def test_the_current_folder_does_not_become_a_study(
    tmp_path, capsys, monkeypatch, name
):
    monkeypatch.chdir(tmp_path)
    code, said = run(capsys, "sample", "bittle", name, "--n", "4")
    assert code == 2 and "must be a new folder, got the current one" in said
    assert list(tmp_path.iterdir()) == []


def test_test_poses_of_another_robot_are_refused(study, bittle, capsys):
    qpos = np.repeat(bittle.standing[None], 4, axis=0)
    states = InitialStates.uniform(
        qpos, names=tuple("abcd"), model=Study(study).settings["model"]
    )
    states.save(study / "tests" / "final.npz")
    code, said = run(capsys, "evaluate", study, "--poses", 2)
    assert code == 2 and "final.npz belongs to another robot" in said


def test_only_one_process_grows_a_graph(study):
    with claim_graph(study), pytest.raises(InputError, match="Another process is"):
        pipeline.grow(study, GrowConfig(most=13, tests=2))
    assert not (study / "graph.npz").exists()


def test_scores_of_the_guide_before_its_graph_changed_are_left_out(study):
    test = TestName(RunsName("fall-recovery"), best=False, under="")
    scores = [make_scores("routes", 3), make_scores("ka/seed-0", 2)]
    opened = Study(study)
    opened.write_test(test, {"policies": scores, "graph": mark_graph(study)})
    found, outdated = read_scores(opened)
    assert len(found[test]) == 2 and outdated == []
    (study / "graph.npz").write_bytes(b"another graph")
    found, outdated = read_scores(opened)
    assert [each["name"] for each in found[test]] == ["ka/seed-0"]
    assert outdated == [test]


@pytest.mark.hostile
def test_clusterings_at_once_leave_starts_of_the_stored_one(study):
    commands = [
        [sys.executable, "-m", "kaccess", "cluster", str(study), "--k", k]
        for k in ("2", "5")
    ]
    started = [
        subprocess.Popen(each, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for each in commands
    ]
    assert [process.wait() for process in started] == [0, 0]
    found = Study(study)
    stored = InitialStates.load(study / "starts" / "ka.npz").qpos
    expected = found.poses.qpos[found.clusterings["kaccess"].centroids]
    np.testing.assert_array_equal(stored, expected)


@pytest.mark.hostile
def test_other_tolerances_at_once_are_refused(tiny_study):
    commands = [
        [sys.executable, "-m", "kaccess", "access", str(tiny_study), "--joint-tol", tol]
        for tol in ("0.3", "0.6")
    ]
    started = [
        subprocess.Popen(each, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for each in commands
    ]
    codes = [process.wait() for process in started]
    assert sorted(codes) == [0, 2]
    stored = Study(tiny_study).settings["access"]["joint_tol"]
    assert stored == (0.3, 0.6)[codes.index(0)]
    assert check_study(tiny_study) == []


@pytest.mark.parametrize(
    "order", ["import kaccess, gymnasium", "import gymnasium, kaccess"]
)
def test_tasks_are_registered_in_any_order_of_imports(order):
    script = f"{order}\nassert 'kaccess/FallRecovery-v0' in gymnasium.registry"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_narrow_terminal_changes_no_result(study, capsys, monkeypatch):
    code, wide = run(capsys, "info", study)
    monkeypatch.setenv("COLUMNS", "1")
    assert run(capsys, "info", study) == (code, wide)
    monkeypatch.setenv("COLUMNS", "1")
    assert run(capsys, "info", "--help")[0] == 0
