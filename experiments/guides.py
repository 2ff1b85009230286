"""Which part of a guide helps? Train learners that differ only in their guide.

python experiments/guides.py runs/bittle runs/guides --table guides.csv
python experiments/compare_starts.py guides.csv --against none --levels 0.5 0.9
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import tyro

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.cli.console import progress_bar
from kaccess.config import SacConfig, TrainConfig
from kaccess.envs import RobotVectorEnv
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import Task
from kaccess.envs.tasks import make_task
from kaccess.evaluation.curves import save_curves
from kaccess.guide import FastestRoutes, Guide
from kaccess.poses import Poses
from kaccess.sac import CurveTests, Plan, RunFolder, train
from kaccess.study import Study
from kaccess.study.starts import find_starts
from kaccess.training import GuidedWarmUp
from kaccess.training.train import describe_policy, make_curve_test

Kind = Literal[
    "none",  # random actions
    "routes",  # routes with noise, as `guided-rnd`
    "quiet",  # routes without noise
    "half",  # routes with noise, for half of the robots
    "few-poses",  # routes over the first 100 poses only
    "stand",  # no routes: the command to stand, from any pose, with noise
]


@dataclass(frozen=True)
class Config:
    """Guides to compare, and how."""

    study: tyro.conf.Positional[Path]
    """Folder of the study; it needs times and starts."""
    out: tyro.conf.Positional[Path]
    """Folder of the runs."""
    kinds: tuple[Kind, ...] = get_args(Kind)
    """Kinds of guides."""
    seeds: int = 6
    """Learners of each kind."""
    episodes: int = 120
    """Episodes of each learner."""
    test_every: int = 10
    """Episodes between two tests."""
    device: str = "cpu"
    """Device of the learners."""
    sac: SacConfig = field(default_factory=lambda: SacConfig(envs_per_learner=8))
    """Settings of the learners."""
    table: Path | None = None
    """File for the curves of all learners, as one table."""


class WarmUps:
    """Warm-ups of several kinds of learners, each for its own robots.

    Args:
        parts: Guide of each kind, and the rows of its robots. All other robots act at
            random.
    """

    def __init__(self, parts: Mapping[str, tuple[Guide, IntArray]]) -> None:
        self._rows = {kind: rows for kind, (_, rows) in parts.items()}
        self._parts = {
            kind: GuidedWarmUp(guide, rows) for kind, (guide, rows) in parts.items()
        }

    def act(self, obs: Array, random: Array, began: BoolArray) -> Array:
        """Return the actions of all robots."""
        actions = random.copy()
        for kind, part in self._parts.items():
            rows = self._rows[kind]
            actions[rows] = part.act(obs, random, began)[rows]
        return actions

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state that the next actions depend on."""
        return {
            f"{kind}/{name}": each
            for kind, part in self._parts.items()
            for name, each in part.get_state().items()
        }

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from what `get_state` returned."""
        for kind, part in self._parts.items():
            prefix = f"{kind}/"
            part.set_state(
                {
                    name.removeprefix(prefix): each
                    for name, each in state.items()
                    if name.startswith(prefix)
                }
            )


def main(config: Config) -> None:
    study, task = Study(config.study), make_task("fall-recovery")
    names = [
        f"{kind}/seed-{seed}" for kind in config.kinds for seed in range(config.seeds)
    ]
    plan = Plan(
        names,
        seeds=list(range(config.seeds)) * len(config.kinds),
        n_steps=config.episodes * task.episode_steps,
        warm_up=WarmUps(make_guides(study, task, config)),
        metadata=describe_policy(task, study.robot),
    )
    evaluate = make_curve_test(
        study, TrainConfig(), task, Conditions(), n_learners=len(names)
    )
    with progress_bar("Training", "steps of each learner") as bar:
        train(
            RobotVectorEnv(
                len(names) * config.sac.envs_per_learner,
                task,
                robot=study.robot,
                starts=find_starts(study, "rnd", task),
            ),
            config.sac,
            plan=plan,
            folder=RunFolder(config.out),
            device=config.device,
            tests=CurveTests(evaluate, config.test_every * task.episode_steps),
            progress=lambda done, total, _: bar(done, total),
        )
    if config.table:
        save_curves(config.out, config.table)


def make_guides(
    study: Study, task: Task, config: Config
) -> dict[str, tuple[Guide, IntArray]]:
    """Return the guide of each kind that has one, and the rows of its robots."""
    n = config.seeds * config.sac.envs_per_learner
    guides: dict[str, tuple[Guide, IntArray]] = {}
    for number, kind in enumerate(config.kinds):
        rows = number * n + np.arange(n)
        if kind == "half":
            rows = rows[::2]
        if kind != "none":
            guides[kind] = make_guide(study, task, kind, len(rows)), rows
    return guides


def make_guide(study: Study, task: Task, kind: Kind, n: int) -> Guide:
    """Return the guide of a kind for n robots."""
    few = slice(100) if kind == "few-poses" else slice(None)
    poses = Poses(study.robot, study.poses.qpos[few], study.poses.contacts[few])
    times, to_standing = study.finished_times[few, few], study.to_standing[few]
    if kind == "stand":  # without any move, the guide commands to stand
        times, to_standing = (np.full_like(x, np.inf) for x in (times, to_standing))
    plan = FastestRoutes(poses, times, to_standing, study.access_config)
    guide = Guide(plan, poses.robot, n, task=task)
    if kind == "quiet":
        guide.noise = 0.0
    return guide


if __name__ == "__main__":
    main(tyro.cli(Config))
