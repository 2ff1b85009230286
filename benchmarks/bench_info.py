"""Measure memory and time of `kaccess info` on a large synthetic study, on Linux.

    python benchmarks/bench_info.py --out benchmarks/results/info.json

The study has 10,000 poses, stored as `kaccess access` stores them. Its moves are made
up: a quarter reach their goals and land there, the others land anywhere.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess import AccessConfig, pipeline
from kaccess.access import Landings, Outcome, merge_rows
from kaccess.base.machine import describe_machine
from kaccess.base.types import Array
from kaccess.config import ClusterConfig, SampleConfig
from kaccess.poses import Poses
from kaccess.study import Study
from kaccess.study.transitions import record_access

# The peak of the system's `getrusage` would include this process, its parent.
CHILD = """
import re, sys, time
from pathlib import Path
from kaccess.cli import main
main(sys.argv[1:])
peak = re.search("VmHWM:[^0-9]*([0-9]+)", Path("/proc/self/status").read_text())[1]
print(time.process_time(), peak)
"""


@dataclass(frozen=True)
class Config:
    """Settings of the benchmark."""

    n: int = 10_000
    """Number of poses."""
    folder: Path | None = None
    """Folder of the studies, to keep them; studies that it holds are used again."""
    out: Path | None = None
    """JSON file to write."""


def make_study(path: Path, few: Study, n: int) -> Study:
    """Write a study of poses near a few real ones, with moves that are made up."""
    rng, poses = np.random.default_rng(0), few.poses
    which = rng.integers(len(poses), size=n)
    qpos = poses.qpos[which]
    qpos[:, 7:] += 0.01 * rng.normal(size=qpos[:, 7:].shape)
    settings = {key: few.settings[key] for key in few.settings if key != "format"}
    settings["sample"] = settings["sample"] | {"n": n}
    large = Poses(few.robot, qpos, poses.contacts[which])
    study = Study.store(path, settings, large)
    record_access(study, few.robot.scale.fit(AccessConfig()), "mujoco")
    study.record("standing", {"rests": True})
    _write_moves(study, rng)
    return study


def _write_moves(study: Study, rng: np.random.Generator) -> None:
    """Fill the arrays of a study with moves, some rows at a time."""
    n, arrays = study.n_poses, study.arrays
    to_standing = _draw_times(rng, (n,), 0.2)
    landings = _draw_landings(rng, to_standing, np.int32(n))
    arrays.write_standing(landings, study.robot.standing)
    study.to_standing = to_standing
    arrays.write_n_moves(rng.integers(1, 4, size=n))
    for rows in merge_rows(arrays.tiles(), 100):
        times = _draw_times(rng, (len(rows), n), 0.25)
        times[np.arange(len(rows)), rows] = 0.0
        outcomes = np.where(np.isfinite(times), Outcome.REACHED, Outcome.ELSEWHERE)
        landings = _draw_landings(rng, times, np.arange(n, dtype=np.int32))
        arrays.write_rows(rows, times, outcomes, landings)


def _draw_times(
    rng: np.random.Generator, shape: tuple[int, ...], share: float
) -> Array:
    """Return times of moves [s] in steps of 4 ms, of which a share reached the goal."""
    times = 0.004 * rng.integers(100, 500, size=shape)
    return np.where(rng.random(shape) < share, times, np.inf).astype(np.float32)


def _draw_landings(
    rng: np.random.Generator, times: Array, goals: np.ndarray | np.int32
) -> Landings:
    """Return landings: at the goals where these are reached, or else anywhere."""
    reached = np.isfinite(times)
    anywhere = rng.integers(times.shape[-1], size=times.shape, dtype=np.int32)
    distance = np.where(reached, 1, 5) * rng.random(times.shape, np.float32)
    return Landings(
        np.where(reached, goals, anywhere), distance, rng.random(times.shape)
    )


def measure(*args: str) -> dict[str, float]:
    """Run a command; return its peak memory [MB], CPU time and wall time [s]."""
    began = time.perf_counter()
    command = [sys.executable, "-c", CHILD, *args]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cpu, peak = done.stdout.split()[-2:]
    return {
        "peak_mb": int(peak) / 1000,
        "cpu_s": float(cpu),
        "wall_s": time.perf_counter() - began,
    }


def run(folder: Path, config: Config) -> dict[str, dict[str, float]]:
    """Return what each command took, on a small study and on the large one."""
    few = pipeline.sample("bittle", folder / "few", SampleConfig(n=20))
    pipeline.access(few, AccessConfig())
    large = folder / "large"
    study = Study(large) if large.exists() else make_study(large, few, config.n)
    shutil.rmtree(large / "clusters", ignore_errors=True)
    found = {"20 poses: info": measure("info", str(few.path))}
    for stage in ("no clusters", "clusters"):
        if stage == "clusters" and not study.read_jsons("clusters"):
            pipeline.cluster(study, ClusterConfig(k=20, solver="alternate", n_init=1))
        for command in (["info"], ["info", "--check"]):
            name = f"{config.n} poses, {stage}: {' '.join(command)}"
            found[name] = measure(command[0], str(large), *command[1:])
    return found


def main(config: Config) -> None:
    """Make the studies, measure, and print a table."""
    with tempfile.TemporaryDirectory() as scratch:
        found = run(config.folder or Path(scratch), config)
    matrix = 4 * config.n**2 / 1e6
    print(f"One matrix of times: {matrix:.0f} MB")
    for name, used in found.items():
        print(
            f"{name}: peak {used['peak_mb']:.0f} MB, {used['cpu_s']:.1f} s of CPU time"
        )
    if config.out:
        record = {
            "n": config.n,
            "matrix_mb": matrix,
            "machine": describe_machine(),
            "commands": found,
        }
        config.out.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main(tyro.cli(Config))
