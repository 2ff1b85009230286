"""Scores of policies, as `kaccess evaluate` stores them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kaccess.base.stats import Interval, share_over_runs
from kaccess.study import LearnerName

__all__ = ["Score", "find_best_run", "score_starts"]


@dataclass(frozen=True)
class Score:
    """Scores of all seeds of one kind of starts.

    Args:
        starts: Name of the starts.
        n_seeds: Number of learners.
        n_poses: Number of test poses of each learner.
        reward: Mean episode reward of the best seed.
        reward_sd: Standard deviation of this reward over the poses.
        success: Share of episodes with success over all seeds.
        best: Share of episodes with success of the best seed.
        worst: The same of the worst seed.
        seconds: Median time to success of the best seed [s]; NaN without success.
        work: Mean work of the best seed [J].
        clusters: Successes and test poses over all seeds, by cluster of the test pose.
    """

    starts: str
    n_seeds: int
    n_poses: int
    reward: float
    reward_sd: float
    success: Interval
    best: float
    worst: float
    seconds: float
    work: float
    clusters: Mapping[str, tuple[int, int]]


def find_best_run(policies: Sequence[Mapping[str, Any]]) -> str:
    """Return the learner with the most success; with equal success, the most reward."""
    best = max(policies, key=_get_merit)
    return str(best["name"])


def _get_merit(policy: Mapping[str, Any]) -> tuple[float, float]:
    summary = policy["summary"]
    return float(summary["success"]["value"]), float(summary["reward"])


def score_starts(policies: Sequence[Mapping[str, Any]]) -> list[Score]:
    """Return the scores of each kind of starts, in the order of their names."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for policy in policies:
        kinds.setdefault(LearnerName.parse(policy["name"]).starts, []).append(policy)
    return [_score_runs(starts, runs) for starts, runs in sorted(kinds.items())]


def _score_runs(starts: str, runs: Sequence[Mapping[str, Any]]) -> Score:
    best = max(runs, key=_get_merit)["summary"]
    counts = [
        _count_hits(run["summary"]["success"], run["summary"]["n"]) for run in runs
    ]
    hits, n_poses = [hits for hits, _ in counts], [n for _, n in counts]
    time = best["time"]
    return Score(
        starts=starts,
        n_seeds=len(runs),
        n_poses=int(best["n"]),
        reward=float(best["reward"]),
        reward_sd=float(best["reward_sd"]),
        success=share_over_runs(hits, n_poses),
        best=max(hits / n for hits, n in counts),
        worst=min(hits / n for hits, n in counts),
        seconds=np.nan if time is None else float(time),
        work=float(best["energy"]),
        clusters=_count_by_cluster(runs),
    )


def _count_by_cluster(runs: Sequence[Mapping[str, Any]]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for run in runs:
        for group in run.get("groups", {}).get("cluster", ()):
            hits, n = _count_hits(group["success"], group["n"])
            before, n_before = found.get(group["name"], (0, 0))
            found[group["name"]] = (before + hits, n_before + n)
    return found


def _count_hits(share: Mapping[str, float], n: int) -> tuple[int, int]:
    return round(share["value"] * n), int(n)
