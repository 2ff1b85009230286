"""Training on a study by imitation: one clone of the guide after the other."""

from dataclasses import dataclass
from pathlib import Path

from kaccess.base.types import TrainProgress
from kaccess.config import (
    CloneConfig,
    EngineConfig,
    SacConfig,
    Threads,
    TrainConfig,
    check_number,
)
from kaccess.envs.tasks import make_task
from kaccess.starts import InitialStates
from kaccess.study import LearnerName, RunsName, Study
from kaccess.study.names import name_population
from kaccess.study.starts import find_starts
from kaccess.training.demonstrations import GuideShow
from kaccess.training.learners import claim_learners, list_seeds, require_routes
from kaccess.training.part import Part
from kaccess.training.train import describe_policy, find_conditions, make_curve_test

__all__ = ["CloneTraining", "train_clones"]


def train_clones(
    study: Study,
    config: TrainConfig,
    clone: CloneConfig,
    *,
    device: str = "auto",
    n_threads: int = 0,
    progress: TrainProgress | None = None,
) -> Path:
    """Train clones of the guide, or resume them.

    Args:
        study: Study that holds starts and guide.
        config: Task, starts and seeds.
        clone: Settings of the clones.
        device: Device of the clones: `cpu`, `cuda` or `auto`.
        n_threads: CPU threads of the physics; 0 takes all.
        progress: Called after each round, with the steps of all clones.

    Returns:
        The folder of the runs.

    Raises:
        InputError: If starts, settings or folder cannot be used.
    """
    check_number(Threads, threads=n_threads)
    training = CloneTraining(study, config, clone, device, n_threads)
    which = [(kind, seed) for kind in config.starts for seed in list_seeds(config)]
    for number, (kind, seed) in enumerate(which):
        part = Part(progress, number, len(which))
        training.train(kind, seed, part.report if progress else None)
    return training.folder


@dataclass(frozen=True)
class CloneTraining:
    """What the trainings of all clones have in common.

    Args:
        study: Study that holds starts and guide.
        config: Task, conditions and tests.
        clone: Settings of the clones.
        device: Device of the clones.
        n_threads: CPU threads of the physics; 0 takes all.
    """

    study: Study
    config: TrainConfig
    clone: CloneConfig
    device: str
    n_threads: int

    @property
    def folder(self) -> Path:
        """Folder of the runs."""
        conditions = find_conditions(self.config)
        return self.study.runs_folder(RunsName(self.config.task, conditions.text))

    def train(self, kind: str, seed: int, progress: TrainProgress | None) -> Path:
        """Train one clone, or resume it; return its checkpoint.

        Args:
            kind: Kind of starts, without prefix.
            seed: Seed of the clone.
            progress: Called after each round.
        """
        from kaccess.clone import ClonePlan, train
        from kaccess.sac import CurveTests, RunFolder

        require_routes(self.study)
        name = LearnerName.of(kind, seed, "clone")
        checkpoint = name_population([name.starts], range(seed, seed + 1))
        conditions = find_conditions(self.config)
        task = conditions.adapt(make_task(self.config.task, self.study.robot))
        starts = find_starts(self.study, kind, task)
        with claim_learners(self.folder, [name.text], checkpoint=checkpoint):
            show = self._make_show(starts, seed)
            rounds = range(self.clone.rounds)
            plan = ClonePlan(
                [name.text],
                seeds=[seed],
                n_steps=sum(map(show.count_steps, rounds)),
                metadata=describe_policy(
                    task, self.study.robot, conditions, engine=self.config.host_engine
                ),
                show=show,
            )
            evaluate = make_curve_test(
                *(self.study, self.config, task, conditions),
                n_learners=1,
                n_threads=self.n_threads,
                every=show.count_steps(0),
            )
            train(
                self.clone,
                plan=plan,
                folder=RunFolder(self.folder, checkpoint),
                device=self.device,
                tests=CurveTests(evaluate, show.count_steps(0), ("success", "reward")),
                progress=progress,
            )
        return self.folder / f"{checkpoint}.safetensors"

    def _make_show(self, starts: InitialStates, seed: int) -> GuideShow:
        conditions = find_conditions(self.config)
        engine = self.config.host_engine
        return GuideShow(
            self.study,
            starts,
            conditions.adapt(make_task(self.config.task, self.study.robot)),
            self.clone,
            gamma=SacConfig().gamma,
            seed=seed,
            conditions=conditions,
            engine=EngineConfig(engine=engine, threads=self.n_threads),
        )
