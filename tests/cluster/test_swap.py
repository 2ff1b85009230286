"""Swaps: against full evaluation, exhaustive search and the initial score."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

from kaccess.cluster.claims import claim_all, describe
from kaccess.cluster.objectives import IndexObjective, MeanAccess
from kaccess.cluster.prepared import Prepared, rank
from kaccess.cluster.solver import kick, polish
from kaccess.cluster.swap_index import find_replacement
from tests.cluster.oracles import (
    compute_index,
    compute_mean_access,
    make_directed_blocks,
)
from tests.cluster.strategies import problems


def make_index(access, alpha=1.0):
    return IndexObjective(Prepared(access, len(access)), alpha)


def replace_one(access, kept, alpha, bar, *, gone=None):
    """Find the best pose to add to `kept`; `gone` is the pose that it replaces."""
    if gone is None:
        gone = next(p for p in range(len(access)) if p not in kept)
    matrix, centroids = rank(access), np.sort([*kept, gone])
    place = int(np.searchsorted(centroids, gone))
    clusters = describe(matrix, centroids)
    claims = claim_all(matrix, clusters)
    return find_replacement(matrix, clusters, claims, place, alpha, bar)


def find_replacement_slowly(access, kept, alpha):
    others = [p for p in range(len(access)) if p not in kept]
    scores = [compute_index(access, sorted([*kept, p]), alpha) for p in others]
    return max(scores), dict(zip(others, scores, strict=True))


@settings(max_examples=300, deadline=None)
@given(problems(min_clusters=2))
def test_replacement_scores_equal_full_evaluation(problem):
    access, k, first = problem
    kept = np.sort((first + np.arange(k - 1)) % len(access))
    best, scores = find_replacement_slowly(access, kept.tolist(), 1.0)
    pose, score = replace_one(access, kept, 1.0, -np.inf)
    assert score == pytest.approx(best, abs=1e-7)
    assert scores[pose] == pytest.approx(best, abs=1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [2, 9, 40])
def test_replacement_equals_full_evaluation_on_directed_blocks(dtype, k):
    """With k = 40 there are more centroids than factors in one product."""
    access = make_directed_blocks(70, seed=k).astype(dtype)
    kept = np.sort(np.random.default_rng(k).permutation(70)[: k - 1])
    best, scores = find_replacement_slowly(access, kept.tolist(), 0.3)
    pose, score = replace_one(access, kept, 0.3, -np.inf)
    assert score == pytest.approx(best, rel=1e-5)
    assert scores[pose] == pytest.approx(best, rel=1e-5)


@settings(max_examples=100, deadline=None)
@given(problems(min_clusters=2))
def test_the_pose_that_is_replaced_does_not_matter(problem):
    """Its cluster is given to the others first, whichever pose it was."""
    access, k, first = problem
    kept = np.sort((first + np.arange(k - 1)) % len(access))
    others = np.setdiff1d(np.arange(len(access)), kept)
    found = {
        replace_one(access, kept, 1.0, -np.inf, gone=int(gone))[1] for gone in others
    }
    assert max(found) == pytest.approx(min(found), abs=1e-7)


def test_a_replacement_must_exceed_the_bar():
    access = make_directed_blocks(50)
    kept = np.array([4, 9, 30])
    pose, best = replace_one(access, kept, 1.0, -np.inf)
    assert replace_one(access, kept, 1.0, best - 1e-6) == (pose, best)
    assert replace_one(access, kept, 1.0, best) == (-1, best)


@pytest.mark.parametrize(
    ("make", "tolerance"), [(make_index, 1e-3), (MeanAccess, 1e-8)]
)
@pytest.mark.parametrize("seed", range(5))
def test_no_swap_improves_the_result(make, tolerance, seed):
    access = make_directed_blocks(25, seed=seed)
    objective = make(access)
    centroids, _ = objective.improve(np.array([0, 5, 10, 15]))
    best = objective.score(centroids)
    for removed in centroids:
        kept = np.setdiff1d(centroids, removed)
        for pose in np.setdiff1d(np.arange(25), centroids):
            swapped = np.sort(np.append(kept, pose))
            assert objective.score(swapped) <= best + tolerance


@pytest.mark.parametrize("make", [make_index, MeanAccess])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_small_problems_reach_the_optimum(make, k):
    access = make_directed_blocks(12, seed=2, n_groups=3)
    objective = make(access)
    rng = np.random.default_rng(0)
    centroids, _ = polish(objective, np.arange(k), n_kicks=50, rng=rng)
    scores = [objective.score(np.array(c)) for c in combinations(range(12), k)]
    assert objective.score(centroids) == pytest.approx(max(scores))


@settings(max_examples=100, deadline=None)
@given(problems())
def test_swaps_never_lower_the_score(problem):
    access, k, first = problem
    start = np.sort((first + np.arange(k)) % len(access))
    for objective in (make_index(access), MeanAccess(access)):
        centroids, _ = objective.improve(start)
        assert len(np.unique(centroids)) == k
        assert objective.score(centroids) >= objective.score(start) - 1e-9


def test_scores_equal_the_literal_formulas():
    access = make_directed_blocks(30)
    centroids = np.array([2, 8, 21])
    expected = compute_index(access, centroids, alpha=0.5)
    assert make_index(access, 0.5).score(centroids) == pytest.approx(expected)
    expected = compute_mean_access(access, centroids)
    assert MeanAccess(access).score(centroids) == pytest.approx(expected)


def test_a_kick_replaces_at_least_one_centroid_and_up_to_all():
    rng = np.random.default_rng(0)
    start = np.arange(10)
    kicks = [kick(start, 50, rng) for _ in range(200)]
    assert all(len(np.unique(kicked)) == 10 for kicked in kicks)
    n_left = {len(np.intersect1d(kicked, start)) for kicked in kicks}
    assert n_left == set(range(10))
    np.testing.assert_array_equal(
        kick(start, 10, rng), start
    )  # no other pose to swap in


def test_what_all_fits_share_takes_two_and_a_half_matrices():
    access = np.ones((200, 200), np.float32)
    assert sum(part.nbytes for part in rank(access)) <= 2.5 * access.nbytes
