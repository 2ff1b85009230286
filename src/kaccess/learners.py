"""Who learns: the learners of a run, where their episodes start, and who is guided."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kaccess.config import TrainConfig
from kaccess.envs.task import Task
from kaccess.errors import InputError
from kaccess.guide import Guide, GuidedWarmUp
from kaccess.policy import LAST_POLICY
from kaccess.starts import GUIDED, STARTS_NAME, InitialStates, parse_mixture
from kaccess.study import Study

__all__ = [
    "Learner",
    "find_starts",
    "learners",
    "population_name",
    "require_new",
    "warm_up",
]

# The option of `kaccess cluster` that makes a file of starts, by its name.
_MADE_BY = {name: f" --method {method}" for method, name in STARTS_NAME.items()}
_MADE_BY |= dict.fromkeys(("ka", "rnd", "9-pose", "1-pose"), "")  # any run does


@dataclass(frozen=True)
class Learner:
    """One learner of a population.

    Args:
        name: Its folder, such as `ka/seed-0`.
        starts: Where its episodes start.
        seed: Of its networks, actions and starts.
        guided: Whether it follows routes to standing before it learns.
    """

    name: str
    starts: InitialStates
    seed: int
    guided: bool


def learners(study: Study, config: TrainConfig, task: Task) -> list[Learner]:
    """Return the learners of a run: each kind of starts with each seed."""
    return [
        Learner(
            f"{text.replace(':', '-')}/seed-{seed}",
            starts,
            seed,
            text.startswith(GUIDED),
        )
        for text in config.starts
        for starts in [find_starts(study, text.removeprefix(GUIDED), task)]
        for seed in _seeds(config)
    ]


def warm_up(
    study: Study, runs: Sequence[Learner], task: Task, *, envs_per_learner: int
) -> GuidedWarmUp | None:
    """Return what learners do before they learn, if any of them is guided."""
    guided = np.repeat([run.guided for run in runs], envs_per_learner)
    if not guided.any():
        return None
    guide = Guide.of(study, int(guided.sum()), task=task)
    return GuidedWarmUp(guide, np.flatnonzero(guided))


def find_starts(study: Study, text: str, task: Task) -> InitialStates:
    """Return the starts that a text such as `ka` or `ka+rnd:0.2` names.

    Those that the task does not start from are left out.
    """
    parts = {
        _load_starts(study, name, task): share
        for name, share in parse_mixture(text).items()
    }
    return InitialStates.mixed(parts)


def _load_starts(study: Study, name: str, task: Task) -> InitialStates:
    path = study.path / "starts" / f"{name}.npz"
    if not path.exists():
        if name not in _MADE_BY:
            raise InputError(
                f"Unknown starts {name!r}: none of {', '.join(_MADE_BY)}, nor a file "
                f"{path}."
            )
        raise InputError(
            f"{study.path} has no starts {name!r} yet. Run `kaccess cluster "
            f"{study.path}{_MADE_BY[name]}` first."
        )
    starts = InitialStates.load(path)
    if starts.model != study.settings["model"]:
        raise InputError(
            f"{path} belongs to another robot than the study, or to another version "
            f"of it. Make it anew with `kaccess cluster {study.path}`."
        )
    return _qualified(starts, name, task)


def _qualified(starts: InitialStates, name: str, task: Task) -> InitialStates:
    fits = task.qualifies(starts.qpos)
    if not fits.any():
        raise InputError(
            f"None of the {len(starts)} starts {name!r} is one that {task.name!r} "
            "starts from. Choose others."
        )
    weights = starts.weights[fits] / starts.weights[fits].sum()
    names = tuple(np.array(starts.names)[fits]) if starts.names else ()
    return InitialStates(starts.qpos[fits], weights, names, starts.model)


def population_name(config: TrainConfig) -> str:
    """Name the checkpoint of learners that are trained together."""
    starts = "_".join(config.starts).replace(":", "-")
    seeds = _seeds(config)
    which = f"{seeds[0]}-{seeds[-1]}" if config.first_seed else f"{config.seeds}"
    return f"checkpoint_{starts}_{which}"


def _seeds(config: TrainConfig) -> range:
    return range(config.first_seed, config.first_seed + config.seeds)


def require_new(out: Path, names: Sequence[str], *, checkpoint: str) -> None:
    """Raise `InputError` if a learner was trained there in other company."""
    if (out / f"{checkpoint}.safetensors").exists():
        return
    known = [name for name in names if (out / name / LAST_POLICY).exists()]
    if known:
        raise InputError(
            f"{out / known[0]} was trained before, with other learners. Ask for the "
            "same starts and seeds to go on, for others to add to them (further seeds "
            "with `--first-seed`), or delete it."
        )
