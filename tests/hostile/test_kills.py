"""Every stage killed for good, at file operations and at random moments, and resumed.

A kill is SIGKILL: the stage runs in a child process, a copy of this one. After it, the
same command must bring the study to what it is without any kill, byte for byte.
"""

import gc
import importlib
import os
import re
import shutil
import signal
import sys
import time
import traceback

import numpy as np
import pytest

from kaccess import AccessConfig, pipeline
from kaccess.cluster import select_k
from kaccess.config import (
    ClusterConfig,
    EvaluateConfig,
    GetUpConfig,
    GrowConfig,
    PlayConfig,
    SampleConfig,
    SkillConfig,
)
from kaccess.report.check import check_study
from kaccess.report.play.video import write_video
from tests.conftest import TINY
from tests.hostile.faults import Disk, failing
from tests.training import runs

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]

N_RANDOM = 12  # kills of each stage at random moments
NOT_RESULTS = (".lock", ".graph.lock", "timings.json")  # durations differ


def sample(study):
    pipeline.sample(str(TINY), study, SampleConfig(n=12))


def access(study):
    pipeline.access(study, AccessConfig())


def cluster(study):
    pipeline.cluster(study, ClusterConfig(k_max=5, n_init=3))


def grow(study):
    pipeline.grow(study, GrowConfig(most=13, tests=2))


def search(study):
    config = GetUpConfig(skills=1, explored=48, candidates=8, rounds=1)
    pipeline.search(study, SkillConfig(task="fall-recovery"), config)


def train(study):
    pipeline.train(study, runs.CONFIG, runs.SAC, device="cpu", n_threads=1)


def evaluate(study):
    pipeline.evaluate(study, EvaluateConfig(poses=2))


def picture(study):
    pipeline.picture(study)


def report(study):
    pipeline.report(study)


def export(study):
    pipeline.export(study, "ka/seed-0", study / "policy.onnx")


def play(study):
    played = pipeline.play(study, PlayConfig(run="ka/seed-0", seconds=0.1))
    write_video(played.clip, study / "play.mp4")


STAGES = [
    *(sample, access, cluster, grow, search, train, evaluate),
    *(picture, report, export, play),
]
STEPS = {grow: 4, train: 3, evaluate: 2, report: 20}  # kill at every so many operations
RESUMED_FROM_START = (grow, search)  # a round may be made again, with other poses


class Deadly(Disk):
    """A disk at whose chosen operation the process is killed."""

    def error(self):
        os.kill(os.getpid(), signal.SIGKILL)


def run_child(action, *, seconds=None):
    """Run a function in a child process; kill it after some time. Return its status."""
    gc.collect()
    child = os.fork()
    if not child:
        try:
            action()
        except BaseException:
            traceback.print_exc(file=sys.__stderr__)
            os._exit(1)
        os._exit(0)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def snapshot(study):
    """Return the results in a study: the content of its files but drafts and events."""
    return {
        str(path.relative_to(study)): read(path)
        for path in study.rglob("*")
        if path.is_file()
        and path.name not in NOT_RESULTS
        and ".part" not in path.name
        and "events.out" not in path.name
    }


def load_all():
    """Load and compile here what stages need, so that children find it ready."""
    for name in ("sac", "training", "evaluation.evaluate", "report.page", "guide"):
        importlib.import_module(f"kaccess.{name}")
    for name in ("onnx", "tensorboard", "torch.utils.tensorboard"):
        pytest.importorskip(name)
    select_k(np.eye(12), range(2, 5), random_state=0)


@pytest.fixture(scope="module")
def steps(tmp_path_factory):
    """The study before each stage, and after the last."""
    pytest.importorskip("torch")
    load_all()
    folder = tmp_path_factory.mktemp("steps")
    study, before = folder / "study", {}
    for stage in STAGES:
        copy = folder / stage.__name__
        if study.exists():
            shutil.copytree(study, copy)
        before[stage] = copy
        assert run_child(lambda stage=stage: stage(study)) == 0
    before[None] = study
    return before


def put_back(steps, stage, study):
    shutil.rmtree(study, ignore_errors=True)
    if steps[stage].exists():
        shutil.copytree(steps[stage], study)


def count_operations(steps, stage, study, note):
    """Return how many file operations a stage makes."""

    def action():
        with failing(Disk(study)) as disk:
            stage(study)
        note.write_text(str(len(disk.log)))

    put_back(steps, stage, study)
    assert run_child(action) == 0
    return int(note.read_text())


def resume(steps, stage, study):
    """Run a stage again after a kill; the result must be as if nothing was."""
    if study.exists() and (study / "study.json").exists():
        assert check_study(study) == []
    assert run_child(lambda: stage(study)) == 0
    assert check_study(study) == []
    after = STAGES.index(stage) + 1
    whole = steps[STAGES[after]] if after < len(STAGES) else steps[None]
    if stage not in RESUMED_FROM_START:
        found, expected = snapshot(study), snapshot(whole)
        assert found.keys() == expected.keys()
        assert [name for name in found if found[name] != expected[name]] == []


def read(file):
    """Return the content of a file; the page names the folder of its study."""
    content = file.read_bytes()
    is_page = file.suffix == ".html"
    return re.sub(rb"[^ ]*/study", b"", content) if is_page else content


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)
def test_a_kill_at_any_file_operation_can_be_resumed(
    steps, stage, tmp_path, record_property
):
    study = tmp_path / "study"
    n = count_operations(steps, stage, study, tmp_path / "n")
    step = STEPS.get(stage, 1)
    for at in range(0, n, step):
        put_back(steps, stage, study)

        def action(at=at):
            with failing(Deadly(study, at)):
                stage(study)

        assert run_child(action) == -signal.SIGKILL
        resume(steps, stage, study)
    record_property("kills at file operations", f"{len(range(0, n, step))} of {n}")


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.__name__)
def test_kills_at_random_moments_can_be_resumed(
    steps, stage, tmp_path, record_property
):
    study, rng = tmp_path / "study", np.random.default_rng(0)
    put_back(steps, stage, study)
    began = time.monotonic()
    assert run_child(lambda: stage(study)) == 0
    span, killed = time.monotonic() - began, 0
    while killed < N_RANDOM:
        put_back(steps, stage, study)
        status = run_child(lambda: stage(study), seconds=span * rng.random())
        if status == 0:  # it was faster this time
            span *= 0.8
        killed += status == -signal.SIGKILL
        resume(steps, stage, study)
    record_property("kills at random moments", killed)
