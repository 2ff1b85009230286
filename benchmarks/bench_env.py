"""Time environments: steps/s, and the time of physics and of the rest of a step.

python benchmarks/bench_env.py --out benchmarks/results/env.json
"""

import json
import os
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import tyro
from mujoco.batch import Batch

from kaccess.config import EngineConfig
from kaccess.envs import RobotVectorEnv


@dataclass(frozen=True)
class Config:
    """Settings of the measurement."""

    task: str = "fall-recovery"
    """Name of a task."""
    robot: str = "bittle"
    """Name of a robot, or path of an MJCF file."""
    sizes: tuple[int, ...] = (1, 18, 64)
    """Numbers of robots."""
    threads: tuple[int, ...] = (1, 2)
    """Numbers of threads."""
    n_steps: int = 300
    """Control steps in a run, with random actions: one episode, its end included."""
    repeats: int = 3
    """Runs of each kind, in turns; the fastest counts."""
    out: Path | None = None
    """JSON file to write."""


class Stopwatch:
    """Measures the time inside the native physics step."""

    def __init__(self) -> None:
        self.seconds, self._step = 0.0, Batch.step

    def __enter__(self) -> "Stopwatch":
        def step(batch: Batch, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
            start = time.perf_counter()
            self._step(batch, *args, **kwargs)
            self.seconds += time.perf_counter() - start

        Batch.step = step
        return self

    def __exit__(self, *_: object) -> None:
        Batch.step = self._step


def measure(config: Config, n: int, n_threads: int) -> dict[str, float]:
    """Run one episode of n robots; return its times."""
    env = RobotVectorEnv(
        n, config.task, robot=config.robot, engine=EngineConfig(threads=n_threads)
    )
    shape = (config.n_steps, *env.action_space.shape)  # type: ignore[misc]  # a Box
    actions = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
    env.reset(seed=0)
    env.step(actions[0])  # compiles
    env.reset(seed=0)
    start = time.perf_counter()
    with Stopwatch() as physics:
        for action in actions:
            env.step(action)
    wall = time.perf_counter() - start
    return {
        "robots": n,
        "threads": n_threads,
        "steps_per_s": n * config.n_steps / wall,
        "physics_ms": 1e3 * physics.seconds / config.n_steps,
        "rest_ms": 1e3 * (wall - physics.seconds) / config.n_steps,
        "rest_share": 1 - physics.seconds / wall,
    }


def main(config: Config) -> None:
    kinds = [(n, threads) for n in config.sizes for threads in config.threads]
    best: dict[tuple[int, int], dict[str, float]] = {}
    for _ in range(config.repeats):
        for kind in kinds:
            run = measure(config, *kind)
            fastest = best.setdefault(kind, run)
            if run["steps_per_s"] > fastest["steps_per_s"]:
                best[kind] = run

    print("robots  threads  robot steps/s  physics [ms]  rest [ms]  rest share")
    for run in best.values():
        print(
            f"{run['robots']:6.0f}  {run['threads']:7.0f}  {run['steps_per_s']:13.0f}  "
            f"{run['physics_ms']:12.3f}  {run['rest_ms']:9.3f}  "
            f"{run['rest_share']:10.1%}"
        )
    if config.out:
        record = {
            "config": asdict(config),
            "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
            "mujoco": mujoco.__version__,
            "runs": list(best.values()),
        }
        config.out.parent.mkdir(parents=True, exist_ok=True)
        config.out.write_text(json.dumps(record, indent=2, default=str) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Config))
