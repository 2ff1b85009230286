"""Time environments: steps/s, and the time of physics and of the rest of a step.

python benchmarks/bench_env.py --out benchmarks/results/env.json
python benchmarks/bench_env.py --engines mujoco bullet --sizes 12 --threads 1
"""

import json
import os
import platform
import time
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import tyro

from kaccess.config import EngineConfig, EngineName
from kaccess.envs import RobotVectorEnv
from kaccess.envs.physics import Physics


@dataclass(frozen=True)
class Config:
    """Settings of the measurement."""

    task: str = "fall-recovery"
    """Name of a task."""
    robot: str = "bittle"
    """Name of a robot, or path of an MJCF file."""
    engines: tuple[EngineName, ...] = ("mujoco",)
    """Simulators."""
    sizes: tuple[int, ...] = (1, 18, 64)
    """Numbers of robots."""
    threads: tuple[int, ...] = (1, 2)
    """Numbers of threads; bullet always has one."""
    n_steps: int = 300
    """Control steps in a run, with random actions: one episode, its end included."""
    repeats: int = 3
    """Runs of each kind, in turns; the fastest counts."""
    out: Path | None = None
    """JSON file to write."""


class Stopwatch:
    """Measures the time inside the step of an environment's physics."""

    def __init__(self, env: RobotVectorEnv) -> None:
        self.seconds, self._kind = 0.0, type(env.episodes.robots._physics)
        self._step = self._kind.step

    def __enter__(self) -> "Stopwatch":
        def step(physics: Physics) -> Any:  # noqa: ANN401
            start = time.perf_counter()
            diverged = self._step(physics)
            self.seconds += time.perf_counter() - start
            return diverged

        self._kind.step = step  # type: ignore[assignment, method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        self._kind.step = self._step  # type: ignore[method-assign]


def measure(
    config: Config, engine: EngineName, n: int, n_threads: int
) -> dict[str, Any]:
    """Run one episode of n robots; return its times."""
    settings = EngineConfig(engine=engine, threads=n_threads)
    env = RobotVectorEnv(n, config.task, robot=config.robot, engine=settings)
    shape = (config.n_steps, *env.action_space.shape)  # type: ignore[misc]  # a Box
    actions = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
    env.reset(seed=0)
    env.step(actions[0])  # compiles
    env.reset(seed=0)
    start = time.perf_counter()
    with Stopwatch(env) as physics:
        for action in actions:
            env.step(action)
    wall = time.perf_counter() - start
    return {
        "engine": engine,
        "robots": n,
        "threads": n_threads,
        "steps_per_s": n * config.n_steps / wall,
        "physics_ms": 1e3 * physics.seconds / config.n_steps,
        "rest_ms": 1e3 * (wall - physics.seconds) / config.n_steps,
        "rest_share": 1 - physics.seconds / wall,
    }


def main(config: Config) -> None:
    kinds = list(product(config.engines, config.sizes, config.threads))
    best: dict[tuple[EngineName, int, int], dict[str, Any]] = {}
    for _ in range(config.repeats):
        for kind in kinds:
            run = measure(config, *kind)
            fastest = best.setdefault(kind, run)
            if run["steps_per_s"] > fastest["steps_per_s"]:
                best[kind] = run

    print("engine  robots  threads  robot steps/s  physics [ms]  rest [ms]  rest share")
    for run in best.values():
        print(
            f"{run['engine']:6}  {run['robots']:6.0f}  "
            f"{run['threads']:7.0f}  {run['steps_per_s']:13.0f}  "
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
