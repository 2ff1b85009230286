"""The known moves of a study, from which accessibility is learned."""

from dataclasses import dataclass

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.study import Study

__all__ = ["Moves", "read_moves"]

_FEWEST = 1000  # known pairs; fewer say nothing about poses that were not seen


@dataclass(frozen=True, eq=False)
class Moves:
    """Known moves between poses, arrays of the same length b.

    Args:
        source: Pose that each move starts from.
        goal: Pose whose joints are commanded.
        times: Time until at rest in the goal [s]; inf if not reached.
        ends: (b, nq) states in which moves came to rest; NaN where not known.
    """

    source: IntArray
    goal: IntArray
    times: Array
    ends: Array

    def __len__(self) -> int:
        return len(self.source)

    @property
    def reached(self) -> BoolArray:
        """Which moves reached their goals."""
        return np.isfinite(self.times)

    def take(self, which: IntArray | BoolArray) -> "Moves":
        """Return some of the moves."""
        return Moves(*(array[which] for array in vars(self).values()))

    def require_enough(self) -> None:
        """Raise `InputError` if there is too little to learn from."""
        reached = int(self.reached.sum())
        if len(self) < _FEWEST or not 0 < reached < len(self):
            raise InputError(
                f"Learning needs at least {_FEWEST} known pairs, some reached and some "
                f"not; got {len(self)}, of which {reached} are reached. Run `kaccess "
                "access STUDY` to estimate more, or sample more poses."
            )


def read_moves(study: Study, *, most: int, seed: int = 0) -> Moves:
    """Return the known moves of a study, or as many of them drawn at random.

    Pairs that are not estimated are left out, and so are poses paired with themselves.

    Args:
        study: Study; its pairs need not all be estimated.
        most: Largest number of moves.
        seed: Seed of the draws.
    """
    source, goal, times = _list_known(study)
    if len(source) > most:
        chosen = np.random.default_rng(seed).choice(len(source), most, replace=False)
        chosen.sort()
        source, goal, times = source[chosen], goal[chosen], times[chosen]
    return Moves(source, goal, times, _read_ends(study, source, goal))


def _list_known(study: Study) -> tuple[IntArray, IntArray, Array]:
    """Return source, goal and time of all pairs that are estimated."""
    parts = []
    for rows, times in study.arrays.read_in_parts("times"):
        row, goal = np.nonzero(~np.isnan(times))
        moves = row + rows.start != goal
        row, goal = row[moves], goal[moves]
        parts.append((row + rows.start, goal, times[row, goal]))
    source, goal, seconds = (np.concatenate(each) for each in zip(*parts, strict=True))
    return source, goal, seconds


def _read_ends(study: Study, source: IntArray, goal: IntArray) -> Array:
    """Return the states in which moves ended, (b, nq); NaN where not known.

    Large studies store no states, only the nearest node: its state stands for them.
    """
    arrays, nodes = study.arrays, study.nodes
    ends = np.full((len(source), study.robot.model.nq), np.nan, np.float32)
    if nodes is None:
        return ends
    has_states = "landings/states" in arrays.names
    name = "landings/states" if has_states else "landings/node"
    for rows, part in arrays.read_in_parts(name):
        first, last = np.searchsorted(source, [rows.start, rows.stop])
        found = part[source[first:last] - rows.start, goal[first:last]]
        ends[first:last] = found if has_states else nodes.qpos[found]
    unknown = ~(np.linalg.norm(ends[:, 3:7], axis=1) > 0.5)  # no unit quaternion
    ends[unknown] = np.nan
    return ends
