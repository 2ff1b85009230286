import ctypes
import subprocess
import sys

import pytest

from kaccess.report.rendering.headless import prefer_egl_without_screen

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="EGL is for Linux")


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    return monkeypatch


def chosen():
    import os

    prefer_egl_without_screen()
    return os.environ.get("MUJOCO_GL")


def test_egl_is_chosen_without_a_screen(environment):
    environment.setattr(ctypes, "CDLL", lambda name: None)
    assert chosen() == "egl"


def test_a_screen_or_a_choice_is_respected(environment):
    environment.setattr(ctypes, "CDLL", lambda name: None)
    environment.setenv("MUJOCO_GL", "osmesa")
    assert chosen() == "osmesa"
    environment.delenv("MUJOCO_GL")
    environment.setenv("DISPLAY", ":0")
    assert chosen() is None


def test_where_egl_is_missing_it_is_not_chosen(environment):
    def missing(name):
        raise OSError(name)

    environment.setattr(ctypes, "CDLL", missing)
    assert chosen() is None


def test_the_command_line_works_without_any_opengl(tmp_path):
    """Off a screen and without EGL: a picture without the robot, and no traceback."""
    script = (
        "import os; os.environ['MUJOCO_GL'] = 'off'\n"
        "from kaccess import SampleConfig, cli\n"
        "cli.stages.PRESETS['tiny'] = SampleConfig(n=4)\n"
        f"cli.main(['run', 'tests/tiny.xml', {str(tmp_path / 'study')!r}, "
        "'--preset', 'tiny'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "The picture goes without the robot" in done.stderr
    assert (tmp_path / "study" / "overview.png").exists()
