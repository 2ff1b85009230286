"""Output that nobody reads: the work goes on, or the exit code says that it did not."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from kaccess.study import Study
from tests.conftest import TINY

KACCESS = [sys.executable, "-m", "kaccess"]


def run_unread(*args, **env):
    """Run a command whose output and messages go to a pipe that is closed already."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        return subprocess.run(
            [*KACCESS, *map(str, args)],
            stdout=closed,
            stderr=closed,
            env=os.environ | env,
            check=False,
        ).returncode


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_access_finishes_though_nobody_reads_its_progress(tiny_study, unbuffered):
    assert run_unread("access", tiny_study, PYTHONUNBUFFERED=unbuffered) == 0
    assert not np.isnan(Study(tiny_study).times).any()


def test_head_ends_its_pipe_but_not_the_work(tiny_study):
    command = f"{' '.join(KACCESS)} access {tiny_study} 2>&1 | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "Accessibility: 0 of 576 pairs\n"
    assert not np.isnan(Study(tiny_study).times).any()


def test_other_stages_finish_too(clustered, tmp_path):
    assert run_unread("sample", TINY, tmp_path / "new", "--n", 4) == 0
    assert Study(tmp_path / "new").n_poses == 4
    study = shutil.copytree(clustered, tmp_path / "study")
    shutil.rmtree(study / "clusters")
    assert run_unread("cluster", study, "--k", 3) == 0
    assert (study / "clusters" / "kaccess.json").is_file()


def test_bad_input_exits_with_2_though_nobody_reads_the_sentence(tmp_path):
    assert run_unread("info", tmp_path / "nothing") == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_results_that_do_not_fit_on_the_disk_are_an_error(clustered, unbuffered):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [*KACCESS, "info", clustered, "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.startswith("kaccess: No space left on device")
    assert "Traceback" not in done.stderr
