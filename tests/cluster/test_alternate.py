"""Algorithm 1: against a literal transcription, and on matrices solved by hand."""

import numpy as np
import pytest
from hypothesis import given, settings

from kaccess.cluster import alternate as alternation
from kaccess.cluster.alternate import alternate, assign, recentre, spread_seeds
from tests.cluster.oracles import FLOOR, make_directed_blocks, run_algorithm_1
from tests.cluster.strategies import problems


@settings(max_examples=300, deadline=None)
@given(problems())
def test_equals_a_literal_transcription_of_the_paper(problem):
    access, k, first = problem
    end = alternate(access, spread_seeds(access, first, k))
    labels, _ = assign(access, end.centroids)
    centroids, assignment = run_algorithm_1(access, k, first)
    np.testing.assert_array_equal(end.centroids, centroids)
    np.testing.assert_array_equal(end.centroids[labels], assignment)


@pytest.mark.parametrize("k", [2, 5, 11])
def test_equals_the_transcription_on_directed_blocks(k):
    access = make_directed_blocks(60, seed=k)
    end = alternate(access, spread_seeds(access, 7, k))
    np.testing.assert_array_equal(end.centroids, run_algorithm_1(access, k, 7)[0])


def test_each_seed_is_least_tied_to_those_before():
    access = np.array(
        [
            [1.0, 0.9, 0.1, 0.5],
            [0.9, 1.0, 0.2, 0.1],
            [0.3, 0.1, 1.0, 0.7],
            [0.5, 0.1, 0.6, 1.0],
        ]
    )
    # Access to and from pose 0, summed: 1.8, 0.4, 1.0 for poses 1, 2, 3. With pose 2
    # as well, pose 1 has 1.8 + 0.3 and pose 3 has 1.0 + 1.3.
    np.testing.assert_array_equal(spread_seeds(access, 0, 4), [0, 2, 1, 3])


def test_seeds_for_fewer_clusters_are_a_prefix():
    access = make_directed_blocks(50)
    many = spread_seeds(access, 3, 20)
    for k in (1, 7, 19):
        np.testing.assert_array_equal(spread_seeds(access, 3, k), many[:k])


def test_seeds_of_duplicates_are_distinct():
    seeds = spread_seeds(np.ones((6, 6)), 2, 6)
    np.testing.assert_array_equal(seeds, [2, 0, 1, 3, 4, 5])


def test_recentring_chooses_the_best_worst_case(blocks):
    labels = np.array([0, 0, 0, 1, 1])
    np.testing.assert_array_equal(recentre(blocks, labels), [1, 3])


def test_a_tie_goes_to_the_first_centroid_of_the_list(blocks):
    labels, best = assign(blocks, np.array([1, 2]))
    np.testing.assert_array_equal(labels, [0, 0, 1, 0, 0])  # nothing reaches 3 and 4
    np.testing.assert_array_equal(best, [0.8, 1.0, 1.0, 0.0, 0.0])
    labels, _ = assign(blocks, np.array([2, 1]))
    np.testing.assert_array_equal(labels, [1, 1, 0, 0, 0])


def make_pairs_and_a_loner():
    """Poses 0 and 1 reach each other, so do 2 and 3; nothing reaches 4."""
    access = np.full((5, 5), FLOOR)
    np.fill_diagonal(access, 1.0)
    access[0, 1] = access[1, 0] = access[2, 3] = access[3, 2] = 0.5
    return access


def test_a_pose_that_no_centroid_reaches_joins_the_first_of_the_list():
    """Seeds are 3, then 0, the lowest of 0, 1 and 4, which tie.

    Pose 4 ties at the floor and joins 3. In the cluster {2, 3, 4}, each has the floor
    as its worst access, so 2 becomes the centroid, in the place of 3. Pose 4 stays with
    it, although 0 is the lower pose.
    """
    access = make_pairs_and_a_loner()
    seeds = spread_seeds(access, 3, 2)
    np.testing.assert_array_equal(seeds, [3, 0])
    end = alternate(access, seeds)
    np.testing.assert_array_equal(end.centroids, [2, 0])
    np.testing.assert_array_equal(assign(access, end.centroids)[0], [1, 1, 0, 0, 0])
    assert (end.n_iter, end.converged) == (2, True)


def test_a_sorted_list_gives_such_a_pose_to_the_lowest_centroid():
    access = make_pairs_and_a_loner()
    end = alternate(access, np.array([3, 0]), sort=True)
    np.testing.assert_array_equal(end.centroids, [0, 2])
    np.testing.assert_array_equal(assign(access, end.centroids)[0], [0, 0, 1, 1, 0])


def test_a_cluster_keeps_its_place_when_its_centroid_moves():
    """Pose 0 reaches all of its cluster best, but 3 was picked first and stays first.

    Poses 0, 3 and 4 form a cluster with 0 as its best centroid, so the list goes from
    [3, 1] to [0, 1], and from [1, 3] to [1, 0]. Pose 2 is reached equally from both.
    """
    access = np.full((5, 5), FLOOR)
    np.fill_diagonal(access, 1.0)
    access[3, 0] = access[3, 4] = 0.3
    access[0, 3] = access[0, 4] = 0.9
    access[[0, 1, 3], 2] = 0.2
    for seeds, expected, home in (([3, 1], [0, 1], 0), ([1, 3], [1, 0], 0)):
        end = alternate(access, np.array(seeds))
        np.testing.assert_array_equal(end.centroids, expected)
        assert assign(access, end.centroids)[0][2] == home


@settings(max_examples=100, deadline=None)
@given(problems())
def test_without_ties_the_order_of_the_list_does_not_matter(problem):
    access, k, first = problem
    noise = 1e-3 * np.random.default_rng(first).random(access.shape)
    access = np.minimum(access, 0.9) + noise
    np.fill_diagonal(access, 1.0)
    seeds = spread_seeds(access, first, k)
    one, other = alternate(access, seeds), alternate(access, seeds, sort=True)
    np.testing.assert_array_equal(np.sort(one.centroids), other.centroids)


def test_a_cycle_ends_without_convergence(monkeypatch, blocks):
    """No matrix with a cycle is known, so a patched `recentre` repeats centroids."""
    turns = iter([[0, 3], [1, 3], [2, 3], [0, 3]])
    monkeypatch.setattr(alternation, "recentre", lambda *_: np.array(next(turns)))
    end = alternate(blocks, np.array([1, 4]))
    assert not end.converged
    assert end.n_iter == 4


def test_too_few_rounds_end_without_convergence():
    access = np.random.default_rng(7).random((60, 60))
    np.fill_diagonal(access, 1.0)
    seeds = spread_seeds(access, 0, 9)
    assert alternate(access, seeds).converged
    assert not alternate(access, seeds, max_iter=1).converged
