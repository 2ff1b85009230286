"""Effective exploration regions of starts, and how much they overlap.

The paper's Eq. 1: the region of a start holds the poses that are reached from it in
less than t_0. Good starts cover many poses with little redundancy (its section II-B):
most poses lie in some region, and few in many.

    share        poses in some region / all poses
    redundancy   sizes of all regions together / poses in some region

A redundancy of 1 means that no two regions overlap. As with coverage, a start does not
count as reaching itself.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.base.errors import ArrayError
from kaccess.base.types import Array, IntArray

__all__ = [
    "Reach",
    "Regions",
    "leave_out_starts",
    "measure_reach",
    "measure_regions",
    "summarize_regions",
]


@dataclass(frozen=True)
class Regions:
    """The effective exploration regions of some starts.

    Args:
        t_0: Time within which a region is reached [s].
        share: Share of poses that lie in the region of some start.
        redundancy: Mean number of regions that such a pose lies in; 0 if there is none.
    """

    t_0: float
    share: float
    redundancy: float


def measure_regions(times: Array, t_0: float) -> Regions:
    """Return which share of the poses the regions of starts hold, and how redundantly.

    Args:
        times: (k, m) seconds from each start to each of m poses; inf: not reached.
        t_0: Time within which a pose must be reached, the paper's t_0 [s].
    """
    if times.ndim != 2 or not times.size or np.isnan(times).any():
        raise ArrayError(
            "`times` must be seconds from starts (rows) to poses (columns), without "
            f"NaN, got shape {times.shape}. Pass rows of the matrix of times."
        )
    if not t_0 > 0:
        raise ArrayError(f"`t_0` must be a positive time in seconds, got {t_0}.")
    return summarize_regions((times < t_0).sum(axis=0), t_0)


def summarize_regions(counts: IntArray, t_0: float) -> Regions:
    """Return the share of poses in regions, and their redundancy.

    Args:
        counts: (m,) number of regions that each pose lies in.
        t_0: Time within which a region is reached [s].
    """
    n_inside = int((counts > 0).sum())
    redundancy = counts.sum() / n_inside if n_inside else 0.0
    return Regions(t_0, n_inside / len(counts), float(redundancy))


@dataclass(frozen=True, eq=False)
class Reach:
    """What starts reach, without the times of each of them.

    Args:
        t_0: Time within which a region is reached [s].
        counts: (m,) number of regions that each pose lies in.
        soonest: (m,) seconds from the nearest start to each pose; inf: not reached.
    """

    t_0: float
    counts: IntArray
    soonest: Array

    @classmethod
    def of(cls, times: Array, t_0: float) -> "Reach":
        """Return what starts reach; `times`, (k, m), are seconds from start to pose."""
        return cls(t_0, (times < t_0).sum(axis=0), times.min(axis=0))

    def __add__(self, more: "Reach") -> "Reach":
        counts = self.counts + more.counts
        return Reach(self.t_0, counts, np.minimum(self.soonest, more.soonest))

    @property
    def regions(self) -> Regions:
        """The exploration regions."""
        return summarize_regions(self.counts, self.t_0)

    def measure(self, limits: Array) -> Array:
        """Return the share of poses reached in less than each limit, (t,)."""
        return measure_reach(self.soonest[None], limits)


def measure_reach(times: Array, limits: Array) -> Array:
    """Return the share of poses that some start reaches in less than each limit, (t,).

    Args:
        times: (k, m) seconds from each start to each of m poses; inf: not reached.
        limits: (t,) times [s].
    """
    soonest = np.sort(times.min(axis=0))
    return np.asarray(np.searchsorted(soonest, limits, side="left") / len(soonest))


def leave_out_starts(times: Array, starts: IntArray) -> Array:
    """Return a copy of times from starts to poses in which no start reaches itself.

    Args:
        times: (k, m) seconds from each start to each of m poses.
        starts: (k,) indices of the starts among the m poses.
    """
    others = times.copy()
    others[np.arange(len(starts)), starts] = np.inf
    return others
