"""Tests that the examples run."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from kaccess import AccessConfig, pipeline
from kaccess.config import ClusterConfig, SampleConfig
from tests.conftest import TINY

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("algorithm", ["sac", "ppo"])
def test_stable_baselines3_learns_in_the_environments(tmp_path, algorithm):
    pytest.importorskip("stable_baselines3")
    study = tmp_path / "study"
    pipeline.sample(str(TINY), study, SampleConfig(n=8))
    pipeline.access(study, AccessConfig())
    pipeline.cluster(study, ClusterConfig(k=3))
    run = subprocess.run(
        [
            *(sys.executable, str(EXAMPLES / "sb3.py"), str(study)),
            *("--steps", "300", "--algorithm", algorithm),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert "Mean episode reward: " in run.stdout


GALLERY = EXAMPLES / "gallery"
SCRIPTS = sorted(path.stem for path in GALLERY.glob("*.py") if path.stem != "gallery")


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_of_the_gallery_draws(script, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(GALLERY)
    monkeypatch.setattr(sys, "argv", [script, str(tmp_path)])
    runpy.run_path(str(GALLERY / f"{script}.py"))
    assert (tmp_path / f"{script}.png").read_bytes().startswith(b"\x89PNG")


def test_every_figure_is_in_the_gallery():
    from kaccess.report import figures

    drawn = {name for name in figures.__all__ if name.startswith("draw_")}
    text = "".join((GALLERY / f"{script}.py").read_text() for script in SCRIPTS)
    assert {name for name in drawn if name in text} == drawn
    listed = (GALLERY / "README.md").read_text()
    assert all(f"({script}.py)" in listed for script in SCRIPTS)
