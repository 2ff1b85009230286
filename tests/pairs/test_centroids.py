"""Centroids from few pairs, on matrices whose best centroids are known."""

import numpy as np
import pytest

from kaccess.access import accessibility
from kaccess.cluster.quality import assess
from kaccess.pairs import believe, fill_access, find_centroids, pick_centroids
from kaccess.pairs.build import build_centroids, swap_centroids
from tests.pairs.matrices import ask_from, make_times

N, GROUPS = 120, 6
TIMES = make_times(N, GROUPS)
FEATURES = np.eye(GROUPS)[np.arange(N) % GROUPS]  # the group of each pose


@pytest.mark.parametrize("seed", range(3))
def test_hubs_are_found_among_a_quarter_of_the_pairs(seed):
    pairs = ask_from(TIMES, N * N // 4)
    found = find_centroids(pairs, FEATURES, seed=seed)
    assert set(range(GROUPS)) <= set(found.centroids)
    assert pairs.n_asked <= N * N // 4


def test_all_pairs_give_the_index_of_the_full_matrix():
    candidates = np.arange(20)
    found = pick_centroids(TIMES, FEATURES, candidates)
    expected = assess(accessibility(TIMES), found.centroids).index
    assert found.index == pytest.approx(expected, rel=1e-6)
    assert found.doubt == 0.0


def test_the_same_seed_asks_the_same_pairs():
    first, second = (ask_from(TIMES, 2000) for _ in range(2))
    for pairs in (first, second):
        find_centroids(pairs, FEATURES, seed=4)
    np.testing.assert_array_equal(first.known, second.known)
    other = ask_from(TIMES, 2000)
    find_centroids(other, FEATURES, seed=5)
    assert (other.known != first.known).any()


def test_confidence_stops_before_the_budget():
    sure = ask_from(TIMES, N * N)
    find_centroids(sure, FEATURES, confidence=0.5)
    spent = ask_from(TIMES, N * N)
    find_centroids(spent, FEATURES)
    assert sure.n_asked <= spent.n_asked < N * (N - 1)


def test_greedy_build_and_swaps_equal_plain_loops():
    access = accessibility(make_times(30, 4, seed=2)).astype(np.float64)
    candidates = np.array([0, 1, 2, 3, 9, 17, 25])
    rows, columns = access[candidates], np.ascontiguousarray(access[:, candidates].T)
    built, indices = build_centroids(rows, columns, candidates, 4, 1.0)
    chosen = []
    for k in range(4):
        scores = {
            c: assess(access, np.sort([*chosen, c])).index
            for c in candidates
            if c not in chosen
        }
        chosen.append(max(scores, key=scores.get))
        assert indices[k] == pytest.approx(max(scores.values()))
    np.testing.assert_array_equal(candidates[built], chosen)
    swapped, index = swap_centroids(rows, columns, candidates, built[::-1], 1.0)
    assert index >= indices[3] - 1e-9
    assert index == pytest.approx(assess(access, np.sort(candidates[swapped])).index)


def test_beliefs_are_certain_where_pairs_are_known():
    times = TIMES.copy()
    unknown = np.random.default_rng(1).random(times.shape) < 0.5
    np.fill_diagonal(unknown, False)
    times[unknown] = np.nan
    poses = np.array([0, 7, 60])
    rows, columns = believe(times, FEATURES, poses)
    for chance, known in ((rows, times[poses]), (columns, times[:, poses].T)):
        sure = ~np.isnan(known)
        np.testing.assert_array_equal(chance[sure], np.isfinite(known)[sure])
        assert ((chance >= 0) & (chance <= 1)).all()
    assert columns[0][unknown[:, 0]].max() < 0.2  # nothing reaches a hub


def test_filled_access_keeps_what_is_known():
    times = np.array([[0.0, np.nan, np.inf], [0.5, 0.0, np.nan]], np.float32)
    filled = fill_access(times, np.array([[0, 0.9, 0], [0, 0, 0.2]]), 0.5)
    expected = [[1, np.exp(-0.5), 1e-8], [np.exp(-0.5), 1, 1e-8]]
    np.testing.assert_allclose(filled, expected, rtol=1e-6)
