"""What of a guide helps? Learners that differ in how they are guided, side by side.

python experiments/guides.py runs/bittle runs/guides --table guides.csv
python experiments/compare_starts.py guides.csv --against none --levels 0.5 0.9
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import tyro
from kaccess.evaluation.learning import curve_test, policy_metadata, test_poses
from kaccess.stored import finished_times, load_poses

from kaccess.base.types import Array, BoolArray
from kaccess.cli.console import progress_bar
from kaccess.config import AccessConfig, SacConfig, from_settings
from kaccess.envs import RobotVectorEnv
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import Task, make_task
from kaccess.evaluation.curves import save_curves
from kaccess.guide.guide import Guide, GuidedWarmUp
from kaccess.poses import Poses
from kaccess.sac import train
from kaccess.study.study import Study
from kaccess.training.learners import find_starts

Kind = Literal[
    "none",  # random actions
    "routes",  # routes with noise, as `guided-rnd`
    "quiet",  # routes without noise
    "half",  # routes with noise, for half of the robots
    "few-poses",  # routes over the first 100 poses alone
    "stand",  # no graph: the command to stand, from anywhere, with noise
]


@dataclass(frozen=True)
class Config:
    """What is compared."""

    study: tyro.conf.Positional[Path]
    """Folder of the study, with its times and starts."""
    out: tyro.conf.Positional[Path]
    """Folder of the runs."""
    kinds: tuple[Kind, ...] = get_args(Kind)
    """Which guides."""
    seeds: int = 6
    """Learners for each."""
    episodes: int = 120
    """Episodes of each learner."""
    test_every: int = 10
    """Episodes between two tests."""
    device: str = "cpu"
    """Where they learn."""
    sac: SacConfig = field(default_factory=lambda: SacConfig(envs_per_learner=8))
    """Settings of the learners."""
    table: Path | None = None
    """Where to write the curves as one table."""


class WarmUps:
    """The warm-ups of several kinds of learners, each for robots of its own.

    Args:
        parts: Guides with the rows of their robots; all others act at random.
    """

    def __init__(self, parts: Mapping[str, tuple[Guide, np.ndarray]]) -> None:
        self._rows = {kind: rows for kind, (_, rows) in parts.items()}
        self._parts = {
            kind: GuidedWarmUp(guide, rows) for kind, (guide, rows) in parts.items()
        }

    def act(self, obs: Array, random: Array, began: BoolArray) -> Array:
        """Return actions of all robots."""
        actions = random.copy()
        for kind, part in self._parts.items():
            rows = self._rows[kind]
            actions[rows] = part.act(obs, random, began)[rows]
        return actions

    def get_state(self) -> dict[str, np.ndarray]:
        """Return all that the next actions depend on."""
        return {
            f"{kind}/{name}": each
            for kind, part in self._parts.items()
            for name, each in part.get_state().items()
        }

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from what `get_state` returned."""
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
    each = config.sac.envs_per_learner
    starts = find_starts(study, "rnd", task)
    test = test_poses(study, task, "curve", 100)
    robot = test.robot
    with progress_bar("Training", "steps of each learner") as bar:
        train(
            RobotVectorEnv(len(names) * each, task, robot=robot, starts=starts),
            config.sac,
            names=names,
            seeds=list(range(config.seeds)) * len(config.kinds),
            n_steps=config.episodes * task.episode_steps,
            out=config.out,
            device=config.device,
            meta=policy_metadata(task, robot),
            warm_up=WarmUps(find_guides(study, task, config)),
            evaluate=curve_test(
                task, test, n_learners=len(names), conditions=Conditions()
            ),
            evaluate_every=config.test_every * task.episode_steps,
            progress=lambda done, total, _: bar(done, total),
        )
    if config.table:
        save_curves(config.out, config.table)


def find_guides(
    study: Study, task: Task, config: Config
) -> dict[str, tuple[Guide, np.ndarray]]:
    """Return the guide of each kind that has one, and the robots that follow it."""
    poses, times, standing = load_poses(study), finished_times(study), study.to_standing
    access = from_settings(AccessConfig, study.settings["access"])
    n = config.seeds * config.sac.envs_per_learner
    found: dict[str, tuple[Guide, np.ndarray]] = {}
    for number, kind in enumerate(config.kinds):
        rows = number * n + np.arange(n)
        if kind == "none":
            continue
        few = slice(100) if kind == "few-poses" else slice(None)
        some = Poses(poses.robot, poses.qpos[few], poses.contacts[few])
        reach, up = times[few, few], standing[few]
        if kind == "stand":  # nothing leads anywhere: standing is tried
            reach, up = np.full_like(reach, np.inf), np.full_like(up, np.inf)
        if kind == "half":
            rows = rows[::2]
        guide = Guide(some, reach, up, len(rows), task=task, config=access)
        if kind == "quiet":
            guide.noise = 0.0
        found[kind] = guide, rows
    return found


if __name__ == "__main__":
    main(tyro.cli(Config))
