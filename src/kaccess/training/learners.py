"""The learners of a run: their starts, seeds and names, and which are guided."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kaccess.base.errors import InputError
from kaccess.config import EngineConfig, TrainConfig
from kaccess.envs.arguments import Starts
from kaccess.envs.conditions import Conditions
from kaccess.envs.task import Task
from kaccess.guide import Guide
from kaccess.policies import LAST_POLICY
from kaccess.starts import ALONG, GUIDED, ROLLIN, split_prefix
from kaccess.study import LearnerName, Study
from kaccess.study.lock import hold_folders
from kaccess.study.names import name_population
from kaccess.study.starts import find_starts
from kaccess.training.curricula import make_curricula
from kaccess.training.warm_up import GuidedWarmUp

__all__ = [
    "Learner",
    "claim_learners",
    "list_seeds",
    "make_learners",
    "make_warm_up",
    "name_checkpoint",
    "require_routes",
]


@dataclass(frozen=True)
class Learner:
    """One learner of a population.

    Args:
        name: Name, which is also its folder: `ka/seed-0`.
        starts: Initial states of its episodes.
        seed: Seed of its networks, actions and starts.
        guided: Whether it follows the guide during its warm-up, or begins as a clone of
            it.
        kind: Kind of its resting starts, such as `ka`.
    """

    name: str
    starts: Starts
    seed: int
    guided: bool
    kind: str


def make_learners(
    study: Study,
    config: TrainConfig,
    task: Task,
    *,
    conditions: Conditions | None = None,
    n_threads: int = 0,
) -> list[Learner]:
    """Return the learners of a run: each kind of starts with each seed."""
    learners: list[Learner] = []
    seeds = list_seeds(config)
    engine = EngineConfig(engine=config.host_engine, threads=n_threads)
    for text in config.starts:
        names = [LearnerName.of(text, seed, config.algorithm).text for seed in seeds]
        prefix, rest = split_prefix(text)
        at_rest = find_starts(study, rest, task)
        starts: Sequence[Starts] = [at_rest] * len(seeds)
        if prefix in (ALONG, ROLLIN):
            require_routes(study)
            starts = make_curricula(
                prefix,
                at_rest,
                study,
                task,
                n=len(seeds),
                conditions=conditions,
                engine=engine,
            )
        guided = [prefix == GUIDED] * len(seeds)
        learners += map(Learner, names, starts, seeds, guided, [rest] * len(seeds))
    return learners


def make_warm_up(
    study: Study, learners: Sequence[Learner], task: Task, *, envs_per_learner: int
) -> GuidedWarmUp | None:
    """Return the guided warm-up; None if no learner is guided."""
    guided = np.repeat([each.guided for each in learners], envs_per_learner)
    if not guided.any():
        return None
    require_routes(study)
    guide = Guide.of(study, int(guided.sum()), task=task)
    return GuidedWarmUp(guide, np.flatnonzero(guided), n_each=envs_per_learner)


def require_routes(study: Study) -> None:
    """Raise `InputError` if no route leads to standing: a guide would be useless."""
    if not study.has_routes:
        raise InputError(
            f"No chain of moves in {study.path} leads to standing, so there is nothing "
            f"to guide learners. Train from starts without `{GUIDED}`, such as "
            "--starts rnd, or make a study with more poses."
        )


def name_checkpoint(config: TrainConfig) -> str:
    """Return the name of the checkpoint of a population."""
    return name_population(config.starts, list_seeds(config))


def list_seeds(config: TrainConfig) -> range:
    """Return the seeds of the learners of each kind."""
    return range(config.first_seed, config.first_seed + config.seeds)


@contextmanager
def claim_learners(
    folder: Path, names: Sequence[str], *, checkpoint: str
) -> Iterator[None]:
    """Be the only process that trains these learners within this block.

    Args:
        folder: Folder of the runs.
        names: Learner names.
        checkpoint: Name of the checkpoint of their population.

    Raises:
        InputError: If another process trains one of them, or if one of them was trained
            as part of another population.
    """
    with hold_folders(folder / name for name in names):
        if not (folder / f"{checkpoint}.safetensors").exists():
            _require_new(folder, names)
        yield


def _require_new(folder: Path, names: Sequence[str]) -> None:
    """Raise `InputError` if a learner was trained as part of another population."""
    from kaccess.sac import find_owners

    owners = find_owners(folder)
    for name in names:
        if name in owners:
            raise InputError(
                f"{folder / name} was already trained, in a different population: that "
                f"of {owners[name].name}. To resume it, give the same starts and "
                "seeds. To add learners, give other starts, or further seeds with "
                "`--first-seed`. Or delete it."
            )
        if (folder / name / LAST_POLICY).exists():
            raise InputError(
                f"{folder / name} holds a policy, but no checkpoint to resume from: it "
                "was deleted, or never written. Delete that folder too, to train "
                "the learner from the beginning, or give other starts or seeds."
            )
