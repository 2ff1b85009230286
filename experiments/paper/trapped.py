"""Count the poses of a study that nothing known gets up from.

python experiments/paper/trapped.py runs/teleport

Three ways to get up are tried from every pose of the study: the replays of its plan,
the guide, which follows the plan in the task, and Bittle's shipped policy. A joint is
jammed if it stays far from its standing position while that is commanded.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess.base.stats import wilson
from kaccess.base.types import BoolArray
from kaccess.config import DEFAULT_TASK, EngineConfig
from kaccess.engines import make_engine
from kaccess.envs.tasks import make_task
from kaccess.evaluation.pose_test import PoseTest
from kaccess.guide import Guide, follow_guide
from kaccess.policies.shipped import find_shipped
from kaccess.study import Study

FAR = 0.5  # [rad]


@dataclass(frozen=True)
class Config:
    """Study to try."""

    study: tyro.conf.Positional[Path]
    """Folder of a study of Bittle, with its times."""
    threads: int = 0
    """CPU threads; 0 takes all."""


def main(config: Config) -> None:
    study = Study(config.study)
    ways = find_ways(study, config.threads)
    n = study.n_poses
    for name, stands in (*ways.items(), ("any of these", np.any([*ways.values()], 0))):
        share = wilson(int(stands.sum()), n).text(".1%")
        print(f"{name}: stands up from {stands.sum()} of {n} poses, {share}")
    jammed = find_jammed(study, config.threads)
    print(f"jammed joint: {np.sum(jammed & ~stands)} of the {np.sum(~stands)} others")
    print(f"and {np.sum(jammed & stands)} of the {stands.sum()} that stand up")


def find_ways(study: Study, n_threads: int) -> dict[str, BoolArray]:
    """Return from which poses each way stands up, (n,)."""
    qpos, robot = study.poses.qpos, study.robot
    task = make_task(DEFAULT_TASK, robot)
    test = PoseTest(task, robot, qpos, engine=EngineConfig(threads=n_threads))
    guide = Guide.of(study, len(qpos), task=task)
    policy = find_shipped(robot.name, task.name)
    n_moves = study.n_moves
    assert n_moves is not None
    return {
        "replays": np.asarray(n_moves > 0),
        "guide": test.score(follow_guide(guide)).success,
        "shipped policy": test.score(policy.act).success,
    }


def find_jammed(study: Study, n_threads: int) -> BoolArray:
    """Return which poses have a jammed joint, (n,)."""
    robot, qpos = study.robot, study.poses.qpos
    engine = make_engine(EngineConfig(threads=n_threads), robot, study.still)
    targets = np.tile(robot.standing_targets, (len(qpos), 1))
    limit = study.access_config.time_limit
    ended = robot.get_joints(engine.settle(qpos, targets, time_limit=limit).qpos)
    return np.asarray((np.abs(ended - targets) > FAR).any(axis=1))


if __name__ == "__main__":
    main(tyro.cli(Config))
