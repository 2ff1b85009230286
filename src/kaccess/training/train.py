"""Training on a study: a population of learners, and tests of its learning curve."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kaccess.base.errors import TrainingError
from kaccess.base.types import Array, TrainProgress
from kaccess.config import (
    EngineConfig,
    EngineName,
    Ranges,
    SacConfig,
    Threads,
    TrainConfig,
    check_number,
)
from kaccess.envs.conditions import Conditions
from kaccess.envs.observations import describe_observation
from kaccess.envs.robot_env import RobotVectorEnv
from kaccess.envs.task import Task
from kaccess.envs.tasks import make_task
from kaccess.evaluation.held_out import choose_poses, find_test_poses
from kaccess.evaluation.pose_test import PoseTest, Scores
from kaccess.robots import ROBOTS, Robot
from kaccess.study import RunsName, Study
from kaccess.training.learners import (
    claim_learners,
    make_learners,
    make_warm_up,
    name_checkpoint,
)
from kaccess.training.simulator import find_simulator

if TYPE_CHECKING:  # torch is loaded only to train
    from kaccess.sac import Evaluate, PolicySet

__all__ = [
    "describe_policy",
    "find_conditions",
    "find_task",
    "make_curve_test",
    "require_success",
    "train_learners",
]

_EPISODE_STEPS = 150  # of most tasks
_DRAWN_PER_POSE = 5  # poses to choose from, for each pose of a test


def train_learners(
    study: Study,
    config: TrainConfig,
    sac: SacConfig,
    *,
    device: str = "auto",
    n_threads: int = 0,
    progress: TrainProgress | None = None,
) -> Path:
    """Train a population of learners, or resume it.

    Args:
        study: Study that holds starts and guide.
        config: Task, starts, seeds and episodes.
        sac: Settings of the learners.
        device: Device of the learners: `cpu`, `cuda` or `auto`.
        n_threads: CPU threads of physics and learners; 0 takes all.
        progress: Called a few times per second.

    Returns:
        The folder of the runs.

    Raises:
        InputError: If starts, settings or folder cannot be used.
        TrainingError: If all learners broke down.
    """
    check_number(Threads, threads=n_threads)
    from kaccess.sac import CurveTests, Plan, RunFolder, train

    conditions = find_conditions(config)
    simulator = find_simulator(config, device, n_threads)
    task = find_task(study, config, conditions)
    sac = sac.fill_in(return_steps=task.return_steps, episode_steps=task.episode_steps)
    learners = make_learners(
        study, config, task, conditions=conditions, n_threads=n_threads
    )
    names, checkpoint = [each.name for each in learners], name_checkpoint(config)
    folder = study.runs_folder(RunsName(task.name, conditions.text))
    with claim_learners(folder, names, checkpoint=checkpoint):
        evaluate = make_curve_test(
            *(study, config, task, conditions),
            n_learners=len(learners),
            n_threads=n_threads,
        )
        n_envs = sac.envs_per_learner
        plan = Plan(
            names,
            seeds=[each.seed for each in learners],
            n_steps=config.episodes * task.episode_steps,
            warm_up=make_warm_up(study, learners, task, envs_per_learner=n_envs),
            metadata=describe_policy(
                task, study.robot, conditions, engine=config.engine
            ),
        )
        trained = train(
            RobotVectorEnv(
                len(names) * n_envs,
                task,
                robot=study.robot,
                starts=[each.starts for each in learners for _ in range(n_envs)],
                conditions=conditions,
                engine=simulator,
            ),
            sac,
            plan=plan,
            folder=RunFolder(folder, checkpoint),
            device=device,
            n_threads=n_threads,
            tests=CurveTests(
                evaluate, config.test_every * task.episode_steps, ("success", "reward")
            ),
            progress=progress,
        )
    require_success(trained.stopped, names, folder)
    return folder


def find_task(study: Study, config: TrainConfig, conditions: Conditions) -> Task:
    """Return the task to learn, with episodes of the length that was chosen."""
    task = conditions.adapt(make_task(config.task, study.robot))
    n_tested = round(study.robot.test_seconds * task.control_rate)
    usual = max(n_tested, min(task.episode_steps, _EPISODE_STEPS))
    return replace(task, episode_steps=config.episode_steps or usual)


def find_conditions(config: TrainConfig) -> Conditions:
    """Return the conditions of a training, drawn ones and observations included."""
    conditions = Conditions.parse(config.conditions)
    if config.randomize:
        conditions = replace(conditions, randomize=1)
    if config.observe != "joints":
        conditions = replace(conditions, observe=config.observe)
    return conditions


def require_success(
    stopped: Mapping[str, str], names: Sequence[str], folder: Path
) -> None:
    """Raise `TrainingError` if no learner has reached the end."""
    if len(stopped) == len(names):
        first, *_ = stopped.values()
        raise TrainingError(
            f"All learners broke down: {first} Their curves are in {folder}. To train "
            "them again with other settings, such as a lower learning rate, delete "
            "their checkpoint there and their folders."
        )


def make_curve_test(
    study: Study,
    config: TrainConfig,
    task: Task,
    conditions: Conditions,
    *,
    n_learners: int,
    n_threads: int = 0,
    every: int | None = None,
) -> "Evaluate":
    """Return the test of the learning curve: all learners from the same poses.

    Args:
        study: Study that holds the test poses.
        config: Number of poses, and whether they are drawn anew.
        task: Task to test.
        conditions: Conditions of the test.
        n_learners: Number of learners.
        n_threads: CPU threads of the physics; 0 takes all.
        every: Steps between two tests; by default those of SAC.
    """
    n, steps_between = (
        config.test_poses,
        every or config.test_every * task.episode_steps,
    )
    n_drawn = _DRAWN_PER_POSE * n if config.test_anew else n
    held_out = find_test_poses(study, task, "curve", n_drawn, n_threads=n_threads)
    poses = held_out.poses
    tester = PoseTest(
        task,
        study.robot,
        poses.qpos[:n],
        conditions=conditions,
        n_policies=n_learners,
        engine=EngineConfig(engine=config.tested_in, threads=n_threads),
    )

    def test(policies: "PolicySet", step: int) -> dict[str, Array]:
        def act(obs: Array) -> Array:
            actions = policies.act_all(obs.reshape(n_learners, n, -1))
            return actions.reshape(len(obs), -1)

        if config.test_anew:
            number = step // steps_between
            tester.place(choose_poses(study, poses, n, number=number))
        scores = tester.score(act)
        held_out.store()  # not before: training may be refused
        return _average(scores, n_learners)

    return test


def _average(scores: Scores, n_learners: int) -> dict[str, Array]:
    """Return the scores of each learner over its poses, (n_learners,) by name."""
    each = {
        "reward": scores.reward,
        "success": scores.success.astype(np.float64),
        "success_loose": scores.success_loose.astype(np.float64),
    }
    means = {
        name: values.reshape(n_learners, -1).mean(axis=1)
        for name, values in each.items()
    }
    spread = scores.reward.reshape(n_learners, -1).std(axis=1)
    return means | {"reward_sd": spread}


def describe_policy(
    task: Task,
    robot: Robot,
    conditions: Conditions | None = None,
    *,
    engine: EngineName = "mujoco",
) -> dict[str, Any]:
    """Return the metadata of a policy: all that is needed to run it on the robot.

    Actions of -1 and 1 are the ends of a joint's range. Each target is mixed with the
    last one by `low_pass`. Only what is unusual is named, so that older trainings can
    be resumed: conditions, observations other than `joints`, a simulator other than
    MuJoCo.
    """
    task, conditions = task.fit_to(robot), conditions or Conditions()
    n_delayed = conditions.count_delay_steps(task.control_rate)
    observation = describe_observation(conditions.observe, robot, n_delayed=n_delayed)
    spec = ROBOTS.get(robot.source)
    return {
        "task": task.name,
        "robot": robot.name,
        "model": robot.fingerprint,
        "control_rate_hz": task.control_rate,
        "low_pass": task.low_pass,
        "joints": list(robot.joint_names),
        "joint_range_rad": robot.joint_range.tolist(),
        "standing_rad": robot.standing_targets.tolist(),
        "firmware_joints": {
            str(index): name
            for index, name in (spec.firmware_joints if spec else {}).items()
        },
        **({"observation": observation} if conditions.observe != "joints" else {}),
        **({"conditions": conditions.text} if conditions.text else {}),
        **({"randomize": _describe_ranges(robot)} if conditions.randomize else {}),
        **({"engine": engine} if engine != "mujoco" else {}),
    }


def _describe_ranges(robot: Robot) -> dict[str, list[float]]:
    """Return what conditions were drawn from, for the metadata of a policy."""
    ranges = asdict(robot.scale.fit(Ranges()))
    return {name: [float(end) for end in ends] for name, ends in ranges.items()}
