"""The choice of EGL on machines without a screen."""

import ctypes
import os
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


def choose():
    prefer_egl_without_screen()
    return os.environ.get("MUJOCO_GL")


def test_egl_is_chosen_without_a_screen(environment):
    environment.setattr(ctypes, "CDLL", lambda name: None)
    assert choose() == "egl"


def test_a_screen_or_an_earlier_choice_changes_nothing(environment):
    environment.setattr(ctypes, "CDLL", lambda name: None)
    environment.setenv("MUJOCO_GL", "osmesa")
    assert choose() == "osmesa"
    environment.delenv("MUJOCO_GL")
    environment.setenv("DISPLAY", ":0")
    assert choose() is None


def test_egl_is_not_chosen_if_it_is_missing(environment):
    def missing(name):
        raise OSError(name)

    environment.setattr(ctypes, "CDLL", missing)
    assert choose() is None


def test_the_command_line_works_without_any_opengl(tmp_path):
    """Without a screen and EGL, the overview is drawn without pictures of the robot."""
    script = (
        "import os; os.environ['MUJOCO_GL'] = 'off'\n"
        "from kaccess import cli\n"
        "from kaccess.config import PRESETS, Preset\n"
        "PRESETS['tiny'] = Preset(poses=4)\n"
        f"cli.main(['run', 'tests/tiny.xml', {str(tmp_path / 'study')!r}, "
        "'--preset', 'tiny'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "The picture does not show the robot." in done.stderr
    assert (tmp_path / "study" / "overview.png").exists()
