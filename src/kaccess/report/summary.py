"""What is in a study, in figures and in one sentence: can this robot get up at all?"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from kaccess.access import Connectivity, Outcome, measure_connectivity
from kaccess.base.settings import Settings
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.study import Study

__all__ = ["Summary", "Times", "summarize", "summarize_study", "verdict"]


@dataclass(frozen=True)
class Times:
    """Figures of the estimated part of the matrix, off its diagonal.

    Args:
        pairs: Ordered pairs of different poses.
        done: Those estimated.
        reached: Of these, those that reached their goal.
        elsewhere: Those that came to rest somewhere else.
        restless: Those that did not come to rest in time.
        diverged: Those whose simulation broke down.
        one_way: Share of the linked pairs of poses that are linked one way only.
        seconds: 5, 50 and 95 % quantile of the times of those reached [s].
        stand_up: Poses that reach standing in one move; None if not estimated.
    """

    pairs: int
    done: int
    reached: int
    elsewhere: int
    restless: int
    diverged: int
    one_way: float | None
    seconds: tuple[float, float, float] | None
    stand_up: int | None


@dataclass(frozen=True)
class Summary:
    """What is in a study.

    Args:
        settings: What was computed and how.
        n_poses: Number of poses.
        contact_cases: Sets of parts on the ground, the most frequent first.
        times: Figures of the time matrix.
        graph: How the poses hang together; None before the matrix is complete.
    """

    settings: dict[str, Any]
    n_poses: int
    contact_cases: tuple[tuple[str, int], ...]
    times: Times
    graph: Connectivity | None


def summarize_study(study: Study) -> Summary:
    """Return the summary of a study."""
    return summarize(
        study.settings,
        contacts=study.contacts,
        parts=study.arrays.parts,
        times=study.times,
        outcomes=study.outcomes,
        to_standing=study.to_standing,
    )


def summarize(
    settings: Settings,
    *,
    contacts: BoolArray,
    parts: tuple[str, ...],
    times: Array,
    outcomes: IntArray,
    to_standing: Array,
) -> Summary:
    """Return the figures of a study from its arrays."""
    done = not (np.isnan(times).any() or np.isnan(to_standing).any())
    return Summary(
        settings=dict(settings),
        n_poses=len(contacts),
        contact_cases=_contact_cases(contacts, parts),
        times=_count_times(times, outcomes, to_standing),
        graph=measure_connectivity(times, to_standing) if done else None,
    )


def verdict(summary: Summary) -> str:
    """Return in a sentence whether the robot can get up."""
    n, graph = summary.n_poses, summary.graph
    if graph is None:
        left = summary.times.pairs - summary.times.done
        return (
            f"{left:,} pairs are still to be estimated before it is known whether the "
            "robot can get up: run `kaccess access` again."
        )
    if not summary.settings.get("standing", {}).get("rests", True):
        return (
            "This robot does not stay in its standing pose, so there is nothing to get "
            "up to: give it a keyframe named `stand` in which it rests."
        )
    n_stuck = len(graph.stuck)
    if n_stuck == 0:
        return (
            f"This robot can get up: from all {n} poses a chain of moves leads to the "
            "standing pose."
        )
    shown = ", ".join(map(str, graph.stuck[:10])) + (", ..." if n_stuck > 10 else "")
    if n_stuck == n:
        return f"This robot cannot get up by these moves: none of {n} poses can stand."
    return (
        f"This robot can get up from {n - n_stuck} of {n} poses; from the other "
        f"{n_stuck} no chain of moves through these poses leads to the standing pose "
        f"({shown})."
    )


def _contact_cases(
    contacts: BoolArray, parts: tuple[str, ...]
) -> tuple[tuple[str, int], ...]:
    cases = Counter(map(tuple, contacts.tolist()))
    return tuple(
        (" + ".join(np.array(parts)[list(case)]), count)
        for case, count in cases.most_common()
    )


def _count_times(times: Array, outcomes: IntArray, to_standing: Array) -> Times:
    n = len(times)
    off_diagonal = ~np.eye(n, dtype=bool)
    done = off_diagonal & ~np.isnan(times)
    counts = np.bincount(outcomes[done], minlength=len(Outcome))
    moves = np.isfinite(times) & off_diagonal
    linked = (moves | moves.T) & done & done.T
    both = moves & moves.T
    quantiles = np.quantile(times[moves], [0.05, 0.5, 0.95]) if moves.any() else None
    return Times(
        pairs=n * (n - 1),
        done=int(done.sum()),
        reached=int(counts[Outcome.REACHED]),
        elsewhere=int(counts[Outcome.ELSEWHERE]),
        restless=int(counts[Outcome.RESTLESS]),
        diverged=int(counts[Outcome.DIVERGED]),
        one_way=float(1 - both.sum() / linked.sum()) if linked.any() else None,
        seconds=None if quantiles is None else tuple(map(float, quantiles)),  # type: ignore[arg-type]  # three of them
        stand_up=(
            None if np.isnan(to_standing).any() else int(np.isfinite(to_standing).sum())
        ),
    )
