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

import tyro

from kaccess.base.stats import share_over_runs
from kaccess.base.survival import find_restricted_mean
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
    """Level of strict success; the table shows when it was reached to stay."""
    figures: Literal["all", "task", "none"] = "all"
    """Figures of the study's report to copy."""


def main(config: Config) -> None:
    out, task = config.out, config.task
    out.mkdir(parents=True, exist_ok=True)
    save_curves(config.study / "train" / task, out / f"{task}.csv")
    steps = make_task(task).episode_steps
    curves = load_curves(out / f"{task}.csv", episode_steps=steps)
    found = {
        test.text: content
        for test, content in Study(config.study).tests().items()
        if test.runs.task == task
    }
    for name, each in found.items():
        path = out / f"{name.replace('_', '-')}-scores.csv"
        write_scores(each["policies"], curves, path)
    tested = found[task]
    figures = {"all": OF_STUDY + OF_TASK, "task": OF_TASK, "none": ()}
    for name in figures[config.figures]:
        file = f"{name.format(task=task)}.png"
        shutil.copy(config.study / "figures" / file, out / file)
    print(f"From {tested['n_poses']} unseen poses, {TEST_SECONDS:g} s each.\n")
    print(table(tested["policies"], curves, config.level))


def write_scores(
    policies: Sequence[Mapping[str, Any]], curves: Mapping[str, Curves], path: Path
) -> None:
    """Write the scores of each policy, one line each, and its training episodes."""
    rows = [
        {
            "learner": policy["name"],
            "episodes": count_episodes(curves.get(starts_of(policy))),
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
        f"| starts | seeds | episodes | to {level:.0%} | reward, best seed (SD) | "
        "success in 3 s, best seed | all seeds (95 %) | worst seed | time, work |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for kind in kinds:
        runs = [each["summary"] for each in policies if starts_of(each) == kind]
        shares = [run["success"]["value"] for run in runs]
        best = max(runs, key=lambda run: (run["success"]["value"], run["reward"]))
        n = best["n"]
        hits = [round(share * n) for share in shares]
        over_all = share_over_runs(hits, [n] * len(runs))
        lines.append(
            f"| {kind} | {len(runs)} | {episodes(curves.get(kind), level)} | "
            f"{best['reward']:.1f} ({best['reward_sd']:.1f}) | "
            f"{best['success']['value']:.1%} | "
            f"{over_all.text('.1%')} | "
            f"{min(shares):.1%} | {best['time']:.2f} s, {best['energy']:.1f} J |"
        )
    return "\n".join(lines)


def starts_of(policy: Mapping[str, Any]) -> str:
    """Return the kind of starts that a policy was trained from."""
    return LearnerName.parse(policy["name"]).starts


def count_episodes(curves: Curves | None) -> int:
    """Return the number of training episodes before the last test; 0 for routes."""
    return int(curves.episodes[-1]) if curves else 0


def episodes(curves: Curves | None, level: float) -> str:
    """Return the training episodes, and the restricted mean until a level."""
    if curves is None:
        return "0 | 0"
    reached = curves.durations(level)
    mean = float(find_restricted_mean(reached, curves.find_horizon()))
    n = int(reached.happened.sum())
    note = "" if n == len(reached) else f", {n} of {len(reached)} seeds"
    return f"{count_episodes(curves)} | {mean:.0f}{note}"


if __name__ == "__main__":
    main(tyro.cli(Config))
