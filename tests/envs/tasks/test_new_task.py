"""A file in `kaccess.envs.tasks` is all that a new task needs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kaccess
from kaccess.config import TASKS
from kaccess.envs import ENV_IDS, make_task

PACKAGE = Path(kaccess.__file__).parent
CHECK = """
import gymnasium
import kaccess.envs
from kaccess.config import TASKS
from kaccess.envs import make_task

assert TASKS["stand-tall"] == "stand_tall", TASKS
task = make_task("stand-tall")
assert (type(task).__name__, task.name) == ("StandTall", "stand-tall")
env = gymnasium.make("kaccess/StandTall-v0")
assert env.unwrapped.task == task
vec = gymnasium.make_vec("kaccess/StandTall-v0", num_envs=2)
assert vec.task == task
"""


@pytest.fixture(scope="module")
def run_copy(tmp_path_factory):
    """A function that runs Python with a copy of the package that has one more task."""
    source = tmp_path_factory.mktemp("src")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PACKAGE, source / "kaccess", ignore=ignored)
    tasks = source / "kaccess" / "envs" / "tasks"
    text = (tasks / "stand.py").read_text()
    text = text.replace('"stand"', '"stand-tall"')
    text = text.replace('"Stand"', '"StandTall"').replace("Stand(", "StandTall(")
    (tasks / "stand_tall.py").write_text(text)

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_python_finds_a_new_task(run_copy):
    run_copy("-c", CHECK)


def test_the_command_line_lists_a_new_task(run_copy):
    assert "stand-tall" in run_copy("-m", "kaccess", "train", "--help")


def test_every_file_is_a_task():
    files = {path.stem for path in (PACKAGE / "envs" / "tasks").glob("*.py")}
    assert set(TASKS.values()) == files - {"__init__"}
    assert ENV_IDS.keys() == TASKS.keys()
    for name in TASKS:
        assert make_task(name).name == name
