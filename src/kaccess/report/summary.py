"""Summary of a study in numbers, and a sentence: can this robot get up?"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kaccess.access import Connectivity, Outcome, connect_moves
from kaccess.base.settings import Settings
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.report.pairs import Pairs, count_pairs
from kaccess.study import Study
from kaccess.study.partial import describe_assumptions

__all__ = ["Summary", "Times", "describe_moves", "summarize", "summarize_study"]

_MOST_NAMED = 10  # poses that the verdict names
_REASONS = ("colliding", "restless", "diverged", "airborne")  # of discarded draws


@dataclass(frozen=True)
class Times:
    """Numbers of the estimated moves between different poses.

    Args:
        pairs: Ordered pairs of different poses.
        done: Estimated pairs.
        reached: Moves that reached their goal.
        elsewhere: Moves that came to rest somewhere else.
        restless: Moves that did not come to rest in time.
        diverged: Moves whose simulation diverged.
        one_way: Share of the linked pairs of poses that are linked one way only.
        seconds: 5, 50 and 95 % quantile of the times of reached moves [s].
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
    """Summary of a study.

    Args:
        settings: Content of `study.json`.
        n_poses: Number of poses.
        contact_cases: Sets of parts on the ground with their number of poses, the most
            frequent first.
        times: Numbers of the time matrix.
        graph: Connectivity of the poses; None before the matrix is complete.
        n_moves: (n,) moves in which each pose stood up when the plan was replayed in
            the simulator, 0 if it did not; None if it was not replayed.
    """

    settings: dict[str, Any]
    n_poses: int
    contact_cases: tuple[tuple[str, int], ...]
    times: Times
    graph: Connectivity | None
    n_moves: IntArray | None = None

    @property
    def discarded(self) -> str:
        """Number of discarded draws for each reason, such as `3 colliding`."""
        draws = self.settings["draws"]
        return ", ".join(
            f"{draws[reason]:,} {reason}" for reason in _REASONS if draws[reason]
        )

    @property
    def verdict(self) -> str:
        """A sentence that says whether the robot can get up."""
        if self.graph is None and not self.assumptions:
            left = self.times.pairs - self.times.done
            return (
                f"{left:,} pairs are still to be estimated before it is known whether "
                "the robot can get up: run `kaccess access` again."
            )
        if self.no_standing:
            return self.no_standing
        if self.n_moves is not None:
            return _describe_replay(self.n_moves)
        if self.graph is None:
            return "It is not known whether the robot can get up: nothing was replayed."
        return _describe_stuck(self.n_poses, self.graph.stuck)

    @property
    def assumptions(self) -> str:
        """What is assumed of pairs in a partial study; empty if it is not partial."""
        partial = self.settings.get("pairs")
        return describe_assumptions(partial, self.n_poses) if partial else ""

    @property
    def no_standing(self) -> str:
        """A sentence that says why the robot does not stand; empty if it does."""
        stance = self.settings.get("loaded", {}).get("stance", {})
        if not stance.get("stands", True):
            return (
                f"This robot has no standing pose to get up to: {stance['how']}. Make "
                "a study with other gains (--kp, --kd) or another keyframe "
                "(--stand-key)."
            )
        if not self.settings.get("standing", {}).get("rests", True):
            return (
                "This robot does not stay in its standing pose, so it cannot get up to "
                "it: give it a keyframe named `stand` in which it rests."
            )
        return ""


def summarize_study(study: Study) -> Summary:
    """Return the summary of a study."""
    return summarize(
        study.settings,
        contacts=study.contacts,
        parts=study.arrays.parts,
        chain_moves=study.chain_moves,  # before pairs: both take memory
        pairs=count_pairs(study.n_poses, study.arrays.iter_tiles()),
        to_standing=study.to_standing,
        n_moves=study.n_moves,
    )


def summarize(
    settings: Settings,
    *,
    contacts: BoolArray,
    parts: tuple[str, ...],
    pairs: Pairs,
    to_standing: Array,
    n_moves: IntArray | None = None,
    chain_moves: IntArray | None = None,
) -> Summary:
    """Return the summary of a study from its settings and arrays.

    Args:
        settings: Content of `study.json`.
        contacts: (n, n_parts) which parts touch the ground in each pose.
        parts: Names of the parts.
        pairs: Numbers of the pairs of poses.
        to_standing: (n,) seconds from each pose to standing; NaN: not estimated.
        n_moves: (n,) moves in which each pose stood up in a replay; None if unknown.
        chain_moves: (n,) moves of the shortest chain of landings from each pose to
            standing, 0 if there is none; None if unknown: then chains are made of moves
            that reached their goals.
    """
    stuck = _find_stuck(chain_moves, n_moves)
    done = pairs.complete and not np.isnan(to_standing).any()
    return Summary(
        settings=dict(settings),
        n_poses=len(contacts),
        contact_cases=_count_contact_cases(contacts, parts),
        times=_count_times(pairs, to_standing),
        graph=_connect(pairs.moves, to_standing, stuck) if done else None,
        n_moves=n_moves,
    )


def _find_stuck(
    chain_moves: IntArray | None, n_moves: IntArray | None
) -> IntArray | None:
    """Return the poses without a chain of landings to standing; None if unknown.

    A pose that stood up in a replay is not stuck.
    """
    if chain_moves is None:
        return None
    return np.flatnonzero((chain_moves == 0) & (n_moves is None or n_moves == 0))


def _connect(
    moves: BoolArray, to_standing: Array, stuck: IntArray | None
) -> Connectivity:
    """Return how poses are connected, and those that are stuck, if they are known."""
    graph = connect_moves(moves, np.isfinite(to_standing))
    return graph if stuck is None else replace(graph, stuck=stuck)


def _describe_replay(n_moves: IntArray) -> str:
    """Say from how many poses the robot stood up in the simulator, and how fast."""
    n, stuck = len(n_moves), np.flatnonzero(n_moves == 0)
    if len(stuck) == n:
        return (
            "This robot cannot get up by these moves: in the simulator, the best of "
            f"them stand it up from none of the {n} poses."
        )
    counts = f"in the simulator, {describe_moves(n_moves)}"
    if not len(stuck):
        return f"This robot can get up from all {n} poses: {counts}."
    return (
        f"This robot can get up from {n - len(stuck)} of {n} poses: {counts}; from the "
        f"others it does not get up ({_name_some(stuck)})."
    )


def describe_moves(n_moves: IntArray) -> str:
    """Return how many poses stand up in one move, in two, and so on."""
    words = ("one move", "two", "three")
    parts = [
        f"{count} in {word}"
        for number, word in enumerate(words, start=1)
        if (count := int((n_moves == number).sum()))
    ]
    if more := int((n_moves > len(words)).sum()):
        parts.append(f"{more} in more")
    if parts and not parts[0].endswith("move"):
        parts[0] += " moves"
    return ", ".join(parts)


def _name_some(poses: IntArray) -> str:
    more = ", ..." if len(poses) > _MOST_NAMED else ""
    return ", ".join(map(str, poses[:_MOST_NAMED])) + more


def _describe_stuck(n: int, stuck: IntArray) -> str:
    """Say from how many of n poses the robot can get up, and which are stuck."""
    if not len(stuck):
        return (
            f"This robot can get up: from all {n} poses a chain of moves leads to the "
            "standing pose."
        )
    if len(stuck) == n:
        return (
            "This robot cannot get up by these moves: no chain of moves leads from any "
            f"of the {n} poses to the standing pose."
        )
    return (
        f"This robot can get up from {n - len(stuck)} of {n} poses; from the other "
        f"{len(stuck)} no chain of moves through these poses leads to the standing "
        f"pose ({_name_some(stuck)})."
    )


def _count_contact_cases(
    contacts: BoolArray, parts: tuple[str, ...]
) -> tuple[tuple[str, int], ...]:
    cases = Counter(map(tuple, contacts.tolist()))
    return tuple(
        (" + ".join(np.array(parts)[list(case)]), count)
        for case, count in cases.most_common()
    )


def _count_times(pairs: Pairs, to_standing: Array) -> Times:
    n, counts = len(pairs.moves), pairs.counts
    return Times(
        pairs=n * (n - 1),
        done=int(pairs.done.sum()),
        reached=int(counts[Outcome.REACHED]),
        elsewhere=int(counts[Outcome.ELSEWHERE]),
        restless=int(counts[Outcome.RESTLESS]),
        diverged=int(counts[Outcome.DIVERGED]),
        one_way=pairs.one_way,
        seconds=pairs.quantiles,
        stand_up=(
            None if np.isnan(to_standing).any() else int(np.isfinite(to_standing).sum())
        ),
    )
