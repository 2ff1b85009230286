"""Scores of policies as text."""

from collections.abc import Iterable, Sequence

import numpy as np

from kaccess.base.stats import share_over_runs
from kaccess.base.tables import format_table
from kaccess.config import TEST_SECONDS
from kaccess.evaluation.evaluate import Evaluation
from kaccess.report.text.numbers import NONE
from kaccess.study import ROUTES

__all__ = ["format_evaluations"]

_FEWEST = 5  # test poses that the worst cluster must have


def format_evaluations(
    found: Sequence[Evaluation], *, seconds: float = TEST_SECONDS, under: str = ""
) -> str:
    """Return a table with one row for each kind of starts, over its seeds.

    Args:
        found: Scores of each policy.
        seconds: Time that each policy had [s].
        under: Conditions of the test.
    """
    head = (
        *("starts", "seeds", "reward (SD)", f"success in {seconds:g} s (95 %)"),
        *("loose", "best seed", "worst seed", "time [s]", "work [J]", "worst cluster"),
    )
    kinds: dict[str, list[Evaluation]] = {}
    for each in found:
        kinds.setdefault(each.starts, []).append(each)
    table = format_table(head, [_make_row(kind, runs) for kind, runs in kinds.items()])
    n = found[0].summary.n
    note = f"From {n} poses that no policy trained on, {seconds:g} s each"
    note += f", under {under}." if under else "."
    note += " Intervals are over seeds and poses; with few seeds they are too narrow."
    if ROUTES in kinds:
        note += f" {ROUTES}: the guide, which follows routes and has learned nothing."
    return f"{table}\n\n{note}"


def _make_row(kind: str, runs: Sequence[Evaluation]) -> list[str]:
    sums = [run.summary for run in runs]
    shares = [each.success.value for each in sums]
    hits = [round(each.success.value * each.n) for each in sums]
    success = share_over_runs(hits, [each.n for each in sums])
    loose = np.mean([each.success_loose.value for each in sums])
    reward = _mean(each.reward for each in sums)
    spread = _mean(each.reward_sd for each in sums)
    return [
        kind,
        f"{len(runs)}",
        f"{reward:.1f} ({spread:.1f})",
        success.text(".1%"),
        f"{loose:.1%}",
        f"{max(shares):.1%}",
        f"{min(shares):.1%}",
        f"{_mean(each.time for each in sums):.2f}",
        f"{_mean(each.energy for each in sums):.2f}",
        _find_worst(runs),
    ]


def _mean(values: Iterable[float]) -> float:
    """Return the mean of the values that are not NaN; NaN if there are none."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.mean(known)) if known else np.nan


def _find_worst(runs: Sequence[Evaluation]) -> str:
    """Return the cluster with the lowest success over all seeds, and its success."""
    hits: dict[str, list[int]] = {}
    for run in runs:
        for group in run.groups.get("cluster", ()):
            counts = hits.setdefault(group.name, [0, 0])
            counts[0] += round(group.success.value * group.n)
            counts[1] += group.n
    large = [
        (n_hits / n, name, n // len(runs))
        for name, (n_hits, n) in hits.items()
        if n >= _FEWEST * len(runs)
    ]
    if not large:
        return NONE
    success, name, n = min(large, key=lambda each: each[0])
    return f"{name}: {success:.1%} of {n}"
