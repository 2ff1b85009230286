"""Curves and scores of policies, as a study stores them."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.stats import Interval, wilson
from kaccess.types import Array

__all__ = ["Curves", "Score", "best_run", "read_curves", "score_starts", "split_run"]


@dataclass(frozen=True, eq=False)
class Curves:
    """Learning curves from one kind of starts.

    Args:
        steps: (m,) steps of a learner.
        reward: (n_seeds, m) mean reward of a test episode.
        success: (n_seeds, m) share of test poses that succeed.
        n_episodes: Episodes of training, of the seed that has the fewest.
    """

    steps: Array
    reward: Array
    success: Array
    n_episodes: int


@dataclass(frozen=True)
class Score:
    """What came of all seeds from one kind of starts.

    Args:
        starts: Name of the starts.
        n_seeds: Learners.
        n_poses: Test poses of each.
        reward: Mean episode reward of the best seed.
        reward_sd: Its standard deviation over the poses.
        success: Share of all episodes that succeed, over all seeds.
        best: Share that succeeds with the best seed.
        seconds: Median time to success of the best seed [s]; NaN if it has none.
        work: Mean work of the best seed [J].
        clusters: For each cluster of test poses, successes and poses over all seeds.
    """

    starts: str
    n_seeds: int
    n_poses: int
    reward: float
    reward_sd: float
    success: Interval
    best: Interval
    seconds: float
    work: float
    clusters: Mapping[str, tuple[int, int]]


def split_run(name: str) -> tuple[str, str]:
    """Return starts and seed of a run such as `ka/seed-0`."""
    starts, _, seed = name.rpartition("/")
    return starts, seed


def read_curves(folder: Path) -> dict[str, Curves]:
    """Return the learning curves of the runs in a folder, by the name of the starts."""
    kinds: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("*/seed-*/evaluation.csv")):
        kinds.setdefault(path.parent.parent.name, []).append(path)
    found = {name: _join(paths) for name, paths in kinds.items()}
    return {name: curves for name, curves in found.items() if len(curves.steps)}


def _join(paths: Sequence[Path]) -> Curves:
    """Return the curves of all seeds, as far as all of them have come."""
    tables = [_read_columns(path) for path in paths]
    m = min(len(table["step"]) for table in tables)
    episodes = [_count_rows(path.with_name("episodes.csv")) for path in paths]
    return Curves(
        steps=tables[0]["step"][:m],
        reward=np.stack([table["reward"][:m] for table in tables]),
        success=np.stack([table["success"][:m] for table in tables]),
        n_episodes=min(episodes),
    )


def _read_columns(path: Path) -> dict[str, Array]:
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = ("step", "reward", "success")
    return {name: np.array([float(row[name]) for row in rows]) for name in names}


def _count_rows(path: Path) -> int:
    return len(path.read_text().splitlines()) - 1 if path.exists() else 0


def best_run(policies: Sequence[Mapping[str, Any]]) -> str:
    """Return the name of the policy with the most successes, then the most reward."""
    best = max(policies, key=_merit)
    return str(best["name"])


def _merit(policy: Mapping[str, Any]) -> tuple[float, float]:
    summary = policy["summary"]
    return float(summary["success"]["value"]), float(summary["reward"])


def score_starts(policies: Sequence[Mapping[str, Any]]) -> list[Score]:
    """Return the scores of each kind of starts, in the order of their names."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for policy in policies:
        kinds.setdefault(split_run(policy["name"])[0], []).append(policy)
    return [_score(starts, runs) for starts, runs in sorted(kinds.items())]


def _score(starts: str, runs: Sequence[Mapping[str, Any]]) -> Score:
    best = max(runs, key=_merit)["summary"]
    counts = [_hits(run["summary"]["success"], run["summary"]["n"]) for run in runs]
    time = best["time"]
    return Score(
        starts=starts,
        n_seeds=len(runs),
        n_poses=int(best["n"]),
        reward=float(best["reward"]),
        reward_sd=float(best["reward_sd"]),
        success=wilson(sum(hits for hits, _ in counts), sum(n for _, n in counts)),
        best=wilson(*_hits(best["success"], best["n"])),
        seconds=np.nan if time is None else float(time),
        work=float(best["energy"]),
        clusters=_by_cluster(runs),
    )


def _by_cluster(runs: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for run in runs:
        for group in run.get("groups", {}).get("cluster", ()):
            hits, n = _hits(group["success"], group["n"])
            before, n_before = found.get(group["name"], (0, 0))
            found[group["name"]] = (before + hits, n_before + n)
    return found


def _hits(share: Mapping[str, float], n: int) -> tuple[int, int]:
    return round(share["value"] * n), int(n)
