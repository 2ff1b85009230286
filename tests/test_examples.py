"""The examples run as they are."""

import subprocess
import sys
from pathlib import Path

import pytest

from kaccess import AccessConfig, pipeline
from kaccess.config import ClusterConfig, SampleConfig

from .conftest import TINY

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.mark.parametrize("algorithm", ["sac", "ppo"])
def test_stable_baselines3_learns_on_the_environments_unchanged(tmp_path, algorithm):
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
