"""Print the scores of all seeds together, from tables of scores of single policies.

python experiments/pool_scores.py results/paper/fall-recovery-scores.csv
python experiments/pool_scores.py results/paper/*-poses.csv --digits 2

Success is strict. Intervals are a bootstrap over seeds, then poses; for one policy they
are Wilson's. With few seeds they are too narrow: see the worst seed.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import tyro

from kaccess.base.stats import share_over_runs
from kaccess.base.tables import format_table
from kaccess.study import LearnerName

HEAD = (
    "starts",
    "seeds",
    "episodes",
    "success (95 %)",
    "best",
    "worst",
    "time",
    "work",
)


@dataclass(frozen=True)
class Config:
    """Tables to read."""

    tables: tyro.conf.Positional[tuple[Path, ...]]
    """Tables (CSV) with a row for each policy: `learner`, `poses`, `success`, ..."""
    digits: int = 1
    """Digits after the decimal point of a percentage."""


def main(config: Config) -> None:
    for path in config.tables:
        with path.open() as file:
            rows = list(csv.DictReader(file))
        kinds: dict[tuple[str, str], list[dict[str, str]]] = {}
        for row in rows:
            starts = LearnerName.parse(row["learner"]).starts
            kinds.setdefault((starts, row.get("episodes", "")), []).append(row)
        cells = [summarize(*kind, each, config.digits) for kind, each in kinds.items()]
        print(f"{path}, {rows[0]['poses']} poses\n\n{format_table(HEAD, cells)}\n")


def summarize(
    starts: str, episodes: str, rows: Sequence[dict[str, str]], digits: int
) -> list[str]:
    """Return the line of one kind of starts that was trained for as many episodes."""
    n = [int(row["poses"]) for row in rows]
    shares = [float(row["success"]) for row in rows]
    hits = [round(share * each) for share, each in zip(shares, n, strict=True)]
    best = max(rows, key=lambda row: (float(row["success"]), float(row["reward"])))
    form = f".{digits}%"
    return [
        starts,
        f"{len(rows)}",
        episodes,
        share_over_runs(hits, n).text(form),
        f"{max(shares):{form}}",
        f"{min(shares):{form}}",
        f"{float(best.get('time') or best['seconds']):.2f} s",
        f"{float(best.get('energy') or best['work']):.1f} J",
    ]


if __name__ == "__main__":
    main(tyro.cli(Config))
