"""Does a guide help PPO? Train from several kinds of starts, and test on unseen poses.

python experiments/ppo.py runs/bittle results/ppo/bittle --minutes 9
python experiments/ppo.py runs/go1 results/ppo/go1 --seeds 10 --device cuda

Run it again to resume. A training does not depend on how often it was interrupted.
"""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from kaccess import Study, pipeline
from kaccess.base.json_files import read_json, write_json
from kaccess.base.machine import describe_machine
from kaccess.config import EngineConfig, EvaluateConfig, PpoConfig, TrainConfig
from kaccess.evaluation.curves import Curves, load_curves, save_curves
from kaccess.study import RunsName
from kaccess.study.names import name_kind

TASK = "fall-recovery"
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
    seeds: int = 2
    """Learners of each kind."""
    poses: int = 1000
    """Poses of the final test."""
    minutes: float = 0.0
    """Stop after this time, to be resumed later [min]; 0 for no limit."""
    device: str = "cpu"
    """Device of the learners."""
    threads: int = 0
    """CPU threads; 0 takes all."""
    ppo: PpoConfig = field(default_factory=PpoConfig)
    """Settings of the learners."""


class Clock:
    """Adds up the seconds that each learner trains, over all runs of this script."""

    def __init__(self, path: Path, minutes: float) -> None:
        self._path = path
        self.seconds: dict[str, float] = {}
        if path.exists():
            self.seconds = read_json(path, "Delete it.")
        self._end = time.monotonic() + 60 * minutes if minutes else np.inf

    def make_progress(self, name: str) -> Any:  # noqa: ANN401  # a callback
        """Return a callback that counts the time of a learner, and stops at the end."""
        last = time.monotonic()

        def progress(done: int, total: int, metrics: Mapping[str, float]) -> None:
            nonlocal last
            now = time.monotonic()
            self.seconds[name] = self.seconds.get(name, 0.0) + now - last
            last = now
            write_json(self._path, self.seconds)
            print(f"{name}: {done:,} of {total:,}, {_show(metrics)}", flush=True)
            if now > self._end:
                raise KeyboardInterrupt

        return progress


def _show(metrics: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in metrics.items())


def train(config: Config, clock: Clock) -> None:
    """Train all learners: first one seed of each kind, then the next."""
    for seed in range(config.seeds):
        for kind in config.starts:
            plan = TrainConfig(algorithm="ppo", starts=(kind,), seeds=1)
            pipeline.train(
                config.study,
                replace(plan, first_seed=seed),
                ppo=config.ppo,
                device=config.device,
                n_threads=config.threads,
                progress=clock.make_progress(f"{kind}/{seed}"),
            )


def summarize(config: Config, clock: Clock) -> dict[str, Any]:
    """Return steps to each level, seconds and final success, by kind of starts."""
    folder = Study(config.study).runs_folder(RunsName(TASK))
    every = load_curves(folder, episode_steps=1)
    tests = pipeline.evaluate(
        config.study,
        EvaluateConfig(poses=config.poses),
        engine=EngineConfig(threads=config.threads),
    )
    final = {each.name: each.summary.success.value for each in tests}
    return {
        kind: _summarize_kind(every[name], name, final)
        | {
            "seconds": [
                clock.seconds.get(f"{kind}/{seed}") for seed in range(config.seeds)
            ]
        }
        for kind in config.starts
        if (name := name_kind(kind, "ppo")) in every
    }


def _summarize_kind(
    curves: Curves, name: str, final: Mapping[str, float]
) -> dict[str, Any]:
    reached = {}
    for level in LEVELS:
        if len(curves.episodes) >= 3:
            found = curves.durations(level)
            reached[f"steps_to_{level:g}"] = [
                float(steps) if happened else None
                for steps, happened in zip(found.times, found.happened, strict=True)
            ]
    return {
        **reached,
        "steps": float(curves.episodes[-1]),
        "best_test": curves.scores["success"].max(axis=1).tolist(),
        "last_test": curves.scores["success"][:, -1].tolist(),
        "final": {
            text: value for text, value in final.items() if text.startswith(f"{name}/")
        },
    }


def main(config: Config) -> None:
    clock = Clock(config.study / "ppo-seconds.json", config.minutes)
    try:
        train(config, clock)
    except KeyboardInterrupt:
        print("Stopped. Run the same command again to continue.")
        return
    config.out.parent.mkdir(parents=True, exist_ok=True)
    save_curves(
        Study(config.study).runs_folder(RunsName(TASK)), config.out.with_suffix(".csv")
    )
    summary = {"machine": describe_machine(), "kinds": summarize(config, clock)}
    write_json(config.out.with_suffix(".json"), summary)
    print(json.dumps(summary, indent=2))


if __name__ == "__main__":
    main(tyro.cli(Config))
