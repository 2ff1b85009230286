"""Short trainings with the tiny robot: settings, files and error messages."""

import csv

import pytest

from kaccess.cli import main
from kaccess.config import SacConfig, TrainConfig

CONFIG = TrainConfig(
    starts=("ka", "ka+rnd:0.5"), seeds=2, episodes=1, test_every=1, test_poses=4
)
SAC = SacConfig(hidden=(8, 8), batch_size=8, warmup_steps=100)
# What `kaccess train` needs to train with the settings of `SacConfig()`.
AS_SAC_CONFIG = (
    *("--sac.envs-per-learner", "1", "--sac.updates", "None"),
    *("--sac.learning-rate", "3e-4", "--sac.policy-tau", "1"),
)
NAMES = ["ka/seed-0", "ka/seed-1", "ka+rnd-0.5/seed-0", "ka+rnd-0.5/seed-1"]


def rows(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def refusal(capsys, *args):
    with pytest.raises(SystemExit) as exit_info:
        main([str(arg) for arg in args])
    assert exit_info.value.code == 2
    return capsys.readouterr().err.strip().splitlines()[-1]
