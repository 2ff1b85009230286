"""Centroids from few pairs, on matrices whose best centroids are known."""

import numpy as np
import pytest

from kaccess.access import accessibility
from kaccess.cluster.quality import assess
from kaccess.pairs import believe, find_centroids, pick_centroids
from kaccess.pairs.belief import Belief, Believed, fill_believed, sample_access
from kaccess.pairs.build import build_centroids, swap_centroids
from kaccess.pairs.screen import find_candidates
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
    rows, columns = access[candidates][None], access[:, candidates].T[None].copy()
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


def test_the_mean_index_of_the_draws_is_what_counts():
    draws = [
        accessibility(make_times(30, 4, seed=seed)).astype(np.float64)
        for seed in (2, 3, 4)
    ]
    candidates = np.array([0, 1, 2, 3, 9, 17, 25])
    rows = np.array([access[candidates] for access in draws])
    columns = np.array([access[:, candidates].T for access in draws])
    built, indices = build_centroids(rows, columns, candidates, 3, 1.0)
    for k in range(3):
        scores = {
            c: np.mean([assess(a, np.sort([*chosen, c])).index for a in draws])
            for chosen in [list(candidates[built[:k]])]
            for c in candidates
            if c not in chosen
        }
        assert candidates[built[k]] == max(scores, key=scores.get)
        assert indices[k] == pytest.approx(max(scores.values()))


def hide_half(times):
    times = times.copy()
    unknown = np.random.default_rng(1).random(times.shape) < 0.5
    np.fill_diagonal(unknown, False)
    times[unknown] = np.nan
    return times, unknown


def test_beliefs_are_certain_where_pairs_are_known():
    times, unknown = hide_half(TIMES)
    poses = np.array([0, 7, 60])
    rows, columns = believe(times, FEATURES, poses)
    for found, known in ((rows, times[poses]), (columns, times[:, poses].T)):
        sure = ~np.isnan(known)
        np.testing.assert_array_equal(found.known, sure)
        np.testing.assert_array_equal(found.chance[sure], np.isfinite(known)[sure])
        np.testing.assert_array_equal(found.times[sure], known[sure])
        assert ((found.chance >= 0) & (found.chance <= 1)).all()
    assert columns.chance[0][unknown[:, 0]].max() < 0.2  # nothing reaches a hub


def test_times_are_predicted_from_both_poses():
    place = np.linspace(0, 1, 60)
    times = np.exp(place[:, None] + 2 * place).astype(np.float32)
    np.fill_diagonal(times, 0)
    hidden, unknown = hide_half(times)
    belief = Belief(hidden, place[:, None])
    source, goal = np.nonzero(unknown)
    off = np.log(belief.predict_times(source, goal) / times[source, goal])
    assert np.abs(off).mean() < 0.05  # logarithms lie between 0 and 3
    assert np.abs(belief.errors).mean() == pytest.approx(np.abs(off).mean(), rel=0.5)


def test_draws_keep_what_is_known_and_reach_as_often_as_believed():
    pairs = Believed(
        chance=np.array([[1.0, 0.0, 0.3]], np.float32),
        times=np.array([[0.5, np.inf, 2.0]], np.float32),
        known=np.array([[True, True, False]]),
        errors=np.array([-0.1, 0.1]),
    )
    drawn = sample_access(pairs, np.random.default_rng(0), 2000)[:, 0]
    np.testing.assert_array_equal(drawn[:, 0], np.float32(np.exp(-0.5)))
    np.testing.assert_allclose(drawn[:, 1], 1e-8, rtol=1e-6)
    reached = drawn[:, 2] > 1e-7
    assert reached.mean() == pytest.approx(0.3, abs=0.03)
    seconds = -np.log(drawn[reached, 2])
    expected = 2 * np.exp([-0.1, 0.1])
    np.testing.assert_allclose(np.unique(seconds.round(4)), expected, rtol=1e-3)


def test_filled_access_keeps_what_is_known():
    times, unknown = hide_half(TIMES)
    filled = fill_believed(times, FEATURES, np.array([0, 7]))
    np.testing.assert_array_equal(filled[~unknown], accessibility(TIMES)[~unknown])
    others = unknown.copy()
    others[[0, 7]] = others[:, [0, 7]] = False
    np.testing.assert_allclose(filled[others], 1e-8, rtol=1e-6)
    assert (filled[0, unknown[0]] > 1e-3).any()  # some of these are believed


@pytest.mark.parametrize("seed", range(3))
def test_candidates_are_those_that_the_fewest_reach(seed):
    pairs = ask_from(TIMES, N * N)
    rng = np.random.default_rng(seed)
    found = find_candidates(pairs, FEATURES, 24, 3000, rng)
    assert set(range(GROUPS)) <= set(found)  # nothing reaches a hub
    assert len(found) == 24 and (np.diff(found) > 0).all()
    assert pairs.n_asked <= 3000
