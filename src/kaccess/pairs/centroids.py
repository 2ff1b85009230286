"""Centroids from few pairs: a bandit search for the index of K-Access.

The index rewards centroids that few other clusters reach and that reach their members.
So candidates are poses that few poses reach (`screen`).

Then the search believes (`belief`), and draws matrices as they may be: known pairs are
the same in all of them. It builds centroids greedily and swaps them, as PAM does, so
that the mean index of the draws rises: centroids that may turn out to be alone in their
cluster are left out. It asks what its solution rests on: the pairs from centroids to
their members, then those from all poses to centroids, the likeliest to be reached
first. A belief that was wrong changes the next solution. So pairs are spent on the
centroids that may win, as in BanditPAM, and not on the others.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.config import FLOOR
from kaccess.pairs.belief import believe, sample_access
from kaccess.pairs.build import build_centroids, swap_centroids
from kaccess.pairs.lazy import LazyPairs
from kaccess.pairs.screen import find_candidates

__all__ = ["CentroidSearch", "find_centroids", "pick_centroids"]

_SCREENING = 0.3  # share of all pairs by which candidates are found
_SAMPLED = 0.04  # share of the poses to which candidates are tried at first
_ROUND = 0.1  # share of all pairs that a round asks for the columns of centroids
_UNLIKELY = 0.1  # probability below which a pair is not asked for
_FEWEST, _MOST = 24, 160  # candidates; 300 of 3000 poses were no better
_DRAWS, _DRAWS_BEFORE = 16, 6  # matrices as they may be, at the end and before
_SPREAD = 1.5  # of the log odds that a candidate reaches others, beside the trees'
_HOPE = 0.25  # share of alpha that counts while there are pairs left to verify
_LONELY = 2.0  # expected members of a cluster that may turn out to have none
_FEW = 4  # poses by which such a cluster is verified


@dataclass(frozen=True)
class CentroidSearch:
    """Centroids, and what they rest on.

    Args:
        candidates: Poses among which they were chosen.
        centroids: (k,) pose numbers, ascending.
        index: Their index, the mean over what the matrix may be.
        indices: (m,) index of the first 1, 2, ... m centroids of the greedy build.
        doubt: Expected number of pairs that the solution rests on and that are not
            as believed, for each centroid.
    """

    candidates: IntArray
    centroids: IntArray
    index: float
    indices: Array
    doubt: float


def find_centroids(
    pairs: LazyPairs,
    features: Array,
    *,
    seed: int = 0,
    k_max: int = 120,
    alpha: float = 1.0,
    confidence: float | None = None,
) -> CentroidSearch:
    """Find centroids with a high index, until no pair is left.

    Args:
        pairs: Pairs to ask.
        features: (n, d) what describes a pose.
        seed: Seed of the poses that candidates are tried from and to.
        k_max: Largest number of centroids.
        alpha: Penalty of the index for each cluster with only one pose.
        confidence: Stop when the pairs that the solution rests on are as believed, at
            this confidence for each centroid, in (0, 1); by default use all pairs.
    """
    n, room = len(pairs), pairs.room
    rng = np.random.default_rng([seed, n, 1])
    count, screening = count_candidates(n, room), int(_SCREENING * room)
    candidates = find_candidates(pairs, features, count, screening, rng)
    _try_rows(pairs, candidates, rng)
    batch = max(n, int(_ROUND * room))
    while True:
        hope = _solve(
            pairs.times, features, candidates, k_max, _HOPE * alpha, hopeful=True
        )
        sure = confidence is not None and hope.found.doubt <= 1 - confidence
        if sure or not _verify(pairs, hope, batch):
            break
    return pick_centroids(pairs.times, features, candidates, k_max=k_max, alpha=alpha)


def count_candidates(n: int, room: int) -> int:
    """Return how many candidates to look for, with so many pairs to ask."""
    return int(np.clip(2 * room // n, _FEWEST, max(_FEWEST, min(_MOST, n // 4))))


def pick_centroids(
    times: Array,
    features: Array,
    candidates: IntArray,
    *,
    k: int | None = None,
    k_max: int = 120,
    alpha: float = 1.0,
) -> CentroidSearch:
    """Return the best centroids by the pairs that are known; nothing is asked.

    Arguments as in `find_centroids`; `k` is the number of centroids, by default that
    with the highest index.
    """
    most = k or k_max
    return _solve(times, features, candidates, most, alpha, exactly=bool(k)).found


def _try_rows(pairs: LazyPairs, candidates: IntArray, rng: np.random.Generator) -> None:
    """Ask where candidates lead, for a few random poses."""
    n = len(pairs)
    count = max(8, int(_SAMPLED * n))
    goals = [rng.choice(n, min(count, n), replace=False) for _ in candidates]
    pairs.ask(np.repeat(candidates, min(count, n)), np.concatenate(goals))


@dataclass(frozen=True)
class _Solution:
    """Centroids, and what is believed of the pairs that they rest on.

    Args:
        found: Centroids.
        rows: (k, n) chance that a centroid reaches a pose.
        columns: (k, n) chance that a pose reaches a centroid.
        share: (k, n) share of the draws in which a pose belongs to a centroid.
    """

    found: CentroidSearch
    rows: Array
    columns: Array
    share: Array


def _solve(
    times: Array,
    features: Array,
    candidates: IntArray,
    k_max: int,
    alpha: float,
    *,
    exactly: bool = False,
    hopeful: bool = False,
) -> _Solution:
    """Return the best centroids by the mean over what the matrix may be.

    If `hopeful`, it is a first guess, from fewer draws and without swaps.
    """
    rows, columns = believe(times, features, candidates)
    rng = np.random.default_rng(0)
    count = _DRAWS_BEFORE if hopeful else _DRAWS
    leaving = sample_access(rows, rng, count, spread=_SPREAD)
    arriving = sample_access(columns, rng, count)
    k_max = min(k_max, len(candidates))
    built, indices = build_centroids(
        leaving, arriving, candidates, k_max, alpha, until_worse=not exactly
    )
    k = k_max if exactly else 1 + int(np.argmax(indices))
    chosen, index = np.sort(built[:k]), float(indices[k - 1])
    if not hopeful:
        chosen, index = swap_centroids(leaving, arriving, candidates, chosen, alpha)
        chosen = np.sort(chosen)
    share = _share_members(leaving[:, chosen], candidates[chosen])
    doubt = _measure_doubt(rows.chance[chosen], columns.chance[chosen], share)
    found = CentroidSearch(candidates, candidates[chosen], index, indices, doubt)
    return _Solution(found, rows.chance[chosen], columns.chance[chosen], share)


def _share_members(leaving: Array, centroids: IntArray) -> Array:
    """Return in which share of the draws each pose belongs to each centroid, (k, n).

    A pose that no centroid reaches belongs to none.
    """
    k = len(centroids)
    labels = np.where(leaving.max(axis=1) > FLOOR, leaving.argmax(axis=1), -1)
    labels[:, centroids] = np.arange(k)
    return np.asarray(np.mean(labels[:, None] == np.arange(k)[:, None], axis=0))


def _measure_doubt(rows: Array, columns: Array, share: Array) -> float:
    """Return the expected number of wrong beliefs that a centroid rests on."""
    members = (np.minimum(rows, 1 - rows) * share).sum()
    others = (np.minimum(columns, 1 - columns) * (1 - share)).sum()
    return float((members + others) / len(rows))


def _verify(pairs: LazyPairs, solution: _Solution, batch: int) -> bool:
    """Ask what a solution rests on; return False if all of that is known."""
    before, centroids = pairs.n_asked, solution.found.centroids
    for _ in range(4):  # a wrong belief leaves a pose to the next best centroid
        _ask_members(pairs, centroids, solution.rows)
    _ask_lonely(pairs, centroids, solution)
    _ask_columns(pairs, centroids, solution, batch)
    return pairs.n_asked > before


def _ask_members(pairs: LazyPairs, centroids: IntArray, rows: Array) -> None:
    """Ask, for each pose that no centroid surely reaches, the likeliest one."""
    times = pairs.times[centroids]
    chance = np.where(np.isnan(times), rows, 0.0)
    best, poses = chance.argmax(axis=0), np.arange(len(pairs))
    open_ = ~np.isfinite(times).any(axis=0) & (chance[best, poses] > 0)
    pairs.ask(centroids[best[open_]], poses[open_])


def _ask_lonely(pairs: LazyPairs, centroids: IntArray, solution: _Solution) -> None:
    """Ask from which centroids the likely members of small clusters are reached."""
    share = solution.share.copy()
    share[:, centroids] = 0.0
    lonely = np.flatnonzero(share.sum(axis=1) < _LONELY)
    likely = np.argsort(-share[lonely], axis=1, kind="stable")[:, :_FEW]
    members = np.unique(likely)
    unknown = np.isnan(pairs.times[np.ix_(centroids, members)]) & (
        solution.rows[:, members] > _UNLIKELY
    )
    source, goal = np.nonzero(unknown)
    pairs.ask(centroids[source], members[goal])


def _ask_columns(
    pairs: LazyPairs, centroids: IntArray, solution: _Solution, batch: int
) -> None:
    """Ask which poses reach centroids, the likeliest first.

    A pose of a cluster that is known to reach a centroid tells little more.
    """
    n, k = len(pairs), len(centroids)
    labels = solution.share.argmax(axis=0)
    times = pairs.times[:, centroids].T  # (k, n)
    hit = np.zeros((k, k), bool)  # from a cluster to a centroid
    centroid, pose = np.nonzero(np.isfinite(times))
    hit[labels[pose], centroid] = True
    chance = np.where(hit[labels].T, 0.1 * solution.columns, solution.columns).ravel()
    source, goal = np.tile(np.arange(n), k), np.repeat(centroids, n)
    unknown = np.flatnonzero(np.isnan(times.ravel()))
    likely = unknown[np.argsort(-chance[unknown], kind="stable")][:batch]
    pairs.ask(source[likely], goal[likely])
