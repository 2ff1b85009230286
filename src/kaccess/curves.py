"""How fast learners learn: their curves, and what can be said from a few seeds.

A learner reaches a level at the first test at which its success is at least that. One
that never does counts as if it had at the end of its training: its true number of
episodes is larger, so means are lower bounds then, and the table says how many did.
"""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kaccess.errors import InputError
from kaccess.stats import (
    Interval,
    bootstrap,
    probability_of_improvement,
    ratio_of_means,
)
from kaccess.types import Array

__all__ = [
    "LEVELS",
    "Comparison",
    "Curves",
    "compare",
    "format_comparison",
    "format_interval",
    "load_curves",
    "pool_curves",
    "save_curves",
    "side_by_side",
]

LEVELS = (0.90, 0.95, 0.99)


@dataclass(frozen=True, eq=False)
class Curves:
    """Tests of all seeds of one kind of starts.

    Args:
        seeds: (s,) of the learners.
        episodes: (m,) how many each had made before a test.
        figures: (s, m) each, by name: `reward`, `success`, `success_loose`, ...
    """

    seeds: Array
    episodes: Array
    figures: Mapping[str, Array]

    def episodes_to(self, level: float, figure: str = "success_loose") -> Array:
        """Return when each seed first reached a level, (s,); inf if it did not."""
        reached = self.figures[figure] >= level
        first = np.where(reached.any(axis=1), reached.argmax(axis=1), -1)
        return np.where(first < 0, np.inf, self.episodes[first])

    def area(self, figure: str = "success_loose") -> Array:
        """Return the mean of a figure over all tests, (s,): the area under a curve."""
        return np.asarray(self.figures[figure].mean(axis=1))

    def until(self, episode: float) -> "Curves":
        """Return the tests up to an episode."""
        m = int(np.searchsorted(self.episodes, episode, side="right"))
        figures = {name: each[:, :m] for name, each in self.figures.items()}
        return Curves(self.seeds, self.episodes[:m], figures)


@dataclass(frozen=True)
class Comparison:
    """One kind of starts against another, at one level.

    Args:
        n_reached: Seeds that reached the level, out of `n_seeds`.
        n_seeds: Seeds.
        episodes: Mean number of episodes to it.
        ratio: Of that to the other's.
        better: How likely one of its seeds is there before one of the other's.
    """

    n_reached: int
    n_seeds: int
    episodes: Interval
    ratio: Interval
    better: Interval


def load_curves(path: Path, *, episode_steps: int = 300) -> dict[str, Curves]:
    """Return the curves of all learners, by kind of starts.

    Args:
        path: Folder of runs, such as `train/fall-recovery` of a study, or a table that
            `save_curves` wrote.
        episode_steps: Steps in an episode.
    """
    kinds: dict[str, dict[int, list[dict[str, str]]]] = {}
    if path.is_dir():
        for file in sorted(path.glob("*/seed-*/evaluation.csv")):
            seed = int(file.parent.name.removeprefix("seed-"))
            kinds.setdefault(file.parent.parent.name, {})[seed] = _read(file)
    elif path.exists():
        for row in _read(path):
            seeds = kinds.setdefault(row.pop("starts"), {})
            seeds.setdefault(int(row.pop("seed")), []).append(row)
    if not kinds:
        raise InputError(f"{path} has no learning curves. Train something first.")
    return {
        kind: _stack(seeds, episode_steps=episode_steps)
        for kind, seeds in kinds.items()
    }


def pool_curves(runs: Sequence[Mapping[str, Curves]]) -> dict[str, Curves]:
    """Return the curves of several runs as those of one, up to where the shortest ends.

    Kinds that are not in all of the runs are left out. Seeds are numbered anew.
    """
    kinds = [kind for kind in runs[0] if all(kind in run for run in runs)]
    if not kinds:
        raise InputError("These runs have no kind of starts in common.")
    return {kind: _pool([run[kind] for run in runs]) for kind in kinds}


def side_by_side(runs: Mapping[str, Mapping[str, Curves]]) -> dict[str, Curves]:
    """Return the curves of several runs by kind and name of the run, as `rnd, 1 step`.

    They go as far as the shortest. Those of a run without a name keep their kind's.

    Raises:
        InputError: If some run has no test that early.
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
                f"{kind} was first tested after {curves.episodes[0]:.0f} episodes, and "
                f"the shortest run ends after {end:.0f}."
            )
    return {kind: curves.until(end) for kind, curves in named.items()}


def save_curves(folder: Path, path: Path) -> None:
    """Write the tests of all learners in a folder of runs as one table, a CSV file."""
    files = sorted(folder.glob("*/seed-*/evaluation.csv"))
    rows = [
        {
            "starts": file.parent.parent.name,
            "seed": file.parent.name.removeprefix("seed-"),
            **row,
        }
        for file in files
        for row in _read(file)
    ]
    if not rows:
        raise InputError(f"{folder} has no learning curves. Train something first.")
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def compare(
    curves: Curves, others: Curves, level: float, figure: str = "success_loose"
) -> Comparison:
    """Compare how many episodes two kinds of starts need to reach a level."""
    rng = np.random.default_rng(0)
    found = curves.episodes_to(level, figure)
    mine, theirs = (
        np.minimum(each.episodes_to(level, figure), each.episodes[-1])
        for each in (curves, others)
    )
    return Comparison(
        n_reached=int(np.isfinite(found).sum()),
        n_seeds=len(found),
        episodes=bootstrap(mine, lambda scores: float(scores.mean()), rng=rng),
        ratio=ratio_of_means(mine, theirs, rng=rng),
        better=probability_of_improvement(-mine, -theirs, rng=rng),
    )


def format_comparison(
    curves: Mapping[str, Curves],
    *,
    against: str = "rnd",
    levels: Sequence[float] = LEVELS,
    figure: str = "success_loose",
) -> str:
    """Return tables against one kind of starts: episodes to each level, and areas."""
    if against not in curves:
        raise InputError(
            f"There are no curves of {against!r} to compare with, only of "
            f"{', '.join(curves)}."
        )
    width = max(len("starts"), *map(len, curves))
    order = sorted(curves, key=lambda kind: -float(curves[kind].area(figure).mean()))
    of_others = f"of {against}'s (95 %)"
    blocks = []
    for level in levels:
        lines = [
            f"{'starts':<{width}}  seeds there  episodes to {level:.0%} (95 %)  "
            f"{of_others:<24}  earlier than {against} (95 %)"
        ]
        for kind in order:
            found = compare(curves[kind], curves[against], level, figure)
            lines.append(
                f"{kind:<{width}}  {found.n_reached:5d} / {found.n_seeds:<3d}  "
                f"{format_interval(found.episodes, '.0f'):<22}  "
                f"{format_interval(found.ratio, '.2f'):<{max(24, len(of_others))}}  "
                f"{format_interval(found.better, '.2f')}"
            )
        blocks.append("\n".join(lines))
    blocks.append(_format_areas(curves, order, width, against, figure))
    return "\n\n".join(blocks)


def _format_areas(
    curves: Mapping[str, Curves],
    order: Sequence[str],
    width: int,
    against: str,
    figure: str,
) -> str:
    """Return a table of the areas under the curves."""
    rng = np.random.default_rng(0)
    theirs = curves[against].area(figure)
    lines = [
        f"{'starts':<{width}}  mean over all tests (95 %)  more than {against} (95 %)"
    ]
    for kind in order:
        mine = curves[kind].area(figure)
        mean = bootstrap(mine, lambda scores: float(scores.mean()), rng=rng)
        better = probability_of_improvement(mine, theirs, rng=rng)
        lines.append(
            f"{kind:<{width}}  {format_interval(mean, '.3f'):<26}  "
            f"{format_interval(better, '.2f')}"
        )
    return "\n".join(lines)


def format_interval(interval: Interval, form: str) -> str:
    """Return an interval in words, its numbers in a form such as `.2f`."""
    return f"{interval.value:{form}} ({interval.low:{form}} to {interval.high:{form}})"


def _pool(parts: Sequence[Curves]) -> Curves:
    shortest = min((part.episodes for part in parts), key=len)
    m = len(shortest)
    if any(not np.array_equal(part.episodes[:m], shortest) for part in parts):
        raise InputError("These runs were not tested after the same episodes.")
    cut = [part.until(shortest[-1]) for part in parts]
    return Curves(
        seeds=np.arange(sum(len(part.seeds) for part in parts), dtype=float),
        episodes=shortest,
        figures={
            name: np.concatenate([part.figures[name] for part in cut])
            for name in parts[0].figures
        },
    )


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _stack(
    seeds: Mapping[int, Sequence[Mapping[str, str]]], *, episode_steps: int
) -> Curves:
    """Put the curves of all seeds side by side, up to the shortest."""
    order = sorted(seeds)
    m = min(len(seeds[seed]) for seed in order)
    if not m:
        raise InputError("A learner has not been tested yet. Train on.")
    names = seeds[order[0]][0].keys()
    table = {
        name: np.array(
            [[float(row[name]) for row in seeds[seed][:m]] for seed in order]
        )
        for name in names
    }
    steps = table.pop("step")[0]
    return Curves(np.array(order), steps // episode_steps, table)
