"""A training killed, or out of disk, at any file operation resumes as if nothing was.

The clock is that of the environment, 25 s per step, so that the run is stored at step 3
(after a minute), at step 27 (ten minutes later), and at its end.
"""

import shutil
from contextlib import suppress

import numpy as np
import pytest

pytest.importorskip("torch")

from kaccess.sac import CurveTests
from tests.hostile.faults import Disk, Killed, failing
from tests.sac.point_mass import PointMasses
from tests.sac.runs import run

NAMES, N_STEPS = ["ka/seed-0", "rnd/seed-0"], 30


class Clock:
    """A clock that goes by the steps of an environment."""

    def __init__(self, env):
        self.env = env

    def monotonic(self):
        return 25.0 * len(self.env.actions_seen)


def evaluate(policies, step):
    """Return scores that sometimes get better; they depend on the policies."""
    actions = policies.act_all(np.ones((len(policies), 1, 3)))[:, 0, 0]
    return {"success": np.cos(1e4 * actions)}


def train(folder, monkeypatch, **options):
    env = PointMasses(len(NAMES))
    monkeypatch.setattr("kaccess.sac.loop.time", Clock(env))
    plan = {"names": NAMES, "seeds": range(2)}
    tests = CurveTests(evaluate, every=4, best_by=("success",))
    return run(folder, env=env, plan=plan, n_steps=N_STEPS, tests=tests, **options)


def read_files(folder):
    """Return the content of all files but drafts of killed processes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".part." not in path.name
    }


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return all files of a run, and the operations that wrote them."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch, failing(Disk(folder)) as disk:
        train(folder, patch)
    return read_files(folder), disk.log


def attack(folder, at, how, undisturbed, monkeypatch):
    """Let an operation fail, resume, and compare all files."""
    files, _ = undisturbed
    # An error that comes once may be of no account, as for a folder that exists.
    ends = suppress(OSError) if how == "once" else pytest.raises((Killed, OSError))
    with ends, failing(Disk(folder, at, how)):
        train(folder, monkeypatch)
    train(folder, monkeypatch)
    assert read_files(folder) == files
    shutil.rmtree(folder)


def test_the_run_is_stored_three_times(undisturbed):
    files, log = undisturbed
    saves = [name for operation, name in log if operation == "save"]
    assert sum("checkpoint" in name for name in saves) == 3
    assert {name.rpartition("/")[2] for name in files} == {
        "checkpoint.safetensors",
        "policy.safetensors",
        "best.safetensors",
        "episodes.csv",
        "evaluation.csv",
    }


def test_a_kill_during_the_first_save_loses_nothing(tmp_path, undisturbed, monkeypatch):
    """The first save is all up to the first operation on the CSV files after it."""
    log = undisturbed[1]
    begin = log.index(next(each for each in log if each[0] == "save"))
    end = next(i for i, (_, name) in enumerate(log) if i > begin and "csv" in name)
    assert end - begin >= 10
    for at in range(begin, end):
        attack(tmp_path / "run", at, "kill", undisturbed, monkeypatch)


@pytest.mark.parametrize("how", ["kill", "full", "once"])
@pytest.mark.parametrize("part", range(8))
def test_failures_all_over_a_run_lose_nothing(
    tmp_path, undisturbed, monkeypatch, how, part
):
    at = part * len(undisturbed[1]) // 8
    attack(tmp_path / "run", at, how, undisturbed, monkeypatch)


@pytest.mark.hostile
@pytest.mark.parametrize("how", ["kill", "full", "once"])
def test_no_failure_at_all_loses_anything(tmp_path, undisturbed, monkeypatch, how):
    for at in range(len(undisturbed[1])):
        attack(tmp_path / "run", at, how, undisturbed, monkeypatch)
