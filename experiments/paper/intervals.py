"""Test some policies of a study from many unseen poses, and write their scores.

python experiments/paper/intervals.py runs/paper --kinds ka rnd guided-rnd --best
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import tyro

from kaccess.envs.conditions import Conditions
from kaccess.envs.tasks import make_task
from kaccess.evaluation.held_out import get_test_poses
from kaccess.evaluation.policies import find_policies
from kaccess.evaluation.pose_test import PoseTest, summarize
from kaccess.guide import Guide, follow_guide
from kaccess.study import ROUTES, LearnerName, Study


@dataclass(frozen=True)
class Config:
    """Policies to test, and number of poses."""

    study: tyro.conf.Positional[Path]
    """Folder of the study."""
    kinds: tuple[str, ...] = ("ka", "rnd", "guided-rnd")
    """Kinds of starts whose policies are tested, all seeds."""
    best: bool = False
    """Test each learner's best policy, not its last one."""
    n_poses: int = 10_000
    """Number of test poses; no policy trained on them."""
    out: Path = Path("results/paper/ten-thousand-poses.csv")
    """Table to write; learners in it are not tested again."""


def main(config: Config) -> None:
    study, task = Study(config.study), make_task("fall-recovery")
    policies = find_policies(study, task, Conditions(), best=config.best)
    qpos = get_test_poses(study, task, "final", config.n_poses).qpos
    tester = PoseTest(task, study.robot, qpos)
    acts = {ROUTES: follow_guide(Guide.of(study, len(qpos), task=task))}
    acts |= {name: each.act for name, each in policies.items()}
    rows = list(csv.DictReader(config.out.open())) if config.out.exists() else []
    for name, act in acts.items():
        if LearnerName.parse(name).starts not in (ROUTES, *config.kinds):
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
