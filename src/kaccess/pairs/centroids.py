"""Centroids from few pairs: a bandit search for the index of K-Access.

The index rewards centroids that few other clusters reach and that reach their members.
So candidates are poses that few poses reach. They are found by halving: all poses are
tried from a few random ones, and those that are reached less often are tried from more.

Then the search believes (`belief`), builds centroids greedily and swaps them, as PAM
does, on measured pairs and beliefs; and asks what its solution rests on: the pairs from
centroids to their members, then those from all poses to centroids, the likeliest to be
reached first. A belief that was wrong changes the next solution. So pairs are spent on
the centroids that may win, as in BanditPAM, and not on the others.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.pairs.belief import EVEN, believe, fill_access
from kaccess.pairs.build import build_centroids, swap_centroids
from kaccess.pairs.lazy import LazyPairs

__all__ = ["CentroidSearch", "find_centroids", "pick_centroids"]

_SCREENING = 0.3  # share of all pairs by which candidates are found
_SAMPLED = 0.04  # share of the poses to which candidates are tried at first
_LAST = 0.25  # share of all pairs that are left when poses must be surely reached
_ROUND = 0.12  # share of all pairs that a round asks for
_UNLIKELY = 0.1  # probability below which a pair is not asked for
_HOPEFUL, _CAREFUL = 0.3, 0.8  # probability at which a centroid reaches a member
_FOR_COLUMNS = 0.9  # share of the pairs that may be those to centroids
_FEWEST, _FEWEST_K = 24, 8  # candidates; centroids that are always allowed
_SMALL = 4  # members of a cluster that may turn out to have none


@dataclass(frozen=True)
class CentroidSearch:
    """Centroids, and what they rest on.

    Args:
        candidates: Poses among which they were chosen.
        centroids: (k,) pose numbers, ascending.
        index: Their index, by measured pairs and beliefs.
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
    k_max = min(k_max, _limit_k(n, pairs.n_asked + room))
    rng = np.random.default_rng([seed, n, 1])
    candidates = _screen(pairs, count_candidates(n, room), int(_SCREENING * room), rng)
    _try_rows(pairs, candidates, rng)
    batch = max(n, int(_ROUND * room))
    start: IntArray | None = None
    bar = _HOPEFUL
    while True:
        found, rows, columns = _solve(
            pairs.times, features, candidates, k_max, alpha, start=start, bar=bar
        )
        sure = confidence is not None and found.doubt <= 1 - confidence
        more = not sure and _verify(pairs, found, rows, columns, batch)
        if not (more or sure) and bar == _CAREFUL:  # could more be hoped for?
            found, rows, columns = _solve(
                pairs.times, features, candidates, k_max, alpha, bar=_HOPEFUL
            )
            more = _verify(pairs, found, rows, columns, batch)
        start = found.centroids
        if bar == _HOPEFUL and (not more or pairs.room < _LAST * room):
            start, bar = None, _CAREFUL  # from now on as the result is chosen
        elif not more:
            break
    return pick_centroids(pairs.times, features, candidates, k_max=k_max, alpha=alpha)


def count_candidates(n: int, room: int) -> int:
    """Return how many candidates to look for, with so many pairs to ask."""
    return int(np.clip(2 * room // n, _FEWEST, max(_FEWEST, n // 4)))


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
    n_known = int((~np.isnan(times)).sum()) - len(times)
    most = k or min(k_max, _limit_k(len(times), n_known))
    found, _, _ = _solve(
        times, features, candidates, most, alpha, bar=_CAREFUL, exactly=bool(k)
    )
    return found


def _limit_k(n: int, n_pairs: int) -> int:
    """Return for how many centroids so many pairs suffice to be sure of them."""
    return max(_FEWEST_K, int(_FOR_COLUMNS * n_pairs / n))


def _screen(
    pairs: LazyPairs, n_wanted: int, room: int, rng: np.random.Generator
) -> IntArray:
    """Return the poses that the fewest poses reach, ascending, by halving."""
    n = len(pairs)
    alive, n_tries = np.arange(n), 0
    halvings = max(0.0, np.log2(n / max(1, n_wanted)))
    more = max(2, int(room / (n * (1 + halvings / 2))))
    orders = rng.permuted(np.tile(np.arange(n), (n, 1)), axis=1)
    while True:
        source = orders[alive, n_tries : n_tries + more]
        pairs.ask(source.ravel(), np.repeat(alive, source.shape[1]))
        n_tries += source.shape[1]
        if len(alive) <= n_wanted:
            return np.sort(alive)
        hits = np.isfinite(pairs.times[:, alive]).sum(axis=0)
        tries = (~np.isnan(pairs.times[:, alive])).sum(axis=0)
        order = np.argsort(hits / tries + 1e-6 * rng.random(len(alive)), kind="stable")
        alive, more = alive[order[: max(n_wanted, len(alive) // 2)]], n_tries


def _try_rows(pairs: LazyPairs, candidates: IntArray, rng: np.random.Generator) -> None:
    """Ask where candidates lead, for a few random poses."""
    n = len(pairs)
    count = max(8, int(_SAMPLED * n))
    goals = [rng.choice(n, min(count, n), replace=False) for _ in candidates]
    pairs.ask(np.repeat(candidates, min(count, n)), np.concatenate(goals))


def _solve(
    times: Array,
    features: Array,
    candidates: IntArray,
    k_max: int,
    alpha: float,
    *,
    start: IntArray | None = None,
    bar: float = EVEN,
    exactly: bool = False,
) -> tuple[CentroidSearch, Array, Array]:
    """Return the best centroids, and beliefs of all candidates' rows and columns."""
    rows, columns = believe(times, features, candidates)
    leaving = fill_access(times[candidates], rows, bar)
    careful = min(EVEN, 1 - bar)  # what is not sure speaks against a centroid
    arriving = fill_access(times[:, candidates].T, columns, careful)
    k_max = min(k_max, len(candidates))
    if start is None:
        built, indices = build_centroids(
            leaving, arriving, candidates, k_max, alpha, until_worse=not exactly
        )
        k = k_max if exactly else 1 + int(np.argmax(indices))
        chosen = built[:k]
    else:
        chosen, indices = np.searchsorted(candidates, start), np.zeros(0)
    chosen, index = swap_centroids(leaving, arriving, candidates, chosen, alpha)
    chosen = np.sort(chosen)
    rests = _find_resting(leaving[chosen], candidates[chosen])
    doubt = _measure_doubt(rows[chosen], columns[chosen], rests)
    found = CentroidSearch(candidates, candidates[chosen], index, indices, doubt)
    return found, rows, columns


def _find_resting(leaving: Array, centroids: IntArray) -> BoolArray:
    """Return from which centroid each pose is believed to be reached best, (k, n)."""
    labels = leaving.argmax(axis=0)
    labels[centroids] = np.arange(len(centroids))
    return np.asarray(labels == np.arange(len(centroids))[:, None])


def _measure_doubt(rows: Array, columns: Array, rests: BoolArray) -> float:
    """Return the expected number of wrong beliefs that a centroid rests on."""
    members = np.minimum(rows, 1 - rows)[rests].sum()
    others = np.minimum(columns, 1 - columns)[~rests].sum()
    return float((members + others) / len(rows))


def _verify(
    pairs: LazyPairs, found: CentroidSearch, rows: Array, columns: Array, batch: int
) -> bool:
    """Ask what a solution rests on; return False if all of that is known."""
    before, centroids = pairs.n_asked, found.centroids
    chosen = np.searchsorted(found.candidates, centroids)
    rows, columns = rows[chosen], columns[chosen]
    for _ in range(4):  # a wrong belief leaves a pose to the next best centroid
        _ask_members(pairs, centroids, rows)
    _ask_small(pairs, centroids, rows)
    poses = np.arange(len(pairs))
    source, goal = np.tile(poses, len(centroids)), np.repeat(centroids, len(pairs))
    unknown = np.flatnonzero(np.isnan(pairs.times[source, goal]))
    likely = unknown[np.argsort(-columns.ravel()[unknown], kind="stable")][:batch]
    pairs.ask(source[likely], goal[likely])
    return pairs.n_asked > before


def _ask_small(pairs: LazyPairs, centroids: IntArray, rows: Array) -> None:
    """Ask from which centroids the members of small clusters are reached fastest."""
    access = fill_access(pairs.times[centroids], rows, EVEN)
    rests = _find_resting(access, centroids)
    small = rests.sum(axis=1) <= _SMALL
    members = np.setdiff1d(np.flatnonzero(rests[small].any(axis=0)), centroids)
    likely = np.isnan(pairs.times[np.ix_(centroids, members)]) & (
        rows[:, members] > _UNLIKELY
    )
    source, goal = np.nonzero(likely)
    pairs.ask(centroids[source], members[goal])


def _ask_members(pairs: LazyPairs, centroids: IntArray, rows: Array) -> None:
    """Ask, for each pose that no centroid surely reaches, the likeliest one."""
    times = pairs.times[centroids]
    chance = np.where(np.isnan(times), rows, 0.0)
    best, poses = chance.argmax(axis=0), np.arange(len(pairs))
    open_ = ~np.isfinite(times).any(axis=0) & (chance[best, poses] > 0)
    pairs.ask(centroids[best[open_]], poses[open_])
