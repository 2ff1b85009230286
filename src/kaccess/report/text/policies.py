"""Scores of policies, as text."""

from collections.abc import Iterable, Sequence

import numpy as np

from kaccess.base.stats import wilson
from kaccess.base.tables import format_table
from kaccess.config import TEST_SECONDS
from kaccess.evaluation.evaluate import Evaluation
from kaccess.study import ROUTES

__all__ = ["format_evaluations"]

_FEWEST = 5  # poses that a cluster needs to be called the worst
_REWARD = ("reward", "reward_sd")


def format_evaluations(found: Sequence[Evaluation], *, under: str = "") -> str:
    """Return a table with one row for each kind of starts, over its seeds.

    Args:
        found: Scores of each policy.
        under: Conditions of the test.
    """
    head = (
        *("starts", "seeds", "reward (SD)", f"success in {TEST_SECONDS:g} s (95 %)"),
        *("loose", "best seed", "time [s]", "work [J]", "worst cluster"),
    )
    kinds: dict[str, list[Evaluation]] = {}
    for each in found:
        kinds.setdefault(each.starts, []).append(each)
    table = format_table(head, [_cells(kind, runs) for kind, runs in kinds.items()])
    n = found[0].summary.n
    note = f"From {n} poses that no policy trained on, {TEST_SECONDS:g} s each"
    note += f", under {under}." if under else "."
    if ROUTES in kinds:
        note += f" {ROUTES}: the moves of the study's graph, nothing learned."
    return f"{table}\n\n{note}"


def _cells(kind: str, runs: Sequence[Evaluation]) -> list[str]:
    sums = [run.summary for run in runs]
    hits = sum(round(each.success.value * each.n) for each in sums)
    success = wilson(hits, sum(each.n for each in sums))
    loose = np.mean([each.success_loose.value for each in sums])
    best = max(each.success.value for each in sums)
    reward, spread = (_mean(getattr(s, name) for s in sums) for name in _REWARD)
    return [
        kind,
        f"{len(runs)}",
        f"{reward:.1f} ({spread:.1f})",
        success.text(".1%"),
        f"{loose:.1%}",
        f"{best:.1%}",
        f"{_mean(s.time for s in sums):.2f}",
        f"{_mean(s.energy for s in sums):.2f}",
        _worst(runs),
    ]


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan


def _worst(runs: Sequence[Evaluation]) -> str:
    """Return the cluster with the least success, over all seeds."""
    hits: dict[str, list[int]] = {}
    for run in runs:
        for group in run.groups.get("cluster", ()):
            counts = hits.setdefault(group.name, [0, 0])
            counts[0] += round(group.success.value * group.n)
            counts[1] += group.n
    large = {k: (a / n, n) for k, (a, n) in hits.items() if n >= _FEWEST * len(runs)}
    if not large:
        return "-"
    name = min(large, key=lambda k: large[k][0])
    return f"{name}: {large[name][0]:.1%} of {large[name][1] // len(runs)}"
