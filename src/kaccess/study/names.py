"""Names of clusterings, starts, learners, runs and tests.

Only this module writes and parses them.

    clusters/kaccess@backflip.json, starts/ka@backflip.npz              OfTask
    train/fall-recovery@torque=0.6/guided-rnd/seed-0      RunsName / LearnerName
    train/fall-recovery/ppo-rnd/seed-0                    RunsName / LearnerName
    evaluation/fall-recovery@torque=0.6_best_under_nominal.json        TestName
    evaluation/fall-recovery_best_held-out.json                        TestName
    evaluation/fall-recovery_from_teleport_in_bullet.json              TestName

Conditions are in the compact form of `Conditions.text`, such as `torque=0.6`; it has
no underscore and no at sign.

Names of starts, tasks and methods become names of files and folders. `check_name` is
the rule for all of them: they are names, not paths.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kaccess.base.errors import InputError
from kaccess.config import NOMINAL, ROUTES

__all__ = [
    "ROUTES",
    "LearnerName",
    "OfTask",
    "RunsName",
    "TestName",
    "check_name",
    "find_learners",
    "name_kind",
    "name_population",
]

_SEED, _AT, _BEST, _HELD_OUT = "seed-", "@", "_best", "_held-out"
_FROM, _IN, _UNDER = "_from_", "_in_", "_under_"
_NAME = re.compile(r"[^\W_][\w.-]*")
_LONGEST = 220  # characters of a file's name, without its ending and marks of drafts


def check_name(name: str, what: str) -> str:
    """Return a name; raise `InputError` if it cannot be that of a file or folder.

    Args:
        name: The name.
        what: What has this name, such as `a task`.
    """
    if not _NAME.fullmatch(name) or len(name) > _LONGEST:
        raise InputError(
            f"The name of {what} must be letters, digits, hyphens, dots and "
            f"underscores, and begin with a letter or digit, got {name!r}. It is a "
            "name, not a path."
        )
    return name


@dataclass(frozen=True)
class OfTask:
    """Name of a clustering or of starts, and the task whose poses were clustered.

    Args:
        name: Name of the method or of the starts.
        task: Name of the task; empty if all poses were clustered.
    """

    name: str
    task: str = ""

    @classmethod
    def parse(cls, text: str) -> "OfTask":
        """Return the name that a text such as `ka` or `ka@backflip` stands for."""
        name, _, task = text.partition(_AT)
        return cls(name, task)

    @property
    def text(self) -> str:
        """The name as it is written."""
        return f"{self.name}{_AT}{self.task}" if self.task else self.name

    @property
    def key(self) -> tuple[str, str]:
        """Sort key: names without a task come first."""
        return self.task, self.name


@dataclass(frozen=True)
class LearnerName:
    """Name of one learner, which is also its folder: `ka/seed-0`.

    Args:
        starts: Kind of starts, as in folder names: `ka`, `guided-rnd`, `ka+rnd-0.2`;
            with the prefix `ppo-` if the learner learned by PPO.
        seed: Seed of the learner; None for `routes`, which has none.
    """

    starts: str
    seed: int | None

    @classmethod
    def of(cls, starts: str, seed: int, algorithm: str = "sac") -> "LearnerName":
        """Return the name for starts as a user writes them, such as `ka+rnd:0.2`."""
        folder = _to_folder_name(name_kind(starts, algorithm))
        for part in folder.split("+"):
            check_name(part, "starts")
        return cls(folder, seed)

    @classmethod
    def parse(cls, text: str) -> "LearnerName":
        """Return the name that a text such as `ka/seed-0` or `routes` stands for."""
        starts, slash, rest = text.partition("/")
        number = rest.removeprefix(_SEED)
        if slash and not (rest.startswith(_SEED) and number.isdecimal()):
            raise InputError(
                f"{text!r} is not the name of a learner. Write it like ka/{_SEED}0."
            )
        return cls(starts, int(number) if slash else None)

    @property
    def text(self) -> str:
        """The name as it is written."""
        if self.seed is None:
            return self.starts
        return f"{self.starts}/{_SEED}{self.seed}"


@dataclass(frozen=True)
class RunsName:
    """Name of a folder of runs: a task, and the conditions it was learned under.

    Args:
        task: Name of the task.
        conditions: Conditions of the training, in compact form; empty if nominal.
    """

    task: str
    conditions: str = ""

    @classmethod
    def parse(cls, text: str) -> "RunsName":
        """Return the name that a text such as `backflip@slope=10` stands for."""
        task, _, conditions = text.partition(_AT)
        return cls(task, conditions)

    @property
    def text(self) -> str:
        """The name as it is written."""
        return f"{self.task}{_AT}{self.conditions}" if self.conditions else self.task

    @property
    def label(self) -> str:
        """The name in words, such as `Backflip (slope=10)`."""
        return _make_label(self.task, [self.conditions])


@dataclass(frozen=True)
class TestName:
    """Name of a test of all policies in a folder of runs.

    Args:
        runs: The folder of runs.
        best: Whether the best policies were tested, not the last ones.
        under: Conditions of the test, in compact form; empty if nominal.
        held_out: Whether the test poses are those kept for published numbers.
        draw: How test poses were drawn; empty if like those of the study.
        engine: Simulator of the test; empty for MuJoCo, on a CPU or a GPU.
    """

    __test__ = False  # for pytest, which takes it for a test case

    runs: RunsName
    best: bool
    under: str
    held_out: bool = False
    draw: str = ""
    engine: str = ""

    @classmethod
    def parse(cls, text: str) -> "TestName":
        """Return the name that a text such as `backflip_best_under_slope=10` means."""
        rest, other, under = text.partition(_UNDER)
        rest, _, engine = rest.partition(_IN)
        rest, _, draw = rest.partition(_FROM)
        held_out, rest = rest.endswith(_HELD_OUT), rest.removesuffix(_HELD_OUT)
        runs = RunsName.parse(rest.removesuffix(_BEST))
        if not other:
            under = runs.conditions
        under = "" if under == NOMINAL else under
        return cls(runs, rest.endswith(_BEST), under, held_out, draw, engine)

    @property
    def text(self) -> str:
        """The name as it is written."""
        name = self.runs.text + (_BEST if self.best else "")
        name += _HELD_OUT if self.held_out else ""
        name += f"{_FROM}{self.draw}" if self.draw else ""
        name += f"{_IN}{self.engine}" if self.engine else ""
        if self.under == self.runs.conditions:
            return name
        return f"{name}{_UNDER}{self.under or NOMINAL}"

    @property
    def label(self) -> str:
        """The name in words, such as `Backflip (best, under slope=10)`."""
        details = [self.runs.conditions, "best" if self.best else ""]
        details.append(f"poses by {self.draw}" if self.draw else "")
        details.append(f"in {self.engine}" if self.engine else "")
        if self.under != self.runs.conditions:
            details.append(f"under {self.under or NOMINAL}")
        if self.held_out:
            details.append("held-out poses")
        return _make_label(self.runs.task, details)


def find_learners(folder: Path, file: str) -> dict[str, Path]:
    """Return the folder of each learner that has a certain file, by the learner's name.

    Folders with other names, such as a copy `seed-0.bak`, do not count.

    Args:
        folder: Folder of runs, such as `train/fall-recovery` of a study.
        file: Name of the file, such as `evaluation.csv`.
    """
    paths = sorted(folder.glob(f"*/{_SEED}*/{file}"))
    return {
        str(path.parent.relative_to(folder)): path.parent
        for path in paths
        if path.parent.name.removeprefix(_SEED).isdecimal()
    }


def name_kind(starts: str, algorithm: str = "sac") -> str:
    """Return the kind of learners with these starts: `rnd`, or `ppo-rnd`."""
    return starts if algorithm == "sac" else f"{algorithm}-{starts}"


def name_population(starts: Sequence[str], seeds: range) -> str:
    """Return the name of the checkpoint of learners that are trained together."""
    which = f"{seeds[0]}-{seeds[-1]}" if seeds[0] else f"{len(seeds)}"
    name = f"checkpoint_{_to_folder_name('_'.join(starts))}_{which}"
    if len(name) > _LONGEST:
        raise InputError(
            f"`starts` are too many for the name of one checkpoint, got {len(starts)}. "
            "Train them in several commands."
        )
    return name


def _to_folder_name(starts: str) -> str:
    return starts.replace(":", "-")


def _make_label(task: str, details: Sequence[str]) -> str:
    words, known = (
        task.replace("-", " ").capitalize(),
        [each for each in details if each],
    )
    return f"{words} ({', '.join(known)})" if known else words
