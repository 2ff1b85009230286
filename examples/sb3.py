"""Learn fall recovery with Stable-Baselines3, from the starts of a study.

pip install 'kaccess[sb3]'
python examples/sb3.py runs/bittle --starts ka --algorithm ppo --steps 200000
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import gymnasium
import tyro
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.evaluation import evaluate_policy

import kaccess


@dataclass(frozen=True)
class Config:
    """Settings of the training."""

    study: Annotated[Path, tyro.conf.Positional]
    """Folder of a study that has been clustered."""
    starts: str = "ka"
    """Name of a file in the study's folder `starts`."""
    algorithm: Literal["sac", "ppo"] = "sac"
    """Learning algorithm; any algorithm can use the starts."""
    steps: int = 200_000
    """Environment steps."""
    seed: int = 0
    """Seed of the learner and of its starts."""


def main(config: Config) -> float:
    """Train a learner; return its mean reward per episode."""
    robot = kaccess.Study(config.study).settings["robot"]
    starts = kaccess.InitialStates.load(
        config.study / "starts" / f"{config.starts}.npz"
    )
    env = gymnasium.make("kaccess/FallRecovery-v0", robot=robot, starts=starts)
    algorithm = {"sac": SAC, "ppo": PPO}[config.algorithm]
    learner = algorithm("MlpPolicy", env, gamma=0.987, seed=config.seed, device="cpu")
    learner.learn(config.steps)
    reward, _ = evaluate_policy(learner, learner.get_env(), n_eval_episodes=5)
    return float(reward)


if __name__ == "__main__":
    print(f"Mean episode reward: {main(tyro.cli(Config)):.1f}")
