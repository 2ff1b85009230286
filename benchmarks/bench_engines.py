"""Time all engines on the same pairs, in turns: pairs/s and steps/s.

python benchmarks/bench_engines.py --out benchmarks/results/engines.json
python benchmarks/bench_engines.py --engines mujoco warp --n-poses 1000 --repeats 1
"""

import json
import os
import platform
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess import AccessConfig, StillConfig, load_robot, make_engine, sample_poses
from kaccess.config import EngineConfig, EngineName
from kaccess.engines import Engine
from kaccess.poses import Poses


@dataclass(frozen=True)
class Config:
    """Settings of the benchmark."""

    robot: str = "bittle"
    """Name of a robot, or path of an MJCF file."""
    engines: tuple[EngineName, ...] = ("mujoco", "bullet")
    """Engines to time."""
    n_poses: int = 30
    """Number of poses; all pairs of them are estimated."""
    threads: int = 1
    """CPU threads of `mujoco`, processes of `bullet`; 0 takes all."""
    device: str | None = None
    """Device of `warp`."""
    repeats: int = 3
    """Repetitions of each run; the fastest counts."""
    out: Path | None = None
    """JSON file to write."""


def measure(engine: Engine, poses: Poses) -> dict[str, float]:
    """Simulate all pairs once and return the speed of the run."""
    n, config = len(poses), AccessConfig()
    source, goal = np.nonzero(~np.eye(n, dtype=bool))
    start, targets = poses.qpos[source], poses.joints[goal]
    begin = time.perf_counter()
    settled = engine.settle(start, targets, time_limit=config.time_limit)
    seconds = time.perf_counter() - begin
    at_rest = settled.time + StillConfig().window
    simulated = np.where(np.isfinite(at_rest), at_rest, config.time_limit)
    steps = float(simulated.sum() / poses.robot.timestep)
    return {
        "seconds": seconds,
        "pairs_per_s": len(source) / seconds,
        "steps_per_s": steps / seconds,
        "steps_per_pair": steps / len(source),
    }


def make(name: EngineName, poses: Poses, config: Config) -> tuple[Engine, float]:
    """Return an engine that has run once, and the time until it was ready [s]."""
    begin = time.perf_counter()
    device = config.device if name == "warp" else None
    settings = EngineConfig(engine=name, threads=config.threads, device=device)
    engine = make_engine(settings, poses.robot)
    engine.settle(poses.qpos[:2], poses.joints[:2], time_limit=0.2)
    return engine, time.perf_counter() - begin


def measure_best(
    engines: dict[EngineName, Engine], poses: Poses, config: Config
) -> dict[EngineName, dict[str, float]]:
    """Return the fastest run of each engine."""
    best: dict[EngineName, dict[str, float]] = {}
    for _ in range(config.repeats):
        for name, engine in engines.items():
            run = measure(engine, poses)
            if name not in best or run["seconds"] < best[name]["seconds"]:
                best[name] = run
    return best


def main(config: Config) -> None:
    poses = sample_poses(load_robot(config.robot), config.n_poses)
    engines: dict[EngineName, Engine] = {}
    ready: dict[EngineName, float] = {}
    for name in config.engines:
        engines[name], ready[name] = make(name, poses, config)
    best = measure_best(engines, poses, config)
    slowest = min(run["pairs_per_s"] for run in best.values())
    print("engine   pairs/s    steps/s  steps/pair  ready after [s]  x slowest")
    for name, run in best.items():
        print(
            f"{name:<7} {run['pairs_per_s']:8.0f} {run['steps_per_s']:10.0f}  "
            f"{run['steps_per_pair']:10.0f}  {ready[name]:15.1f}  "
            f"{run['pairs_per_s'] / slowest:9.1f}"
        )
    if config.out:
        record = {
            "config": asdict(config),
            "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
            "ready_s": ready,
            "runs": best,
        }
        config.out.parent.mkdir(parents=True, exist_ok=True)
        config.out.write_text(json.dumps(record, indent=2, default=str) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Config))
