"""Gymnasium's pendulum: settings that learn it in minutes, and the curves."""

import csv

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from kaccess.config import SacConfig
from kaccess.sac import Plan, RunFolder, train

EPISODE = 200  # steps
CONFIG = SacConfig(
    gamma=0.98,
    hidden=(64, 64),
    batch_size=64,
    learning_rate=1e-3,
    warmup_steps=500,
    capacity=10_000,
    initial_alpha=1.0,  # as in Stable-Baselines3
    return_steps=1,  # as in Stable-Baselines3
)


def vector_env(n):
    makers = [lambda: gymnasium.make("Pendulum-v1")] * n
    return SyncVectorEnv(makers, autoreset_mode=AutoresetMode.SAME_STEP)


def learn(path, *, n_learners, n_steps):
    """Return the curves, (n_learners, n_episodes) returns."""
    names = [f"seed-{i}" for i in range(n_learners)]
    train(
        vector_env(n_learners),
        CONFIG,
        plan=Plan(names, range(n_learners), n_steps),
        folder=RunFolder(path, tensorboard=False),
    )
    curves = []
    for name in names:
        with (path / name / "episodes.csv").open() as file:
            curves.append([float(row["return"]) for row in csv.DictReader(file)])
    return np.array(curves)
