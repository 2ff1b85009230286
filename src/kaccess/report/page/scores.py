"""Scores of policies, as `kaccess evaluate` stores them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kaccess.base.stats import Interval, wilson
from kaccess.study import LearnerName

__all__ = ["Score", "best_run", "score_starts"]


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


def best_run(policies: Sequence[Mapping[str, Any]]) -> str:
    """Return the learner with the most successes, then the most reward."""
    best = max(policies, key=_merit)
    return str(best["name"])


def _merit(policy: Mapping[str, Any]) -> tuple[float, float]:
    summary = policy["summary"]
    return float(summary["success"]["value"]), float(summary["reward"])


def score_starts(policies: Sequence[Mapping[str, Any]]) -> list[Score]:
    """Return the scores of each kind of starts, in the order of their names."""
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for policy in policies:
        kinds.setdefault(LearnerName.parse(policy["name"]).starts, []).append(policy)
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
