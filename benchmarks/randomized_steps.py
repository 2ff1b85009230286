"""Time steps of environments with drawn conditions, as ratios to nominal ones.

python benchmarks/randomized_steps.py --out benchmarks/results/randomized-steps.json

CPU time of one thread, resets included; kinds take turns, and the fastest round counts.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from time import process_time

import numpy as np
import tyro

from kaccess.base.machine import describe_machine
from kaccess.config import EngineConfig
from kaccess.envs import RobotVectorEnv

KINDS = {
    "nominal": "",
    "imu": "observe=imu",
    "faults": "latency=0.05,jitter=0.02,offset=3,backlash=2,rounding=1,sag=0.3,noise=1",
    "randomize": "randomize=1",
    "randomize, imu": "randomize=1,observe=imu",
    "randomize, history": "randomize=1,observe=history",
}


@dataclass(frozen=True)
class Config:
    """Size of the benchmark."""

    robots: int = 10
    steps: int = 100
    """Steps per round; also the length of an episode."""
    rounds: int = 5
    out: Path | None = None
    """Results (JSON) to write."""


def main(config: Config) -> None:
    envs = {kind: make(text, config) for kind, text in KINDS.items()}
    seconds = {kind: np.inf for kind in KINDS}
    for _ in range(config.rounds):
        for kind, env in envs.items():
            seconds[kind] = min(seconds[kind], time_round(env, config))
    ratios = {
        kind: round(each / seconds["nominal"], 3) for kind, each in seconds.items()
    }
    for kind, ratio in ratios.items():
        micro = 1e6 * seconds[kind] / (config.steps * config.robots)
        print(f"{kind:20} {micro:6.0f} us per robot and step, ratio {ratio:.2f}")
    if config.out:
        record = {"config": asdict(config), "machine": describe_machine()}
        record |= {"ratios": ratios}
        config.out.write_text(json.dumps(record, indent=2, default=str) + "\n")


def make(text: str, config: Config) -> RobotVectorEnv:
    """Return the environment of one kind, ready to step."""
    env = RobotVectorEnv(
        config.robots,
        conditions=text,
        engine=EngineConfig(threads=1),
        max_episode_steps=config.steps,
    )
    env.reset(seed=0)
    env.step(np.zeros((config.robots, 8)))  # compiles
    return env


def time_round(env: RobotVectorEnv, config: Config) -> float:
    """Return the CPU seconds of some steps under random actions."""
    actions = np.random.default_rng(0).uniform(-1, 1, (config.steps, config.robots, 8))
    began = process_time()
    for action in actions:
        env.step(action)
    return process_time() - began


if __name__ == "__main__":
    main(tyro.cli(Config))
