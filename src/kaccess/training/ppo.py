"""Training on a study by PPO: one learner after the other, each with many robots."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kaccess.base.types import Array, TrainProgress
from kaccess.config import (
    CloneConfig,
    EngineConfig,
    PpoConfig,
    Threads,
    TrainConfig,
    check_number,
)
from kaccess.envs.conditions import Conditions
from kaccess.envs.robot_env import RobotVectorEnv
from kaccess.envs.task import Task
from kaccess.envs.tasks import make_task
from kaccess.robots import Robot
from kaccess.study import LearnerName, RunsName, Study
from kaccess.study.names import name_population
from kaccess.training.clone import CloneTraining
from kaccess.training.learners import Learner, claim_learners, make_learners
from kaccess.training.part import Part
from kaccess.training.simulator import find_gpu
from kaccess.training.train import (
    describe_policy,
    find_conditions,
    make_curve_test,
    require_success,
)

if TYPE_CHECKING:  # torch is loaded only to train
    from kaccess.gpu import TensorEnv
    from kaccess.ppo import Cloned, PpoPlan

__all__ = ["train_by_ppo"]


def train_by_ppo(
    study: Study,
    config: TrainConfig,
    ppo: PpoConfig,
    clone: CloneConfig,
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
        clone: Settings of the clones that guided learners begin as.
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

    conditions, ppo = find_conditions(config), ppo.fit_to(config.engine)
    task = conditions.adapt(make_task(config.task, study.robot))
    if config.engine == "warp":
        from kaccess.gpu.env import check_on_tensors

        find_gpu(device)
        check_on_tensors(task, study.robot, conditions)
    learners = make_learners(
        study, config, task, conditions=conditions, n_threads=n_threads
    )
    folder = study.runs_folder(RunsName(task.name, conditions.text))
    clone = replace(clone, hidden=ppo.hidden)
    training = _Training(study, config, ppo, clone, task, folder, device, n_threads)
    stopped: dict[str, str] = {}
    for number, learner in enumerate(learners):
        part = Part(progress, number, len(learners))
        stopped |= training.train(learner, part.report if progress else None)
    require_success(stopped, [each.name for each in learners], folder)
    return folder


@dataclass(frozen=True)
class _Training:
    """What the trainings of all learners have in common."""

    study: Study
    config: TrainConfig
    ppo: PpoConfig
    clone: CloneConfig
    task: Task
    folder: Path
    device: str
    n_threads: int

    def train(
        self, learner: Learner, progress: TrainProgress | None
    ) -> Mapping[str, str]:
        """Train one learner; return a message, by its name, if it broke down."""
        from kaccess.ppo import train
        from kaccess.sac import CurveTests, RunFolder

        clone = self._train_clone(learner, progress) if learner.guided else None
        kind, every = LearnerName.parse(learner.name).starts, self.ppo.test_every
        checkpoint = name_population([kind], range(learner.seed, learner.seed + 1))
        with claim_learners(self.folder, [learner.name], checkpoint=checkpoint):
            evaluate = make_curve_test(
                *(self.study, self.config, self.task, self._conditions),
                n_learners=1,
                n_threads=self.n_threads,
                every=every,
            )
            trained = train(
                self._make_env(learner),
                self.ppo,
                plan=self._make_plan(learner, clone),
                folder=RunFolder(self.folder, checkpoint),
                device=self.device,
                n_threads=self.n_threads,
                tests=CurveTests(evaluate, every, ("success", "reward")),
                progress=progress,
            )
        return trained.stopped

    @property
    def _conditions(self) -> Conditions:
        return find_conditions(self.config)

    def _make_env(self, learner: Learner) -> "TensorEnv":
        n, robot = self.ppo.robots, self.study.robot
        task = replace(self.task, episode_steps=self.ppo.episode_steps)
        starts, conditions = learner.starts, self._conditions
        if self.config.engine == "warp":
            from kaccess.gpu import TensorRobots

            device = find_gpu(self.device)
            return TensorRobots(
                n, task, robot, starts=starts, conditions=conditions, device=device
            )
        from kaccess.ppo import HostEnv

        engine = EngineConfig(engine=self.config.engine, threads=self.n_threads)
        env = RobotVectorEnv(
            n, task, robot=robot, starts=starts, conditions=conditions, engine=engine
        )
        return HostEnv(env)

    def _train_clone(
        self, learner: Learner, progress: TrainProgress | None
    ) -> "Cloned":
        """Train the clone that a guided learner begins as, unless it exists."""
        from kaccess.clone import load_clone
        from kaccess.ppo import Cloned

        training = CloneTraining(
            *(self.study, self.config, self.clone, self.device, self.n_threads)
        )

        def show(done: int, total: int, metrics: Mapping[str, float]) -> None:
            if progress:  # the steps of PPO have not begun
                progress(0, self.ppo.steps, metrics)

        path = training.train(learner.kind, learner.seed, show)
        load = partial(load_clone, path, self.clone, device=self.device)
        return Cloned(self.clone, load)

    def _make_plan(self, learner: Learner, clone: "Cloned | None") -> "PpoPlan":
        from kaccess.ppo import PpoPlan

        robot, engine = self.study.robot, self.config.engine
        return PpoPlan(
            [learner.name],
            seeds=[learner.seed],
            n_steps=self.ppo.steps,
            metadata=describe_policy(self.task, robot, self._conditions, engine=engine),
            initial_action=_find_standing_action(robot),
            clone=clone,
        )


def _find_standing_action(robot: Robot) -> Array:
    """Return the action that commands the standing pose, (nu,)."""
    action = robot.to_actions(robot.standing_targets[None])[0]
    return np.asarray(np.clip(action, -1.0, 1.0))
