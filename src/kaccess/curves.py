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

__all__ = ["Comparison", "Curves", "compare", "format_comparison", "load_curves"]

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


def load_curves(folder: Path, *, episode_steps: int = 300) -> dict[str, Curves]:
    """Return the curves of all learners in a folder, by kind of starts.

    Args:
        folder: Such as `train/fall-recovery` of a study.
        episode_steps: Steps in an episode.
    """
    kinds: dict[str, dict[int, dict[str, Array]]] = {}
    for path in sorted(folder.glob("*/seed-*/evaluation.csv")):
        seed = int(path.parent.name.removeprefix("seed-"))
        kinds.setdefault(path.parent.parent.name, {})[seed] = _read(path)
    if not kinds:
        raise InputError(f"{folder} has no learning curves. Train something first.")
    return {
        kind: _stack(seeds, episode_steps=episode_steps)
        for kind, seeds in kinds.items()
    }


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
    """Return a table: episodes to each level, against one kind of starts."""
    if against not in curves:
        raise InputError(
            f"There are no curves of {against!r} to compare with, only of "
            f"{', '.join(curves)}."
        )
    width = max(len("starts"), *map(len, curves))
    order = sorted(curves, key=lambda kind: -float(curves[kind].area(figure).mean()))
    blocks = []
    for level in levels:
        lines = [
            f"{'starts':<{width}}  seeds there  episodes to {level:.0%} (95 %)  "
            f"of {against}'s (95 %)        earlier than {against} (95 %)"
        ]
        for kind in order:
            found = compare(curves[kind], curves[against], level, figure)
            lines.append(
                f"{kind:<{width}}  {found.n_reached:5d} / {found.n_seeds:<3d}  "
                f"{_text(found.episodes, '.0f'):<22}  "
                f"{_text(found.ratio, '.2f'):<24}  {_text(found.better, '.2f')}"
            )
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _text(interval: Interval, form: str) -> str:
    return f"{interval.value:{form}} ({interval.low:{form}} to {interval.high:{form}})"


def _read(path: Path) -> dict[str, Array]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = rows[0].keys() if rows else ()
    return {name: np.array([float(row[name]) for row in rows]) for name in names}


def _stack(seeds: Mapping[int, Mapping[str, Array]], *, episode_steps: int) -> Curves:
    """Put the curves of all seeds side by side, up to the shortest."""
    tables = [seeds[seed] for seed in sorted(seeds)]
    m = min(len(table.get("step", ())) for table in tables)
    if not m:
        raise InputError("A learner has not been tested yet. Train on.")
    names = [name for name in tables[0] if name != "step"]
    return Curves(
        seeds=np.array(sorted(seeds)),
        episodes=tables[0]["step"][:m] // episode_steps,
        figures={
            name: np.stack([table[name][:m] for table in tables]) for name in names
        },
    )
