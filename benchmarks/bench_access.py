"""Time the accessibility estimate: pairs/s, physics steps/s, share inside MuJoCo.

python benchmarks/bench_access.py --out benchmarks/results/access.json
"""

import json
import os
import platform
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import tyro
from mujoco.batch import Batch

from kaccess import AccessConfig, StillConfig, load_robot, sample_poses
from kaccess.access import estimate_pairs
from kaccess.engines.mujoco import MujocoEngine
from kaccess.poses import Poses


@dataclass(frozen=True)
class Config:
    """Settings of the benchmark."""

    robot: str = "bittle"
    """Name of a robot, or path of an MJCF file."""
    n_poses: int = 100
    """Number of poses; all pairs of them are estimated."""
    threads: tuple[int, ...] = field(default=(1, os.cpu_count() or 1))
    """Numbers of threads, one run each."""
    repeats: int = 2
    """Repetitions of each run; the fastest counts."""
    out: Path | None = None
    """JSON file to write."""


class Stopwatch:
    """Measures time and counts physics steps inside MuJoCo's native calls."""

    def __init__(self) -> None:
        self.seconds, self.steps = 0.0, 0
        self._rollout, self._reset = Batch.rollout, Batch.reset

    def __enter__(self) -> "Stopwatch":
        def rollout(batch: Batch, nstep: int, **kwargs: Any) -> Any:  # noqa: ANN401
            self.steps += nstep * len(kwargs["ids"])
            return self._time(self._rollout, batch, nstep, **kwargs)

        def reset(batch: Batch, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            return self._time(self._reset, batch, *args, **kwargs)

        Batch.rollout, Batch.reset = rollout, reset
        return self

    def __exit__(self, *_: object) -> None:
        Batch.rollout, Batch.reset = self._rollout, self._reset

    def _time(self, call: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        start = time.perf_counter()
        result = call(*args, **kwargs)
        self.seconds += time.perf_counter() - start
        return result


def measure(poses: Poses, n_threads: int) -> dict[str, float]:
    """Estimate all pairs once and return the speed of the run."""
    n = len(poses)
    engine = MujocoEngine(poses.robot, StillConfig(), n_threads=n_threads)
    source, goal = np.repeat(np.arange(n), n), np.tile(np.arange(n), n)
    start = time.perf_counter()
    with Stopwatch() as native:
        estimate_pairs(poses, source, goal, AccessConfig(), engine=engine)
    wall = time.perf_counter() - start
    return {
        "threads": n_threads,
        "pairs_per_s": n * n / wall,
        "steps_per_s": native.steps / wall,
        "steps_per_pair": native.steps / (n * (n - 1)),
        "native_share": native.seconds / wall,
    }


def measure_best(config: Config) -> dict[int, dict[str, float]]:
    """Return the fastest run for each number of threads."""
    poses = sample_poses(load_robot(config.robot), config.n_poses)
    best: dict[int, dict[str, float]] = {}
    for _ in range(config.repeats):
        for n_threads in config.threads:
            run = measure(poses, n_threads)
            fastest = best.setdefault(n_threads, run)
            if run["pairs_per_s"] > fastest["pairs_per_s"]:
                best[n_threads] = run
    return best


def main(config: Config) -> None:
    best = measure_best(config)
    print("threads  pairs/s  steps/s  steps/pair  inside MuJoCo")
    for run in best.values():
        print(
            f"{run['threads']:7.0f}  {run['pairs_per_s']:7.0f}  "
            f"{run['steps_per_s']:7.0f}  {run['steps_per_pair']:10.0f}  "
            f"{run['native_share']:13.1%}"
        )
    first, last = best[config.threads[0]], best[config.threads[-1]]
    speed_up = last["pairs_per_s"] / first["pairs_per_s"]
    print(
        f"{last['threads']:.0f} threads are {speed_up:.2f} times as fast as "
        f"{first['threads']:.0f}."
    )
    if config.out:
        record = {
            "config": asdict(config),
            "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
            "mujoco": mujoco.__version__,
            "runs": list(best.values()),
            "speed_up": speed_up,
        }
        config.out.parent.mkdir(parents=True, exist_ok=True)
        config.out.write_text(json.dumps(record, indent=2, default=str) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Config))
