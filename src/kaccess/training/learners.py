"""The learners of a run: their starts, seeds and names, and which are guided."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kaccess.base.errors import InputError
from kaccess.config import TrainConfig
from kaccess.envs.task import Task
from kaccess.guide import Guide
from kaccess.policies import LAST_POLICY
from kaccess.starts import GUIDED, InitialStates
from kaccess.study import LearnerName, Study
from kaccess.study.names import name_population
from kaccess.study.starts import find_starts
from kaccess.training.warm_up import GuidedWarmUp

__all__ = [
    "Learner",
    "name_checkpoint",
    "make_learners",
    "make_warm_up",
    "require_new",
]


@dataclass(frozen=True)
class Learner:
    """One learner of a population.

    Args:
        name: Name, which is also its folder: `ka/seed-0`.
        starts: Initial states of its episodes.
        seed: Seed of its networks, actions and starts.
        guided: Whether it follows the guide during its warm-up.
    """

    name: str
    starts: InitialStates
    seed: int
    guided: bool


def make_learners(study: Study, config: TrainConfig, task: Task) -> list[Learner]:
    """Return the learners of a run: each kind of starts with each seed."""
    learners = []
    for text in config.starts:
        starts = find_starts(study, text.removeprefix(GUIDED), task)
        guided = text.startswith(GUIDED)
        learners += [
            Learner(LearnerName.of(text, seed).text, starts, seed, guided)
            for seed in _list_seeds(config)
        ]
    return learners


def make_warm_up(
    study: Study, learners: Sequence[Learner], task: Task, *, envs_per_learner: int
) -> GuidedWarmUp | None:
    """Return the guided warm-up; None if no learner is guided."""
    guided = np.repeat([each.guided for each in learners], envs_per_learner)
    if not guided.any():
        return None
    _require_routes(study)
    guide = Guide.of(study, int(guided.sum()), task=task)
    return GuidedWarmUp(guide, np.flatnonzero(guided))


def _require_routes(study: Study) -> None:
    """Raise `InputError` if no route leads to standing: a guide would be useless."""
    if not study.has_routes:
        raise InputError(
            f"No chain of moves in {study.path} leads to standing, so there is nothing "
            f"to guide learners. Train from starts without `{GUIDED}`, such as "
            "--starts rnd, or make a study with more poses."
        )


def name_checkpoint(config: TrainConfig) -> str:
    """Return the name of the checkpoint of a population."""
    return name_population(config.starts, _list_seeds(config))


def _list_seeds(config: TrainConfig) -> range:
    return range(config.first_seed, config.first_seed + config.seeds)


def require_new(folder: Path, names: Sequence[str], *, checkpoint: str) -> None:
    """Raise `InputError` if a learner was trained as part of another population."""
    if (folder / f"{checkpoint}.safetensors").exists():
        return
    known = [name for name in names if (folder / name / LAST_POLICY).exists()]
    if known:
        raise InputError(
            f"{folder / known[0]} was already trained, in a different population. To "
            "resume it, give the same starts and seeds. To add learners, give other "
            "starts, or further seeds with `--first-seed`. Or delete it."
        )
