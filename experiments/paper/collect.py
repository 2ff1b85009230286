"""Copy the results of a study into a small folder: tables, and figures of its report.

python experiments/paper/collect.py runs/paper results/paper

Needs `kaccess evaluate` and, for figures, `kaccess report`. Prints our Table II.
"""

import csv
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from kaccess.base.stats import wilson
from kaccess.config import TEST_SECONDS
from kaccess.envs.tasks import make_task
from kaccess.evaluation.curves import Curves, load_curves, save_curves
from kaccess.study import LearnerName, Study

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
    """Study to copy from, and folder to copy to."""

    study: tyro.conf.Positional[Path]
    """Folder of the study."""
    out: tyro.conf.Positional[Path] = Path("results/paper")
    """Folder of tables and figures."""
    task: str = "fall-recovery"
    """Task that was learned."""
    level: float = 0.95
    """Level of success; the table shows when it was first reached."""
    figures: Literal["all", "task", "none"] = "all"
    """Figures of the study's report to copy."""


def main(config: Config) -> None:
    out, task = config.out, config.task
    out.mkdir(parents=True, exist_ok=True)
    save_curves(config.study / "train" / task, out / f"{task}.csv")
    found = {
        test.text: content
        for test, content in Study(config.study).tests().items()
        if test.runs.task == task
    }
    for name, each in found.items():
        write_scores(each["policies"], out / f"{name.replace('_', '-')}-scores.csv")
    tested = found[task]
    figures = {"all": OF_STUDY + OF_TASK, "task": OF_TASK, "none": ()}
    for name in figures[config.figures]:
        file = f"{name.format(task=task)}.png"
        shutil.copy(config.study / "figures" / file, out / file)
    steps = make_task(task).episode_steps
    curves = load_curves(out / f"{task}.csv", episode_steps=steps)
    print(f"From {tested['n_poses']} unseen poses, {TEST_SECONDS:g} s each.\n")
    print(table(tested["policies"], curves, config.level))


def write_scores(policies: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the scores of each policy, one line each."""
    rows = [
        {
            "learner": policy["name"],
            "poses": policy["summary"]["n"],
            **{
                score: f"{policy['summary'][score]['value']:.4f}"
                for score in ("success", "success_loose")
            },
            **{
                score: policy["summary"][score]
                for score in ("reward", "reward_sd", "time", "energy", "roughness")
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
    kinds = dict.fromkeys(starts_of(policy) for policy in policies)
    lines = [
        f"| starts | episodes | to {level:.0%} | reward, best seed (SD) | "
        "success in 3 s, best seed | all seeds (95 %) | worst seed | time, work |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for kind in kinds:
        runs = [each["summary"] for each in policies if starts_of(each) == kind]
        shares = [run["success"]["value"] for run in runs]
        best = max(runs, key=lambda run: (run["success"]["value"], run["reward"]))
        n = best["n"]
        over_all = wilson(round(sum(shares) * n), n * len(runs))
        lines.append(
            f"| {kind} | {episodes(curves.get(kind), level)} | {best['reward']:.1f} "
            f"({best['reward_sd']:.1f}) | {best['success']['value']:.1%} | "
            f"{over_all.text('.1%')} | "
            f"{min(shares):.1%} | {best['time']:.2f} s, {best['energy']:.1f} J |"
        )
    return "\n".join(lines)


def starts_of(policy: Mapping[str, Any]) -> str:
    """Return the kind of starts that a policy was trained from."""
    return LearnerName.parse(policy["name"]).starts


def episodes(curves: Curves | None, level: float) -> str:
    """Return the number of episodes, and the mean number until a level."""
    if curves is None:
        return "0 | 0"
    reached = curves.episodes_to(level)
    there = np.isfinite(reached)
    mean = np.where(there, reached, curves.episodes[-1]).mean()
    note = "" if there.all() else f", {there.sum()} of {len(there)} seeds"
    return f"{curves.episodes[-1]:.0f} | {mean:.0f}{note}"


if __name__ == "__main__":
    main(tyro.cli(Config))
