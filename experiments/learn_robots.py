"""Do guided learners of real robots learn faster than unguided ones? How well?

python experiments/learn_robots.py runs/atlas/unitree_go1 runs/atlas/b2
python experiments/learn_robots.py runs/bittle --starts guided-rnd --seeds 1 \
    --engine mujoco --out one

For each study: ten learners with the guide and ten without it, all at once on a GPU,
from the same starts. Then the last policies are tested from held-out poses. It writes
`<out>/<robot>.csv` with the curves, `<robot>-scores.csv`, and `<robot>.json` with
times: those of each test count from the start of the training, tests included. Run it
again to resume. The studies are those of `experiments/atlas.py`.
"""

import csv
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import tyro

from kaccess import Study, pipeline
from kaccess.base.errors import InputError
from kaccess.base.json_files import write_json
from kaccess.base.machine import describe_machine
from kaccess.config import (
    MANY_ROBOTS,
    EngineConfig,
    EngineName,
    EvaluateConfig,
    SacConfig,
    TrainConfig,
)
from kaccess.evaluation import Evaluation
from kaccess.evaluation.comparison import format_comparison
from kaccess.evaluation.curves import load_curves, save_curves
from kaccess.training.train import find_conditions, find_task

_TESTED = ("success", "reward", "reward_sd")  # progress says them after each test


@dataclass(frozen=True)
class Config:
    """Studies, and how far their learners are trained."""

    studies: tyro.conf.Positional[tuple[Path, ...]]
    """Folders of studies; the name of each is that of its robot."""
    out: Path = Path("results/robots/learned")
    """Folder of the tables."""
    starts: tuple[str, ...] = ("guided-fresh", "fresh")
    """Kinds of starts. The first is compared with the last."""
    seeds: int = 10
    """Learners of each kind."""
    first_seed: int = 0
    """First seed."""
    steps: int = 180_000
    """Steps of each learner, over all its robots."""
    tests: int = 12
    """Tests of the learning curve."""
    test_poses: int = 100
    """Poses of each of these tests, drawn anew."""
    poses: int = 1000
    """Held-out poses of the final test; 0 for none."""
    minutes: float = 0.0
    """Stop each training after this time, to be resumed later [min]; 0 for no limit."""
    engine: EngineName = "warp"
    """Simulator of training and tests."""
    device: str = "cuda"
    """Device of the learners."""
    threads: int = 0
    """CPU threads; 0 takes all."""
    sac: SacConfig = replace(  # noqa: RUF009  # frozen
        MANY_ROBOTS, envs_per_learner=256, updates=32, hidden=(256, 256)
    )
    """Settings of the learners."""


class Clock:
    """Prints scores as they come, and interrupts the training when its time is over."""

    def __init__(self, minutes: float) -> None:
        self._began, self._minutes = time.monotonic(), minutes
        self._last: Mapping[str, float] = {}
        self.tests: list[tuple[int, float]] = []  # steps and seconds

    @property
    def seconds(self) -> float:
        """Seconds since it was made."""
        return round(time.monotonic() - self._began, 1)

    def progress(self, done: int, total: int, metrics: Mapping[str, float]) -> None:
        """Print a line per test."""
        scored = {name: metrics[name] for name in _TESTED if name in metrics}
        if scored != self._last:
            self._last = scored
            self.tests.append((done, self.seconds))
            scores = ", ".join(f"{name} {value:.3g}" for name, value in metrics.items())
            print(f"{done:,} of {total:,}, {self.seconds} s: {scores}", flush=True)
        if self._minutes and self.seconds > 60 * self._minutes:
            raise KeyboardInterrupt


def train(study: Study, config: Config) -> dict[str, Any]:
    """Train the learners of a robot; return how long it took, and store the curves."""
    plan = TrainConfig(
        starts=config.starts,
        seeds=config.seeds,
        first_seed=config.first_seed,
        test_poses=config.test_poses,
        engine=config.engine,
        test_engine=config.engine,
    )
    n_steps = find_task(study, plan, find_conditions(plan)).episode_steps
    episodes = config.steps // n_steps
    plan = replace(plan, episodes=episodes, test_every=episodes // config.tests)
    clock, complete = Clock(config.minutes), True
    try:
        pipeline.train(
            study,
            plan,
            config.sac,
            device=config.device,
            n_threads=config.threads,
            progress=clock.progress,
        )
    except KeyboardInterrupt:
        complete = False
    folder = study.path / "train" / plan.task
    save_curves(folder, config.out / f"{study.path.name}.csv")
    try:
        curves = load_curves(folder, episode_steps=n_steps)
        if len(config.starts) > 1:
            planned, against = config.starts[0], config.starts[-1]
            print(format_comparison(curves, against=against, planned=planned))
    except InputError as error:  # stopped after too few tests
        print(error)
    return {
        "train_seconds": clock.seconds,
        "tests": clock.tests,
        "complete": complete,
        "episode_steps": n_steps,
    }


def test(study: Study, config: Config) -> dict[str, Any]:
    """Test the last policies from held-out poses, and store their scores."""
    clock = Clock(0)
    engine = EngineConfig(engine=config.engine, threads=config.threads)
    plan = EvaluateConfig(poses=config.poses, held_out=True)
    scores = pipeline.evaluate(study, plan, engine=engine)
    write_scores(scores, config.out / f"{study.path.name}-scores.csv")
    return {"test_seconds": clock.seconds}


def write_scores(scores: Sequence[Evaluation], path: Path) -> None:
    """Write the scores of each policy, one line each."""
    rows = [
        {
            "learner": each.name,
            "poses": each.summary.n,
            "success": f"{each.summary.success.value:.4f}",
            "success_loose": f"{each.summary.success_loose.value:.4f}",
            "reward": f"{each.summary.reward:.2f}",
            "reward_sd": f"{each.summary.reward_sd:.2f}",
            "time": f"{each.summary.time:.2f}",
            "energy": f"{each.summary.energy:.2f}",
        }
        for each in scores
    ]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main(config: Config) -> None:
    config.out.mkdir(parents=True, exist_ok=True)
    for path in config.studies:
        study = Study(path)
        facts = train(study, config)
        if config.poses:
            facts |= test(study, config)
        facts |= {"machine": describe_machine()}
        write_json(config.out / f"{path.name}.json", facts)
        print(json.dumps({"robot": path.name, **facts}), flush=True)


if __name__ == "__main__":
    main(tyro.cli(Config))
