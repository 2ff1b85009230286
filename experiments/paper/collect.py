"""Put what a study has shown into a small folder: tables, and figures of its report.

python experiments/paper/collect.py runs/paper results/paper

Needs `kaccess evaluate` and, for figures, `kaccess report`. Prints our Table II.
"""

import csv
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro
from kaccess.evaluation.learning import kind_of

from kaccess.base.stats import wilson
from kaccess.evaluation.curves import Curves, load_curves, save_curves

OF_STUDY = ("choice", "sizes", "chord")
OF_TASK = (
    "curves-{task}",
    "curves-{task}-success",
    "success-{task}",
    "snapshots-{task}",
    "joints-{task}",
    "torques-{task}",
)


@dataclass(frozen=True)
class Config:
    """From where, and to where."""

    study: tyro.conf.Positional[Path]
    """Folder of the study."""
    out: tyro.conf.Positional[Path] = Path("results/paper")
    """Folder of tables and figures."""
    task: str = "fall-recovery"
    """What was learned."""
    level: float = 0.95
    """Share of success, whose first time is shown."""
    figures: Literal["all", "task", "none"] = "all"
    """Which figures of the study's report to take along."""


def main(config: Config) -> None:
    study, out, task = config.study, config.out, config.task
    out.mkdir(parents=True, exist_ok=True)
    save_curves(study / "train" / task, out / f"{task}.csv")
    tests = {path.stem: path for path in (study / "evaluation").glob(f"{task}*.json")}
    found = {name: json.loads(path.read_text()) for name, path in tests.items()}
    for name, each in found.items():
        write_scores(each["policies"], out / f"{name.replace('_', '-')}-scores.csv")
    tested = found[task]
    figures = {"all": OF_STUDY + OF_TASK, "task": OF_TASK, "none": ()}
    for name in figures[config.figures]:
        file = f"{name.format(task=task)}.png"
        shutil.copy(study / "figures" / file, out / file)
    curves = load_curves(out / f"{task}.csv")
    print(f"From {tested['n_poses']} unseen poses, 3 s each.\n")
    print(table(tested["policies"], curves, config.level))


def write_scores(policies: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the figures of each policy, one line each."""
    rows = [
        {
            "learner": policy["name"],
            "poses": policy["summary"]["n"],
            **{
                figure: f"{policy['summary'][figure]['value']:.4f}"
                for figure in ("success", "success_loose")
            },
            **{
                figure: policy["summary"][figure]
                for figure in ("reward", "reward_sd", "time", "energy", "roughness")
            },
        }
        for policy in policies
    ]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def table(
    policies: Sequence[Mapping[str, Any]], curves: Mapping[str, Curves], level: float
) -> str:
    """Return the paper's Table II, and the same over all seeds, as Markdown."""
    kinds = dict.fromkeys(kind_of(policy["name"]) for policy in policies)
    lines = [
        f"| starts | episodes | to {level:.0%} | reward, best seed (SD) | "
        "success in 3 s, best seed | all seeds (95 %) | worst seed | time, work |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in kinds:
        runs = [p["summary"] for p in policies if kind_of(p["name"]) == kind]
        shares = [run["success"]["value"] for run in runs]
        best = max(runs, key=lambda run: (run["success"]["value"], run["reward"]))
        n = best["n"]
        over_all = wilson(round(sum(shares) * n), n * len(runs))
        lines.append(
            f"| {kind} | {episodes(curves.get(kind), level)} | {best['reward']:.1f} "
            f"({best['reward_sd']:.1f}) | {best['success']['value']:.1%} | "
            f"{over_all.value:.1%} ({over_all.low:.1%} to {over_all.high:.1%}) | "
            f"{min(shares):.1%} | {best['time']:.2f} s, {best['energy']:.1f} J |"
        )
    return "\n".join(lines)


def episodes(curves: Curves | None, level: float) -> str:
    """Return how many episodes there were, and how many until a level."""
    if curves is None:
        return "0 | 0"
    reached = curves.episodes_to(level)
    there = np.isfinite(reached)
    mean = np.where(there, reached, curves.episodes[-1]).mean()
    note = "" if there.all() else f", {there.sum()} of {len(there)} seeds"
    return f"{curves.episodes[-1]:.0f} | {mean:.0f}{note}"


if __name__ == "__main__":
    main(tyro.cli(Config))
