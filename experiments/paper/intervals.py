"""Test some policies of a study from many unseen poses, and write what came of it.

python experiments/paper/intervals.py runs/paper --kinds ka rnd guided-rnd --best
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import tyro
from kaccess.evaluation.learning import ROUTES, find_policies, kind_of, test_poses
from kaccess.stored import load_poses

from kaccess.envs.conditions import Conditions
from kaccess.envs.task import make_task
from kaccess.evaluation.pose_test import PoseTest, summarize
from kaccess.guide.guide import Guide, following
from kaccess.study.study import Study


@dataclass(frozen=True)
class Config:
    """What is tested, and on how many poses."""

    study: tyro.conf.Positional[Path]
    """Folder of the study."""
    kinds: tuple[str, ...] = ("ka", "rnd", "guided-rnd")
    """Starts whose policies are tested, all seeds."""
    best: bool = False
    """Test each learner's policy that did best on its curve, not its last."""
    n_poses: int = 10_000
    """Poses, none of which was learned from."""
    out: Path = Path("results/paper/ten-thousand-poses.csv")
    """Where the figures go; learners that are there already are left out."""


def main(config: Config) -> None:
    study, task = Study(config.study), make_task("fall-recovery")
    robot = load_poses(study).robot
    policies = find_policies(study.path, task, robot, Conditions(), best=config.best)
    qpos = test_poses(study, task, "final", config.n_poses).qpos
    tester = PoseTest(task, robot, qpos)
    acts = {ROUTES: following(Guide.of(study, len(qpos), task=task))}
    acts |= {name: each.act for name, each in policies.items()}
    rows = list(csv.DictReader(config.out.open())) if config.out.exists() else []
    for name, act in acts.items():
        if kind_of(name) not in (ROUTES, *config.kinds):
            continue
        if name in [row["learner"] for row in rows]:
            continue
        found = summarize(tester.score(act))
        rows.append(
            {
                "learner": name,
                "poses": found.n,
                "success": f"{found.success.value:.4f}",
                "low": f"{found.success.low:.4f}",
                "high": f"{found.success.high:.4f}",
                "reward": f"{found.reward:.2f}",
                "reward_sd": f"{found.reward_sd:.2f}",
                "seconds": f"{found.time:.2f}",
                "work": f"{found.energy:.2f}",
            }
        )
        with config.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(" ".join(f"{value}" for value in rows[-1].values()), flush=True)


if __name__ == "__main__":
    main(tyro.cli(Config))
