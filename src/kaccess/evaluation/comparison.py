"""Comparison of learning speed between kinds of starts, from a few seeds each.

A learner reaches a level at the first of several tests in a row with at least that
success (`Curves.durations`). Episodes are restricted means: the mean number of episodes
until then, where at most those of a horizon count. The horizon is the same for all that
are compared: the last episode up to which all of them are known. A kind whose seeds
have all reached the level needs no later tests.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.stats import (
    Interval,
    bootstrap,
    correct_p_values,
    probability_of_improvement,
)
from kaccess.base.survival import (
    compare_restricted_means,
    estimate_restricted_mean,
    find_p_value,
)
from kaccess.base.tables import format_table
from kaccess.base.types import Array
from kaccess.evaluation.curves import IN_ROW, SCORE, Curves

__all__ = [
    "LEVELS",
    "SCORE_NAMES",
    "Comparison",
    "compare",
    "find_common_horizon",
    "find_horizons",
    "format_comparison",
    "format_horizons",
    "format_p",
    "leave_out_clones",
]

LEVELS = (0.95, 0.90, 0.99)  # the first is that of headlines and planned comparisons
SCORE_NAMES = {"success": "strict success", "success_loose": "loose success"}
_CLONE = "clone-"  # prefix of kinds of learners
_PLANNED = "planned"


@dataclass(frozen=True)
class Comparison:
    """Comparison of two kinds of starts at one level of success.

    Args:
        n_reached: Seeds that reached the level by the horizon.
        n_seeds: All seeds.
        episodes: Restricted mean number of episodes until the level is reached.
        ratio: `episodes` divided by those of the other kind.
        p: p-value of the two being equal, not corrected.
    """

    n_reached: int
    n_seeds: int
    episodes: Interval
    ratio: Interval
    p: float

    @property
    def seeds(self) -> str:
        """Seeds that reached the level, such as `8 of 10`."""
        return f"{self.n_reached} of {self.n_seeds}"


def compare(
    curves: Curves,
    others: Curves,
    level: float,
    *,
    score: str = SCORE,
    in_row: int = IN_ROW,
    horizon: float | None = None,
) -> Comparison:
    """Compare how many episodes two kinds of starts need to reach a level.

    Args:
        curves: Curves of the one kind.
        others: Curves of the other kind.
        level: Level of the score.
        score: Name of the score.
        in_row: Tests in a row that must show the level; 1 counts the first touch.
        horizon: Episodes that count at most; by default as many as both kinds have.
    """
    rng = np.random.default_rng(0)
    if horizon is None:
        horizon = find_common_horizon([curves, others], level, score, in_row=in_row)
    mine = curves.durations(level, score, in_row=in_row)
    theirs = others.durations(level, score, in_row=in_row)
    return Comparison(
        n_reached=mine.count_until(horizon),
        n_seeds=len(mine),
        episodes=estimate_restricted_mean(mine, horizon, rng=rng),
        ratio=compare_restricted_means(mine, theirs, horizon, rng=rng),
        p=find_p_value(mine, theirs, horizon, rng=rng),
    )


def find_common_horizon(
    curves: Sequence[Curves], level: float, score: str = SCORE, *, in_row: int = IN_ROW
) -> float:
    """Return the episodes up to which it is known who has reached a level."""
    known = [each.find_horizon(in_row) for each in curves]
    limits = [
        horizon
        for each, horizon in zip(curves, known, strict=True)
        if not each.durations(level, score, in_row=in_row).happened.all()
    ]
    return min(limits, default=max(known))


def find_horizons(
    curves: Mapping[str, Curves],
    levels: Sequence[float] = LEVELS,
    score: str = SCORE,
    *,
    in_row: int = IN_ROW,
) -> dict[float, float]:
    """Return the common horizon for each level."""
    every = list(curves.values())
    return {
        level: find_common_horizon(every, level, score, in_row=in_row)
        for level in levels
    }


def format_horizons(horizons: Mapping[float, float]) -> str:
    """Return horizons as text, such as `230` or `1570 (95%) or 390 (99%)`."""
    if len(set(horizons.values())) == 1:
        return f"{max(horizons.values()):.0f}"
    return " or ".join(f"{each:.0f} ({level:.0%})" for level, each in horizons.items())


def leave_out_clones(
    curves: Mapping[str, Curves], in_row: int = IN_ROW
) -> dict[str, Curves]:
    """Return the curves without those of clones that have too few tests to compare.

    A clone is tested after each of its rounds, and one round is usual.
    """
    return {
        kind: each
        for kind, each in curves.items()
        if not kind.startswith(_CLONE) or len(each.episodes) >= in_row
    }


def format_comparison(
    curves: Mapping[str, Curves],
    *,
    against: str = "rnd",
    levels: Sequence[float] = LEVELS,
    score: str = SCORE,
    in_row: int = IN_ROW,
    planned: str | None = None,
) -> str:
    """Return tables that compare all kinds of starts with one, by level and by area.

    Args:
        curves: Curves by kind of starts.
        against: Kind to compare with.
        levels: Levels of success, one table each.
        score: Name of the score.
        in_row: Tests in a row that must show a level.
        planned: Kind whose comparison at the first level was planned. Its p-value needs
            no correction. All others are corrected together.
    """
    curves = leave_out_clones(curves, in_row)
    for kind in (against, planned or against):
        if kind not in curves:
            raise InputError(
                f"There are no curves of {kind!r} to compare with, only of "
                f"{', '.join(curves)}."
            )
    order = sorted(curves, key=lambda kind: -float(curves[kind].area(score).mean()))
    ordered = {kind: curves[kind] for kind in order}
    horizons = find_horizons(curves, levels, score, in_row=in_row)
    found, touched = (
        {
            (level, kind): compare(
                ordered[kind],
                ordered[against],
                level,
                score=score,
                in_row=n,
                horizon=horizon,
            )
            for level, horizon in horizons.items()
            for kind in ordered
        }
        for n in (in_row, 1)
    )
    notes = _correct(found, against, (levels[0], planned))
    tables = [
        _format_level_table(level, against, found, touched, notes) for level in levels
    ]
    lead = (
        f"{SCORE_NAMES.get(score, score).capitalize()} in {in_row} tests in a row, "
        f"up to {format_horizons(horizons)} episodes."
    )
    area = (
        _format_area_table(ordered, against, score)
        if _have_same_tests(curves.values())
        else "Means over all tests are left out: kinds were tested at different times."
    )
    return "\n\n".join([lead, *tables, area])


def _have_same_tests(curves: Iterable[Curves]) -> bool:
    """Return whether all kinds were tested after the same numbers of episodes."""
    return len({tuple(each.episodes) for each in curves}) == 1


_Pairs = Mapping[tuple[float, str], Comparison]  # by level and kind of starts


def _correct(
    found: _Pairs, against: str, planned: tuple[float, str | None]
) -> dict[tuple[float, str], str]:
    """Return the corrected p-value of each comparison that was not planned."""
    others = [key for key in found if key != planned and key[1] != against]
    corrected = correct_p_values([found[key].p for key in others])
    texts = dict(zip(others, map(format_p, corrected), strict=True))
    return {key: texts.get(key, "" if key[1] == against else _PLANNED) for key in found}


def _format_level_table(
    level: float,
    against: str,
    found: _Pairs,
    touched: _Pairs,
    notes: Mapping[tuple[float, str], str],
) -> str:
    head = (
        "starts",
        "seeds that reach it",
        f"episodes to {level:.0%} (95 %)",
        f"ratio to {against} (95 %)",
        "p",
        "p (Holm)",
        "first touch: seeds, episodes",
        "ratio",
    )
    rows = []
    for (at, kind), each in found.items():
        if at != level:
            continue
        first = touched[at, kind]
        rows.append(
            [
                kind,
                each.seeds,
                each.episodes.text(".0f"),
                "1" if kind == against else each.ratio.text(".2f"),
                "" if kind == against else format_p(each.p),
                notes[at, kind],
                f"{first.seeds}, {first.episodes.value:.0f}",
                f"{first.ratio.value:.2f}",
            ]
        )
    return format_table(head, rows)


def format_p(p: float) -> str:
    """Return a p-value as text."""
    return "" if np.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


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
