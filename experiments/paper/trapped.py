"""Count the poses of a study that nothing known gets up from.

python experiments/paper/trapped.py runs/teleport --free ka

Three ways to get up are tried from every pose of the study: the replays of its plan,
the guide, which follows the plan in the task, and Bittle's shipped policy. A joint is
jammed if it stays far from its standing position while that is commanded. `--free ka`
stores the centroids without a jam as the starts `ka-free`, to train from them.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess.base.stats import wilson
from kaccess.base.types import Array, BoolArray
from kaccess.config import DEFAULT_TASK, AccessConfig, EngineConfig
from kaccess.engines import Engine, make_engine
from kaccess.envs.tasks import make_task
from kaccess.evaluation.pose_test import PoseTest
from kaccess.guide import Guide, follow_guide
from kaccess.policies.shipped import find_shipped
from kaccess.poses import sample_poses
from kaccess.robots import Robot
from kaccess.starts import InitialStates
from kaccess.study import Study

FAR = 0.5  # [rad]


@dataclass(frozen=True)
class Config:
    """Study to try."""

    study: tyro.conf.Positional[Path]
    """Folder of a study of Bittle, with its times."""
    seeds: int = 5
    """Number of seeds with which as many poses are drawn and checked for jams."""
    free: str = ""
    """Kind of starts to store without its jammed ones, with `-free` after its name."""
    threads: int = 0
    """CPU threads; 0 takes all."""


def main(config: Config) -> None:
    study = Study(config.study)
    ways = find_ways(study, config.threads)
    n = study.n_poses
    for name, stands in (*ways.items(), ("any of these", np.any([*ways.values()], 0))):
        share = wilson(int(stands.sum()), n).text(".1%")
        print(f"{name}: stands up from {stands.sum()} of {n} poses, {share}")
    engine = make_engine(EngineConfig(threads=config.threads), study.robot, study.still)
    jammed = find_jammed(study.robot, study.poses.qpos, engine)
    print(f"jammed joint: {np.sum(jammed & ~stands)} of the {np.sum(~stands)} others")
    print(f"and {np.sum(jammed & stands)} of the {stands.sum()} that stand up")
    count_by_seed(study, config.seeds, engine)
    count_by_starts(study, engine)
    if config.free:
        store_free(study, config.free, engine)
    if jammed.any():
        count_moves(study, jammed)


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


def find_jammed(robot: Robot, qpos: Array, engine: Engine) -> BoolArray:
    """Return which states, (n, nq), have a jammed joint, (n,)."""
    targets = np.tile(robot.standing_targets, (len(qpos), 1))
    limit = robot.scale.fit(AccessConfig()).time_limit
    ended = robot.get_joints(engine.settle(qpos, targets, time_limit=limit).qpos)
    return np.asarray((np.abs(ended - targets) > FAR).any(axis=1))


def count_by_seed(study: Study, n_seeds: int, engine: Engine) -> None:
    """Print the number of jammed poses for several seeds of the study's draw."""
    for seed in range(n_seeds):
        poses = sample_poses(
            study.robot, study.n_poses, seed=seed, config=study.sampling, engine=engine
        )
        jammed = find_jammed(study.robot, poses.qpos, engine)
        print(f"seed {seed}: {jammed.sum()} of {len(poses)} poses have a jammed joint")


def count_by_starts(study: Study, engine: Engine) -> None:
    """Print the number of jammed poses among each kind of starts of the study."""
    for path in sorted((study.path / "starts").glob("[!.]*.npz")):
        qpos = InitialStates.load(path).qpos
        jammed = find_jammed(study.robot, qpos, engine)
        share = wilson(int(jammed.sum()), len(qpos)).text(".1%")
        print(f"{path.stem}: {jammed.sum()} of {len(qpos)} starts are jammed, {share}")


def store_free(study: Study, kind: str, engine: Engine) -> None:
    """Store the starts of a kind that have no jammed joint, as a kind of their own."""
    folder = study.path / "starts"
    starts = InitialStates.load(folder / f"{kind}.npz")
    free = ~find_jammed(study.robot, starts.qpos, engine)
    starts.select(free).save(folder / f"{kind}-free.npz")


def count_moves(study: Study, jammed: BoolArray) -> None:
    """Print how many moves reach their goals, between jammed poses and others."""
    reached = np.isfinite(study.times) & ~np.eye(len(jammed), dtype=bool)
    sides = {"jammed": jammed, "other": ~jammed}
    for before, rows in sides.items():
        for after, columns in sides.items():
            share = reached[np.ix_(rows, columns)].mean()
            print(f"from {before} to {after} poses: {share:.2%} of moves reach them")


if __name__ == "__main__":
    main(tyro.cli(Config))
