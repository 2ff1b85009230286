"""Train randomised policies, with and without joint feedback.

python experiments/reality/train.py runs/bittle

The same command resumes. All conditions are drawn for each robot and episode.
"""

from dataclasses import dataclass, field
from pathlib import Path

import tyro

from kaccess import pipeline
from kaccess.config import ObserveName, SacConfig, TrainConfig


@dataclass(frozen=True)
class Config:
    """Study, and what to train on it."""

    study: tyro.conf.Positional[Path]
    """Study of Bittle, with starts (`kaccess cluster`)."""
    observe: tuple[ObserveName, ...] = ("history", "imu")
    """Observations of the policies."""
    seeds: int = 3
    """Seeds for each of them."""
    episodes: int = 900
    """Episodes of 100 steps of each learner."""
    threads: int = 0
    """CPU threads of the physics; 0 takes all."""
    sac: SacConfig = field(
        default_factory=lambda: SacConfig(hidden=(128, 128), batch_size=128)
    )
    """Settings of the learners."""


def main(config: Config) -> None:
    for observe in config.observe:
        plan = TrainConfig(
            randomize=True,
            observe=observe,
            seeds=config.seeds,
            episodes=config.episodes,
            episode_steps=100,
            test_every=100,
            test_poses=60,
        )
        folder = pipeline.train(
            config.study, plan, config.sac, device="cpu", n_threads=config.threads
        )
        print(folder)


if __name__ == "__main__":
    main(tyro.cli(Config))
