"""Comparison of learning speed between kinds of starts, from a few seeds each.

A learner reaches a level at its first test with at least that success. A learner that
never reaches it counts with all its episodes. Then the mean is a lower bound, and the
table says how many seeds reached the level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.stats import (
    Interval,
    bootstrap,
    probability_of_improvement,
    ratio_of_means,
)
from kaccess.base.tables import format_table
from kaccess.base.types import Array
from kaccess.evaluation.curves import Curves

__all__ = ["LEVELS", "Comparison", "compare", "format_comparison"]

LEVELS = (0.90, 0.95, 0.99)


@dataclass(frozen=True)
class Comparison:
    """Comparison of two kinds of starts at one level of success.

    Args:
        n_reached: Seeds that reached the level.
        n_seeds: All seeds.
        episodes: Mean number of episodes until the level is reached.
        ratio: `episodes` divided by those of the other kind.
        better: Probability that one of its seeds is faster than one of the other's.
    """

    n_reached: int
    n_seeds: int
    episodes: Interval
    ratio: Interval
    better: Interval


def compare(
    curves: Curves, others: Curves, level: float, score: str = "success_loose"
) -> Comparison:
    """Compare how many episodes two kinds of starts need to reach a level."""
    rng = np.random.default_rng(0)
    found = curves.episodes_to(level, score)
    mine, theirs = (
        np.minimum(each.episodes_to(level, score), each.episodes[-1])
        for each in (curves, others)
    )
    return Comparison(
        n_reached=int(np.isfinite(found).sum()),
        n_seeds=len(found),
        episodes=bootstrap(mine, _mean, rng=rng),
        ratio=ratio_of_means(mine, theirs, rng=rng),
        better=probability_of_improvement(-mine, -theirs, rng=rng),
    )


def format_comparison(
    curves: Mapping[str, Curves],
    *,
    against: str = "rnd",
    levels: Sequence[float] = LEVELS,
    score: str = "success_loose",
) -> str:
    """Return tables that compare all kinds of starts with one, by level and by area."""
    if against not in curves:
        raise InputError(
            f"There are no curves of {against!r} to compare with, only of "
            f"{', '.join(curves)}."
        )
    order = sorted(curves, key=lambda kind: -float(curves[kind].area(score).mean()))
    ordered = {kind: curves[kind] for kind in order}
    tables = [_format_level_table(ordered, against, level, score) for level in levels]
    return "\n\n".join([*tables, _format_area_table(ordered, against, score)])


def _format_level_table(
    curves: Mapping[str, Curves], against: str, level: float, score: str
) -> str:
    head = (
        "starts",
        "seeds that reach it",
        f"episodes to {level:.0%} (95 %)",
        f"ratio to {against} (95 %)",
        f"P(faster than {against}) (95 %)",
    )
    rows = []
    for kind, mine in curves.items():
        found = compare(mine, curves[against], level, score)
        rows.append(
            [
                kind,
                f"{found.n_reached} / {found.n_seeds}",
                found.episodes.text(".0f"),
                found.ratio.text(".2f"),
                found.better.text(".2f"),
            ]
        )
    return format_table(head, rows)


def _format_area_table(curves: Mapping[str, Curves], against: str, score: str) -> str:
    rng = np.random.default_rng(0)
    theirs = curves[against].area(score)
    head = ("starts", "mean over all tests (95 %)", f"P(more than {against}) (95 %)")
    rows = []
    for kind, each in curves.items():
        mine = each.area(score)
        mean = bootstrap(mine, _mean, rng=rng)
        better = probability_of_improvement(mine, theirs, rng=rng)
        rows.append([kind, mean.text(".3f"), better.text(".2f")])
    return format_table(head, rows)


def _mean(scores: Array) -> float:
    return float(scores.mean())
