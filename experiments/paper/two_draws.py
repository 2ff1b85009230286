"""Compare policies trained on moved and on teleported poses, each tested on both.

python experiments/paper/two_draws.py runs/published-teleport runs/published-move

Needs `kaccess evaluate` of each study with `--draw move` and `--draw teleport`. Prints
a table of strict success, and writes one line for each learner and test.
"""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess.base.tables import format_table
from kaccess.study import LearnerName, Study

Row = dict[str, str | int | float]


@dataclass(frozen=True)
class Config:
    """Studies to compare."""

    studies: tyro.conf.Positional[tuple[Path, ...]]
    """Folders of studies, which differ in how their poses are drawn."""
    trained_under: str = "filter=0"
    """Conditions of the training and of the tests."""
    out: Path | None = None
    """CSV file to write."""


def main(config: Config) -> None:
    rows = [
        row
        for path in config.studies
        for row in read_scores(path, config.trained_under)
    ]
    print(make_table(rows))
    if config.out:
        config.out.parent.mkdir(parents=True, exist_ok=True)
        with config.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


def read_scores(path: Path, conditions: str) -> Iterator[Row]:
    """Yield the scores of each policy of a study in each test under the conditions."""
    study = Study(path)
    own = study.sampling.draw
    for test, content in study.tests().items():
        if test.best or {test.under, test.runs.conditions} != {conditions}:
            continue
        for policy in content["policies"]:
            yield {
                "trained_on": own,
                "tested_on": test.draw or own,
                "engine": content["engine"],
                "learner": policy["name"],
                "poses": policy["summary"]["n"],
                "success": policy["summary"]["success"]["value"],
                "reward": round(policy["summary"]["reward"], 3),
            }


def make_table(rows: list[Row]) -> str:
    """Return mean and range of success over seeds, one column for each kind of test."""
    tests = list(dict.fromkeys(str(row["tested_on"]) for row in rows))
    groups: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        kind = str(row["trained_on"]), LearnerName.parse(str(row["learner"])).starts
        shares = groups.setdefault(kind, {})
        shares.setdefault(str(row["tested_on"]), []).append(float(row["success"]))
    head = ("trained on", "starts", "seeds", *(f"tested on {test}" for test in tests))
    return format_table(
        head,
        [
            (
                *kind,
                str(len(next(iter(of.values())))),
                *(describe(of.get(test)) for test in tests),
            )
            for kind, of in groups.items()
        ],
    )


def describe(shares: list[float] | None) -> str:
    """Return the mean of shares, and their range."""
    if not shares:
        return ""
    return f"{np.mean(shares):.1%} ({min(shares):.1%} to {max(shares):.1%})"


if __name__ == "__main__":
    main(tyro.cli(Config))
