"""Does a guide help PPO? Train from several kinds of starts, and test on unseen poses.

python experiments/ppo.py runs/bittle results/ppo/bittle --seeds 4 --minutes 9
python experiments/ppo.py runs/go1 results/ppo/go1 --seeds 10 --engine warp \
    --device cuda --ppo.episode-steps 150

Run it again to resume. A training does not depend on how often it was interrupted, but
its clock does: it goes on from the last test. Learners that share a machine slow one
another down. For times, train with one job, without interruption.
"""

import json
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from kaccess import Study, pipeline
from kaccess.base.json_files import read_json, write_json
from kaccess.base.machine import describe_machine
from kaccess.config import (
    CloneConfig,
    EngineConfig,
    EngineName,
    EvaluateConfig,
    PpoConfig,
    TrainConfig,
)
from kaccess.evaluation.curves import IN_ROW, save_curves
from kaccess.study import RunsName
from kaccess.study.names import name_kind

LEVELS = (0.95, 0.99)


@dataclass(frozen=True)
class Config:
    """Kinds of starts to compare, and for how long."""

    study: tyro.conf.Positional[Path]
    """Folder of the study; it needs times and starts."""
    out: tyro.conf.Positional[Path]
    """Where to write: `<out>.csv` with all curves, `<out>.json` with the summary."""
    starts: tuple[str, ...] = ("guided-rnd", "rnd", "along-rnd", "rollin-rnd", "drop")
    """Kinds of starts."""
    task: str = "fall-recovery"
    """Task to learn."""
    seeds: int = 2
    """Learners of each kind."""
    first_seed: int = 0
    """First seed."""
    test_poses: int = 500
    """Poses of each test of the curves, the same in all tests."""
    test_engine: EngineName | None = None
    """Simulator of these tests; by default MuJoCo."""
    poses: int = 1000
    """Poses of the final test; 0 for none."""
    held_out: bool = True
    """Whether the final test is from held-out poses."""
    minutes: float = 0.0
    """Stop after this time, to be resumed later [min]; 0 for no limit."""
    jobs: int = 1
    """Learners that train at the same time, each in a process of its own."""
    engine: EngineName = "mujoco"
    """Simulator to learn in."""
    device: str = "cpu"
    """Device of the learners."""
    threads: int = 0
    """CPU threads of each job; 0 takes all."""
    ppo: PpoConfig = field(default_factory=PpoConfig)
    """Settings of the learners."""
    clone: CloneConfig = field(default_factory=CloneConfig)
    """Settings of the clones that guided learners begin as."""

    @property
    def learners(self) -> Iterator[tuple[str, int]]:
        """Kind and seed of each learner: one seed of each kind, then the next."""
        for seed in range(self.first_seed, self.first_seed + self.seeds):
            for kind in self.starts:
                yield kind, seed


class Clock:
    """Writes down when a learner was how good.

    The time begins before its starts are drawn and its clone is trained, and goes on
    during tests.

    Args:
        path: JSON file with rows of seconds, steps, and success in the last test.
        every: Steps between two tests.
        end: Time to stop at, by `time.time` [s].
    """

    def __init__(self, path: Path, every: int, end: float) -> None:
        self._path, self._every, self._end = path, every, end
        self.rows: list[list[float]] = []
        if path.exists():
            self.rows = read_json(path, "Delete it.")["rows"]
        before = self.rows[-1][0] if self.rows else 0.0
        self._began = time.monotonic() - before

    def progress(self, done: int, total: int, metrics: Mapping[str, float]) -> None:
        """Write down the time after each test; interrupt the training at the end."""
        seconds = round(time.monotonic() - self._began, 2)
        n_before = self.rows[-1][1] // self._every if self.rows else 0
        if done // self._every > n_before and "success" in metrics:
            self.rows.append([seconds, done, metrics["success"]])
            write_json(self._path, {"rows": self.rows})
            print(
                f"{self._path.stem}: {done:,} of {total:,} in {seconds:.0f} s,",
                ", ".join(f"{name} {value:.3g}" for name, value in metrics.items()),
                flush=True,
            )
        if time.time() > self._end:
            raise KeyboardInterrupt


def find_clock(config: Config, kind: str, seed: int) -> Path:
    """Return the file of the clock of a learner."""
    return config.study / "ppo-clocks" / f"{kind}-{seed}.json"


def train(config: Config, end: float, learner: tuple[str, int]) -> bool:
    """Train a learner; return whether it came to its end."""
    kind, seed = learner
    if time.time() > end:
        return False
    plan = TrainConfig(
        task=config.task,
        algorithm="ppo",
        starts=(kind,),
        seeds=1,
        first_seed=seed,
        engine=config.engine,
        test_engine=config.test_engine,
        test_poses=config.test_poses,
        test_anew=False,
    )
    every = config.ppo.fit_to(config.engine).test_every
    path = find_clock(config, kind, seed)
    path.parent.mkdir(exist_ok=True)
    try:
        pipeline.train(
            config.study,
            plan,
            ppo=config.ppo,
            clone=config.clone,
            device=config.device,
            n_threads=config.threads,
            progress=Clock(path, every, end).progress,
        )
    except KeyboardInterrupt:
        if time.time() > end:
            return False
        raise  # Ctrl-C: no other learner begins
    return True


def train_all(config: Config) -> bool:
    """Train all learners; return whether all came to their ends."""
    end = time.time() + 60 * config.minutes if config.minutes else np.inf
    work = partial(train, config, end)
    if config.jobs == 1:
        return all([work(learner) for learner in config.learners])
    context = get_context("spawn")  # CUDA does not survive a fork
    with ProcessPoolExecutor(config.jobs, context) as pool:
        return all(list(pool.map(work, config.learners)))


def find_held(rows: list[list[float]], level: float) -> tuple[float, float] | None:
    """Return seconds and steps from which success stays at a level for three tests."""
    good = [success >= level for _, _, success in rows]
    for first in range(len(rows) - IN_ROW + 1):
        if all(good[first : first + IN_ROW]):
            return rows[first][0], rows[first][1]
    return None


def summarize(config: Config) -> dict[str, Any]:
    """Return seconds and steps to each level, and final success, of each learner."""
    final: dict[str, Any] = {}
    if config.poses:
        tests = pipeline.evaluate(
            config.study,
            EvaluateConfig(poses=config.poses, held_out=config.held_out),
            engine=EngineConfig(threads=config.threads),
        )
        final = {each.name: each.summary.success.value for each in tests}
    rows = {}
    for kind, seed in config.learners:
        clock = find_clock(config, kind, seed)
        if not clock.exists():
            continue
        times = read_json(clock, "Delete it.")["rows"]
        own = name_kind(kind, "ppo") + f"/seed-{seed}"
        rows[own] = {
            "seconds": times[-1][0],
            "steps": times[-1][1],
            "last_test": times[-1][2],
            "final": final.get(own),
        } | {f"held_{level:g}": find_held(times, level) for level in LEVELS}
    return rows


def main(config: Config) -> None:
    done = train_all(config)
    folder = Study(config.study).runs_folder(RunsName(config.task))
    config.out.parent.mkdir(parents=True, exist_ok=True)
    if not done:
        print("Stopped. Run the same command again to continue.")
        return
    save_curves(folder, config.out.with_suffix(".csv"))
    summary = {"machine": describe_machine(), "learners": summarize(config)}
    write_json(config.out.with_suffix(".json"), summary)
    print(json.dumps(summary, indent=2))


if __name__ == "__main__":
    main(tyro.cli(Config))
