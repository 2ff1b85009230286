"""Learning curves: tests of each learner during its training."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kaccess.base.csv_files import read_csv, write_csv
from kaccess.base.damage import explain_damage
from kaccess.base.errors import InputError
from kaccess.base.marks import read_marked
from kaccess.base.survival import Durations
from kaccess.base.tensors import read_header
from kaccess.base.types import Array, BoolArray
from kaccess.study.names import LearnerName, find_learners

__all__ = [
    "IN_ROW",
    "SCORE",
    "Curves",
    "check_curves",
    "find_episode_steps",
    "load_curves",
    "merge_curves",
    "pool_curves",
    "read_curve",
    "save_curves",
]

IN_ROW = 3  # tests in a row that must show a level
SCORE = "success"  # strict success
_FILE = "evaluation.csv"  # tests of a learner
_EPISODES_FILE = "episodes.csv"  # its episodes
_REMEDY = "Put back a copy of it, or train again in a new folder."


@dataclass(frozen=True, eq=False)
class Curves:
    """Tests of all seeds of one kind of starts.

    Args:
        seeds: (s,) seeds of the learners.
        episodes: (m,) episodes that each learner had made before a test.
        scores: (s, m) each, by name: `reward`, `success`, `success_loose`, ...
    """

    seeds: Array
    episodes: Array
    scores: Mapping[str, Array]

    def durations(
        self, level: float, score: str = SCORE, *, in_row: int = IN_ROW
    ) -> Durations:
        """Return the episodes until each seed reaches a level and stays there.

        A seed reaches a level at the first of `in_row` tests in a row that show it. A
        single test that shows it may be luck. The last tests cannot begin such a row,
        so a seed that has not reached the level is censored at the last test that can,
        `find_horizon`, whether or not it shows the level at its end. If seeds with one
        or two good tests at the end were censored earlier than others, the estimate
        would lose just those that are about to reach the level.

        Args:
            level: Level of the score, such as 0.95.
            score: Name of the score.
            in_row: Number of tests in a row; 1 counts the first touch.
        """
        reached = self.scores[score] >= level
        horizon = self.find_horizon(in_row)
        rows = np.lib.stride_tricks.sliding_window_view(reached, in_row, axis=1)
        begins: BoolArray = np.asarray(rows.all(axis=-1))
        happened: BoolArray = np.asarray(begins.any(axis=1))
        first = self.episodes[begins.argmax(axis=1)]
        return Durations(np.where(happened, first, horizon), happened)

    def find_horizon(self, in_row: int = IN_ROW) -> float:
        """Return the episodes before the last test that can begin `in_row` in a row."""
        if len(self.episodes) < in_row:
            raise InputError(
                f"`in_row` must be at most the number of tests, {len(self.episodes)}, "
                f"got {in_row}. Train for longer, or test more often."
            )
        return float(self.episodes[-in_row])

    def area(self, score: str = SCORE) -> Array:
        """Return the mean of a score over all tests, (s,): the area under the curve."""
        return np.asarray(self.scores[score].mean(axis=1))

    def until(self, episode: float) -> "Curves":
        """Return the tests up to an episode."""
        m = int(np.searchsorted(self.episodes, episode, side="right"))
        scores = {name: each[:, :m] for name, each in self.scores.items()}
        return Curves(self.seeds, self.episodes[:m], scores)


def load_curves(path: Path, *, episode_steps: int) -> dict[str, Curves]:
    """Return the curves of all learners, by kind of starts.

    Args:
        path: Folder of runs, such as `train/fall-recovery` of a study, or a table that
            `save_curves` wrote.
        episode_steps: Steps in an episode of the task.
    """
    kinds: dict[str, dict[int, list[dict[str, str]]]] = {}
    for row in _read_rows(path):
        seeds = kinds.setdefault(row.pop("starts"), {})
        seeds.setdefault(int(row.pop("seed")), []).append(row)
    return {
        kind: _stack(seeds, episode_steps=episode_steps)
        for kind, seeds in kinds.items()
    }


def pool_curves(runs: Sequence[Mapping[str, Curves]]) -> dict[str, Curves]:
    """Return the curves of several runs as if they were one, cut to the shortest.

    Kinds of starts that are missing in any of the runs are left out. Seeds are
    numbered from 0.
    """
    kinds = [kind for kind in runs[0] if all(kind in run for run in runs)]
    if not kinds:
        raise InputError(
            "These runs have no kind of starts in common. Pool runs that share one."
        )
    return {kind: _pool([run[kind] for run in runs]) for kind in kinds}


def merge_curves(runs: Mapping[str, Mapping[str, Curves]]) -> dict[str, Curves]:
    """Return the curves of several runs, by kind of starts and run: `rnd, 1 step`.

    All are cut to the length of the shortest. A run without a name adds nothing to the
    names of its curves.

    Raises:
        InputError: If a run has no test before the shortest one ends.
    """
    named = {
        f"{kind}, {name}" if name else kind: curves
        for name, run in runs.items()
        for kind, curves in run.items()
    }
    end = min(float(curves.episodes[-1]) for curves in named.values())
    for kind, curves in named.items():
        if curves.episodes[0] > end:
            raise InputError(
                f"{kind} was first tested after {curves.episodes[0]:.0f} episodes, but "
                f"the shortest run ends after {end:.0f}. Leave one of the two out."
            )
    return {kind: curves.until(end) for kind, curves in named.items()}


def find_episode_steps(folder: Path) -> int:
    """Return the steps of the longest episode in a folder of runs; clones have none."""
    learners = find_learners(folder, _EPISODES_FILE).values()
    rows = [row for each in learners for row in read_curve(each / _EPISODES_FILE)]
    lengths = [int(row["length"]) for row in rows if "length" in row]
    if not lengths:
        raise InputError(f"{folder} has no episodes. Train something first.")
    return max(lengths)


def save_curves(folder: Path, path: Path) -> None:
    """Write the tests of all learners in a folder of runs as one table, a CSV file."""
    write_csv(path, _read_rows(folder))


def _read_rows(path: Path) -> list[dict[str, str]]:
    """Return the tests of all learners, each with its `starts` and `seed`."""
    rows = _check_numbers(path, read_csv(path, _REMEDY)) if path.is_file() else []
    check_curves(path)
    for text, folder in find_learners(path, _FILE).items():
        name = LearnerName.parse(text)
        own = {"starts": name.starts, "seed": str(name.seed)}
        tests = [own | row for row in read_curve(folder / _FILE)]
        if not tests:
            raise InputError(f"{folder} has not been tested yet. Train it further.")
        rows += tests
    if not rows:
        raise InputError(f"{path} has no learning curves. Run `kaccess train` first.")
    return rows


def check_curves(folder: Path) -> None:
    """Raise `InputError` if curves are not what the checkpoints of their runs say.

    Checkpoints that cannot be read, or have no marks of curves, are left out.
    """
    marks: dict[str, Sequence[int]] = {}
    for checkpoint in sorted(folder.glob("[!.]*.safetensors")):  # no drafts
        with suppress(InputError), explain_damage(checkpoint, _REMEDY):
            marks |= read_header(checkpoint)["progress"]["curves"]
    for name, mark in marks.items():
        with explain_damage(folder / name, _REMEDY):
            read_marked(folder / name, mark)


def read_curve(path: Path) -> list[dict[str, str]]:
    """Return the rows of a curve, each with its `step`; a half-written row is none."""
    return _check_numbers(path, read_csv(path, _REMEDY, grows=True))


def _check_numbers(path: Path, rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the rows of a table; an error if they hold anything but numbers."""
    with explain_damage(path, _REMEDY):
        for row in rows:
            numbers = {name: float(row[name]) for name in row.keys() - {"starts"}}
            if not numbers["step"] >= 0:
                raise ValueError(f"a step must not be negative, got {row['step']}")
    return rows


def _pool(parts: Sequence[Curves]) -> Curves:
    shortest = min((part.episodes for part in parts), key=len)
    m = len(shortest)
    if any(not np.array_equal(part.episodes[:m], shortest) for part in parts):
        raise InputError(
            "These runs were not tested after the same episodes. Train them with the "
            "same `test_every`."
        )
    cut = [part.until(shortest[-1]) for part in parts]
    return Curves(
        seeds=np.arange(sum(len(part.seeds) for part in parts), dtype=float),
        episodes=shortest,
        scores={
            name: np.concatenate([part.scores[name] for part in cut])
            for name in parts[0].scores
        },
    )


def _stack(
    seeds: Mapping[int, Sequence[Mapping[str, str]]], *, episode_steps: int
) -> Curves:
    """Stack the curves of all seeds, cut to the shortest."""
    order = sorted(seeds)
    m = min(len(seeds[seed]) for seed in order)
    names = seeds[order[0]][0].keys()
    if any(row.keys() != names for seed in order for row in seeds[seed]):
        raise InputError(
            f"The curves of seeds {', '.join(map(str, order))} have different columns: "
            "one of their files is damaged. Train again in a new folder."
        )
    table = {
        name: np.array(
            [[float(row[name]) for row in seeds[seed][:m]] for seed in order]
        )
        for name in names
    }
    steps = table.pop("step")[0]
    return Curves(np.array(order), steps // episode_steps, table)
