"""Training killed and resumed over and over: the policy is that of one long run.

`KACCESS_SOAK_MINUTES=30 pytest -m hostile tests/hostile/test_soak.py`
"""

import os
import re
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from kaccess import pipeline
from kaccess.config import SacConfig, TrainConfig
from tests.hostile.test_kills import load_all, run_child, snapshot
from tests.hostile.test_kills import pytestmark as _forks

pytestmark = _forks
SECONDS = 60 * float(os.environ.get("KACCESS_SOAK_MINUTES", "1"))
SAC = SacConfig(hidden=(16, 16), batch_size=16, warmup_steps=100)


def train(study, episodes):
    from kaccess import sac

    class Often(sac.RunFolder):
        """A folder whose run is stored all the time."""

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs | {"checkpoint_every": 0.2})

    config = TrainConfig(
        starts=("rnd",), seeds=1, episodes=episodes, test_every=2, test_poses=4
    )
    sac.RunFolder = Often
    pipeline.train(study, config, SAC, device="cpu", n_threads=1)


def read_peak(child):
    """Return the largest memory that a process has used so far [kB]."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{child}/status").read_text())
    return int(found[1]) if found else 0


def kill_after(action, seconds):
    """Run a function in a child, and kill it; return its memory, and if it ended."""
    child = os.fork()
    if not child:
        action()
        os._exit(0)
    until, peak = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            return peak, True
        peak = read_peak(child) or peak
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return peak, False


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="no /proc")  # noqa: PTH110
def test_killed_and_resumed_for_long(clustered, tmp_path, record_property):
    pytest.importorskip("torch")
    load_all()  # else children are killed while they import
    rng, peaks = np.random.default_rng(0), []
    study = shutil.copytree(clustered, tmp_path / "study")
    until, episodes, kills, rounds = time.monotonic() + SECONDS, 4, 0, 0
    while time.monotonic() < until:
        done = False
        while not done:  # a longer training each time, killed until it is through
            action = partial(train, study, episodes)
            peak, done = kill_after(action, 1.0 + 5.0 * rng.random())
            peaks.append(peak)
            kills += not done
        rounds, episodes = rounds + 1, episodes + 2
    whole = shutil.copytree(clustered, tmp_path / "whole")
    assert run_child(lambda: train(whole, episodes - 2)) == 0
    found, expected = snapshot(study / "train"), snapshot(whole / "train")
    assert found.keys() == expected.keys()
    assert [name for name in found if found[name] != expected[name]] == []
    record_property("kills", kills)
    record_property("episodes", episodes - 2)
    record_property("peaks [kB]", f"{min(peaks)} to {max(peaks)}")
    early, late = np.array_split(np.array(peaks), 2)
    assert np.median(late) < 1.1 * np.median(early) + 20_000
