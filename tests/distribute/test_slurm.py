"""The array job of Slurm, as several processes that share a folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.distribute.conftest import read_all

SCRIPT = Path(__file__).parents[2] / "docs" / "slurm-access.sh"
COUNT = 5  # tasks, for 12 tiles


@pytest.mark.slow
def test_tasks_of_an_array_job_fill_the_matrix_together(fresh, finished):
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    tasks = [
        subprocess.Popen(
            ["bash", SCRIPT, fresh, "--threads", "1"],
            env=os.environ
            | {"PATH": path, "SLURM_ARRAY_TASK_COUNT": str(COUNT)}
            | {"SLURM_ARRAY_TASK_ID": str(id_), "SLURM_ARRAY_TASK_MIN": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )
        for id_ in range(1, COUNT + 1)
    ]
    said = [task.communicate()[1] for task in tasks]
    assert [task.returncode for task in tasks] == [0] * COUNT, said
    pairs = [int(each.split(" of ")[1].split()[0]) for each in said]
    assert sum(pairs) == 24 * 24  # no tile is the work of two tasks
    assert read_all(fresh) == read_all(finished)
