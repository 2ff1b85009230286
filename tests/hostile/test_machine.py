"""Machines and models that lack something: a sentence, not a traceback."""

import os
import subprocess
import sys

import numpy as np
import pytest

from kaccess import InputError, load_robot
from kaccess.cli import main
from kaccess.report.rendering.album import Album
from tests.conftest import TINY
from tests.hostile.attacks import run

STEP, MASS = 'timestep="0.004"', "<worldbody>"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (STEP, 'timestep="0"', "`timestep` in .*robot.xml must be from 1e-06 to 0.1"),
        (STEP, 'timestep="-1"', "`timestep`"),
        (STEP, 'timestep="nan"', "`timestep`"),
        (STEP, 'timestep="1e-12"', "`timestep`"),
        (STEP, f'{STEP} gravity="0 0 nan"', "robot.xml has numbers .* in `gravity`"),
        ('pos="0 0 0.1"', 'pos="0 0 nan"', "not finite, in `qpos0`"),
    ],
)
def test_models_that_cannot_be_simulated_are_refused(tmp_path, old, new, message):
    robot, text = tmp_path / "robot.xml", TINY.read_text()
    assert old in text
    robot.write_text(text.replace(old, new))
    with pytest.raises(InputError, match=message):
        load_robot(robot)


def test_an_arena_that_overflows_is_explained(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log
    text = TINY.read_text().replace(MASS, f'<size memory="1K"/>{MASS}')
    (tmp_path / "robot.xml").write_text(text)
    code, said = run(capsys, "sample", "robot.xml", "study", "--n", "4")
    assert code == 2
    assert "MuJoCo cannot simulate this robot: " in said and "size memory" in said


@pytest.mark.parametrize(
    "error", [MemoryError(), ValueError("Could not allocate memory")]
)
def test_a_lack_of_memory_is_explained(clustered, capsys, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr("kaccess.report.summary.summarize_study", fail)
    code, said = run(capsys, "info", clustered)
    assert code == 2 and "kaccess: Not enough memory" in said


def test_a_low_limit_of_memory_is_explained_at_once(clustered):
    """OpenBLAS, which SciPy loads, would wait for memory without end."""
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"ulimit -v 300000; {sys.executable} -m kaccess info {clustered}",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(
        "kaccess: Not enough memory: `ulimit -v` allows 307 MB"
    )


def test_other_errors_keep_their_traceback(clustered, monkeypatch):
    def fail(*_):
        raise ValueError("a bug")

    monkeypatch.setattr("kaccess.report.summary.summarize_study", fail)
    with pytest.raises(ValueError, match="a bug"):
        main(["info", str(clustered)])


def test_a_wrong_choice_of_opengl_is_explained(clustered):
    done = subprocess.run(
        [sys.executable, "-m", "kaccess", "info", clustered],
        env=os.environ | {"MUJOCO_GL": "wrong"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("kaccess: MuJoCo cannot start: ")
    assert "Traceback" not in done.stderr


RENDER = """
from kaccess import InputError, load_robot
from kaccess.report.rendering.render import render_poses
robot = load_robot("bittle")
try:
    render_poses(robot, robot.standing[None])
except InputError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="others have a screen")
def test_without_a_screen_glfw_is_not_even_started():
    """It has ended the whole process there."""
    hidden = ("DISPLAY", "WAYLAND_DISPLAY")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-c", RENDER],
        env=env | {"MUJOCO_GL": "glfw"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("Nothing can be rendered here: there is no screen.")


def test_figures_do_not_depend_on_the_backend(monkeypatch, capsys):
    monkeypatch.setenv("MPLBACKEND", "wrong")
    run(capsys, "info", "nothing")
    assert os.environ["MPLBACKEND"] == "agg"


@pytest.mark.parametrize(
    ("policy", "spins"), [(None, "1000"), ("active", None)], ids=["left open", "chosen"]
)
def test_idle_threads_sleep_soon_unless_told_otherwise(
    monkeypatch, capsys, policy, spins
):
    monkeypatch.setenv("GOMP_SPINCOUNT", "")  # so that it is put back afterwards
    monkeypatch.delenv("GOMP_SPINCOUNT")
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    if policy:
        monkeypatch.setenv("OMP_WAIT_POLICY", policy)
    run(capsys, "info", "nothing")
    assert os.environ.get("GOMP_SPINCOUNT") == spins


def test_loops_of_links_are_explained(tmp_path, capsys):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for args in (["info"], ["access"], ["report"], ["sample", TINY]):
        code, said = run(capsys, *args, tmp_path / "a")
        assert code == 2 and "a cannot be opened: Too many levels" in said


def test_names_that_are_not_utf_8_are_explained(tmp_path, capsys):
    name = tmp_path / os.fsdecode(b"x\xff.xml")
    name.write_text(TINY.read_text())
    for args in (["info", name], ["sample", TINY, name], ["sample", name, "study"]):
        code, said = run(capsys, *args)
        assert code == 2 and "is not valid UTF-8" in said


def test_a_damaged_picture_is_made_anew(tiny, tmp_path):
    states = tiny.standing[None]
    album = Album(tiny, tmp_path)
    album.note = "line drawings"
    before = album.get_pictures(states, width=40, height=30)
    (picture,) = tmp_path.iterdir()
    content = picture.read_bytes()
    for damaged in (b"", content[:20], b"junk"):
        picture.write_bytes(damaged)
        after = album.get_pictures(states, width=40, height=30)
        np.testing.assert_array_equal(after, before)
        assert picture.read_bytes() == content
