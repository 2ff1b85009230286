"""Attacks on `kaccess train`: kills, a full disk, two at once, learners that break."""

import resource
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

pytest.importorskip("torch")

from kaccess import InputError, TrainingError, pipeline
from kaccess.base.tensors import read_tensors, write_tensors
from kaccess.cli import main
from kaccess.config import SacConfig, TrainConfig
from kaccess.envs.tasks.stand import Stand
from kaccess.study.lock import hold_folders
from tests.hostile.faults import Disk, Killed, failing
from tests.training.runs import refusal


@dataclass(frozen=True, kw_only=True)
class Rest(Stand):
    """A task with short episodes."""

    episode_steps: int = 20
    name: ClassVar[str] = "rest"


CONFIG = TrainConfig(
    task=Rest(), starts=("rnd",), seeds=1, episodes=2, test_every=1, test_poses=2
)
SAC = SacConfig(hidden=(8,), batch_size=8, warmup_steps=10)
FLAGS = ["--starts=rnd", "--seeds=1", "--episodes=1", "--test-poses=2"]


@pytest.fixture(autouse=True)
def _no_events(monkeypatch):
    """Leave TensorBoard out: its files have the time in their names."""
    monkeypatch.setattr("kaccess.sac.journal._open_writers", lambda *_: [])


def train(study, config=CONFIG, sac=SAC):
    return pipeline.train(study, config, sac, device="cpu", n_threads=1)


def read_runs(study):
    """Return the content of all files of runs, but locks and drafts.

    The process that is said to be killed lives on, so its drafts are not removed.
    """
    folder = study / "train"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != ".lock" and ".part." not in path.name
    }


@pytest.mark.parametrize("every", [5, pytest.param(1, marks=pytest.mark.hostile)])
def test_a_kill_at_any_file_operation_can_be_resumed(clustered, tmp_path, every):
    whole = shutil.copytree(clustered, tmp_path / "whole")
    with failing(Disk(whole / "train")) as disk:
        train(whole)
    assert len(disk.log) >= 30
    for at in range(every - 1, len(disk.log), every):
        study = shutil.copytree(clustered, tmp_path / "study")
        with pytest.raises(Killed), failing(Disk(study / "train", at)):
            train(study)
        train(study)
        assert read_runs(study) == read_runs(whole)
        shutil.rmtree(study)


def test_a_full_disk_is_one_sentence(study):
    """No file may grow beyond 500 kB: curves can be written, the checkpoint cannot."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))

    command = [sys.executable, "-m", "kaccess", "train", str(study), *FLAGS]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, preexec_fn=limit
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    sentence = done.stderr.strip().splitlines()[-1]
    assert sentence.startswith(f"kaccess: File too large ({study / 'train'}")
    assert "run the same command again" in sentence
    assert not list((study / "train").rglob("*.safetensors"))


def test_two_trainings_of_a_learner_at_once_are_refused(study, capsys):
    folder = study / "train" / "fall-recovery" / "rnd" / "seed-0"
    with hold_folders([folder]):
        err = refusal(capsys, "train", study, *FLAGS)
    assert f"Another process is at work in {folder}" in err
    assert not (folder / "episodes.csv").exists()
    main(["train", str(study), *FLAGS])  # free again


def test_a_dead_process_holds_no_learner(study):
    folder = study / "train" / "rest" / "rnd" / "seed-0"
    script = (
        "import os, sys; from pathlib import Path\n"
        "from kaccess.study.lock import hold_folders\n"
        "with hold_folders([Path(sys.argv[1])]): os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(folder)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (folder / ".lock").exists()
    train(study)


def test_other_learners_may_be_trained_at_the_same_time(study):
    with hold_folders([study / "train" / "rest" / "rnd" / "seed-0"]):
        train(study, replace(CONFIG, first_seed=1))
        with pytest.raises(InputError, match="Another process is at work"):
            train(study, replace(CONFIG, seeds=2))


def test_a_policy_without_a_checkpoint_is_not_overwritten(study):
    folder = train(study)
    for path in folder.glob("*.safetensors"):
        path.unlink()
    with pytest.raises(InputError, match="seed-0 holds a policy, but no checkpoint"):
        train(study)


def test_a_checkpoint_without_policies_keeps_its_learners(study):
    """As a kill leaves it between the checkpoint and the policies."""
    folder = train(study, replace(CONFIG, seeds=2))
    shutil.rmtree(folder / "rnd")
    with pytest.raises(InputError, match=r"different population: that of checkpoint_"):
        train(study)


def test_a_checkpoint_that_lacks_something_is_named(study):
    """Its checksums are right: it was written so."""
    [file] = train(study).glob("*.safetensors")
    header, arrays = read_tensors(file)
    kind, refused = "kaccess checkpoint (2)", f"^{file} is damaged"
    for name in ("best/rnd/seed-0/bias 0", "position", "run/obs", "replay counts"):
        rest = {key: each for key, each in arrays.items() if key != name}
        assert len(rest) < len(arrays)
        write_tensors(file, kind, header, rest)
        with pytest.raises(InputError, match=refused):
            train(study)
    for key, value in [("settings", "x"), ("progress", "x"), ("progress", {})]:
        write_tensors(file, kind, header | {key: value}, arrays)
        with pytest.raises(InputError, match=refused):
            train(study)


def test_a_training_in_which_all_learners_break_down_fails(study, capsys):
    sac = replace(SAC, learning_rate=1e5, initial_alpha=9e5)
    with pytest.raises(TrainingError, match="All learners broke down: rnd/seed-0 sto"):
        train(study, sac=sac)
    with pytest.raises(TrainingError):  # and again, when there is nothing left to do
        train(study, sac=sac)


def test_the_command_then_exits_with_1(study, capsys, monkeypatch):
    def fail(*args, **kwargs):
        raise TrainingError("All learners broke down.")

    monkeypatch.setattr("kaccess.training.train_learners", fail)
    with pytest.raises(SystemExit) as exit_info:
        main(["train", str(study)])
    assert exit_info.value.code == 1
    assert capsys.readouterr().err.endswith("kaccess: All learners broke down.\n")


def test_compiling_on_a_cpu_is_refused(study, capsys):
    err = refusal(capsys, "train", study, *FLAGS, "--device=cpu", "--sac.compiled")
    assert "`compiled` has no effect on the device 'cpu'" in err
    assert not list((study / "train").rglob("*.csv"))


OFTEN = """
import functools, sys
from kaccess import sac
from kaccess.cli import main
sac.RunFolder = functools.partial(sac.RunFolder, checkpoint_every=0.05)
main(sys.argv[1:])
"""


@pytest.mark.hostile
def test_kills_at_random_times_lose_nothing(study, tmp_path):
    """Real processes that store their run all the time, killed soon after the start."""
    whole = shutil.copytree(study, tmp_path / "whole")
    flags = [*FLAGS, "--sac.warmup-steps=50", "--sac.hidden=64"]
    main(["train", str(whole), *flags])
    command = [sys.executable, "-c", OFTEN, "train", str(study), *flags]
    for kill in range(5):
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert "Training: " in process.stderr.readline()
            time.sleep(0.1 + 0.05 * kill)
            process.kill()
    subprocess.run(command, check=True)
    kept, expected = (
        {name: each for name, each in read_runs(path).items() if "events" not in name}
        for path in (study, whole)
    )
    assert kept == expected
