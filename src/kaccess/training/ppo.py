"""Training on a study by PPO: one learner after the other, each with many robots."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from kaccess.base.types import Array, TrainProgress
from kaccess.config import (
    EngineConfig,
    PpoConfig,
    Threads,
    TrainConfig,
    check_number,
)
from kaccess.envs.robot_env import RobotVectorEnv
from kaccess.envs.task import Task
from kaccess.envs.tasks import make_task
from kaccess.robots import Robot
from kaccess.study import LearnerName, RunsName, Study
from kaccess.study.names import name_population
from kaccess.training.learners import Learner, claim_learners, make_learners
from kaccess.training.train import (
    describe_policy,
    find_conditions,
    make_curve_test,
    require_success,
)

__all__ = ["train_by_ppo"]


def train_by_ppo(
    study: Study,
    config: TrainConfig,
    ppo: PpoConfig,
    *,
    device: str = "auto",
    n_threads: int = 0,
    progress: TrainProgress | None = None,
) -> Path:
    """Train learners by PPO, or resume them.

    Each learner has a checkpoint of its own, so that learners may be added at any time.

    Args:
        study: Study that holds starts and routes.
        config: Task, starts and seeds.
        ppo: Settings of the learners.
        device: Device of the learners: `cpu`, `cuda` or `auto`.
        n_threads: CPU threads of the physics; 0 takes all.
        progress: Called a few times per second, with the steps of all learners.

    Returns:
        The folder of the runs.

    Raises:
        InputError: If starts, settings or folder cannot be used.
        TrainingError: If all learners broke down.
    """
    check_number(Threads, threads=n_threads)
    import kaccess.ppo  # noqa: F401  # says early if it is not installed

    conditions = find_conditions(config)
    task = conditions.adapt(make_task(config.task, study.robot))
    learners = make_learners(
        study, config, task, conditions=conditions, n_threads=n_threads
    )
    folder = study.runs_folder(RunsName(task.name, conditions.text))
    stopped: dict[str, str] = {}
    for number, learner in enumerate(learners):
        part = _Part(progress, number, len(learners))
        stopped |= _train_one(
            *(study, config, ppo, task, learner, folder),
            device=device,
            n_threads=n_threads,
            progress=part.report if progress else None,
        )
    require_success(stopped, [each.name for each in learners], folder)
    return folder


def _train_one(
    study: Study,
    config: TrainConfig,
    ppo: PpoConfig,
    task: Task,
    learner: Learner,
    folder: Path,
    *,
    device: str,
    n_threads: int,
    progress: TrainProgress | None,
) -> dict[str, str]:
    """Train one learner; return a message, by its name, if it broke down."""
    from kaccess.ppo import HostEnv, train
    from kaccess.sac import CurveTests, Plan, RunFolder

    name, conditions = learner.name, find_conditions(config)
    kind = LearnerName.parse(name).starts
    checkpoint = name_population([kind], range(learner.seed, learner.seed + 1))
    with claim_learners(folder, [name], checkpoint=checkpoint):
        evaluate = make_curve_test(
            *(study, config, task, conditions),
            n_learners=1,
            n_threads=n_threads,
            every=ppo.test_every,
        )
        env = RobotVectorEnv(
            ppo.robots,
            replace(task, episode_steps=ppo.episode_steps),
            robot=study.robot,
            starts=learner.starts,
            conditions=conditions,
            engine=EngineConfig(engine=config.engine, threads=n_threads),
        )
        plan = Plan(
            [name],
            seeds=[learner.seed],
            n_steps=ppo.steps,
            metadata=describe_policy(
                task, study.robot, conditions, engine=config.engine
            ),
        )
        trained = train(
            HostEnv(env),
            ppo,
            plan=plan,
            folder=RunFolder(folder, checkpoint),
            device=device,
            n_threads=n_threads,
            initial_action=_find_standing_action(study.robot),
            tests=CurveTests(evaluate, ppo.test_every, ("success", "reward")),
            progress=progress,
        )
    return dict(trained.stopped)


def _find_standing_action(robot: Robot) -> Array:
    """Return the action that commands the standing pose, (nu,)."""
    action = robot.to_actions(robot.standing_targets[None])[0]
    return np.asarray(np.clip(action, -1.0, 1.0))


class _Part:
    """Reports the progress of one learner as a part of that of all.

    Args:
        progress: Called with the steps of all learners.
        number: Number of the learner.
        n: Number of learners.
    """

    def __init__(self, progress: TrainProgress | None, number: int, n: int) -> None:
        self._progress, self._number, self._n = progress, number, n

    def report(self, done: int, total: int, metrics: Mapping[str, float]) -> None:
        """Report the steps of this learner, and those of the learners before it."""
        if self._progress:
            before = self._number * total
            self._progress(before + done, self._n * total, metrics)
