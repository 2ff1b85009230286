"""Test a shipped policy, or one in a file, on fresh poses.

python experiments/test_shipped.py bittle --out results/paper/shipped-policy.csv
python experiments/test_shipped.py robotis_op3/scene.xml --test-time 10 --draws move \
    --policy results/robots/learned/policies/robotis_op3.safetensors --poses 10000

Ours (`move`): the robot moves into a pose while it falls. The paper's (`teleport`): it
is dropped with random joints, which may be a tangle of legs that no motion leads into.
The poses come from a random stream that nothing else uses.
"""

from dataclasses import dataclass
from pathlib import Path

import tyro

from kaccess.base.csv_files import write_csv
from kaccess.config import (
    DEFAULT_TASK,
    Draw,
    EngineConfig,
    RobotConfig,
    SampleConfig,
    StillConfig,
    TaskName,
)
from kaccess.engines import make_engine
from kaccess.envs.tasks import make_task
from kaccess.evaluation.pose_test import PoseTest, summarize
from kaccess.policies import Policy
from kaccess.policies.shipped import find_shipped
from kaccess.poses import Stream, draw_poses
from kaccess.robots import load_robot


@dataclass(frozen=True)
class Config:
    """Policy to test, and from how many poses."""

    robot: tyro.conf.Positional[str]
    """Name or file of the robot."""
    policy: Path | None = None
    """File of the policy; by default the shipped one."""
    test_time: float | None = None
    """Time of a test [s]; by default that of the robot's size."""
    draws: tuple[Draw, ...] = ("move", "teleport")
    """How poses are drawn."""
    task: TaskName = DEFAULT_TASK
    """Task that the policy learned."""
    poses: int = 1000
    """Number of poses drawn each way; those that the task cannot start from are left
    out."""
    seed: int = 0
    """Seed of the poses."""
    threads: int = 0
    """CPU threads; 0 takes all."""
    out: Path | None = None
    """Table (CSV) to write."""


def main(config: Config) -> None:
    model = RobotConfig(test_time=config.test_time)
    robot, task = load_robot(config.robot, model), make_task(config.task)
    if config.policy:
        policy = Policy.load(config.policy)
        if policy.metadata["model"] != robot.fingerprint:
            raise SystemExit(f"{config.policy} is for another model of the robot.")
    else:
        policy = find_shipped(config.robot, task.name)
    engine = EngineConfig(threads=config.threads)
    simulator = make_engine(engine, robot, robot.scale.fit(StillConfig()))
    rows = []
    for draw in config.draws:
        sample = robot.scale.fit(
            SampleConfig(n=config.poses, seed=config.seed, draw=draw)
        )
        poses, _ = draw_poses(robot, sample, engine=simulator, stream=Stream.HELD_OUT)
        qpos = poses.qpos[task.qualifies(poses.qpos)]
        test = PoseTest(task, robot, qpos, engine=engine)
        found = summarize(test.score(policy.act))
        rows.append(
            {
                "robot": config.robot,
                "task": task.name,
                "draw": draw,
                "seed": f"{config.seed}",
                "poses": f"{found.n}",
                "success": f"{found.success.value:.4f}",
                "low": f"{found.success.low:.4f}",
                "high": f"{found.success.high:.4f}",
                "success_loose": f"{found.success_loose.value:.4f}",
                "seconds": f"{found.time:.2f}",
            }
        )
        print(f"{draw}, {found.n} poses: {found.success.text('.1%')}", flush=True)
    if config.out:
        write_csv(config.out, rows)


if __name__ == "__main__":
    main(tyro.cli(Config))
