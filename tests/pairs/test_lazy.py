"""Lazy pairs: each is estimated once, in order, and never beyond the budget."""

import numpy as np

from kaccess.access import Landings
from kaccess.pairs import LazyPairs, replay_pairs
from tests.pairs.matrices import ask_from, make_times

TIMES = make_times(12, 3)


def test_answers_are_those_of_the_matrix():
    pairs = ask_from(TIMES, 100)
    source, goal = np.array([0, 5, 11]), np.array([3, 2, 0])
    assert pairs.ask(source, goal)
    np.testing.assert_array_equal(pairs.times[source, goal], TIMES[source, goal])
    assert np.isnan(pairs.times).sum() == 12 * 12 - 12 - 3
    assert (pairs.n_asked, pairs.room) == (3, 97)


def test_a_pair_is_estimated_once_and_poses_themselves_are_free():
    asked = []

    def estimate(source, goal):
        asked.extend(zip(source.tolist(), goal.tolist(), strict=True))
        return replay_pairs(TIMES)(source, goal)

    pairs = LazyPairs(12, estimate, 100)
    pairs.ask(np.array([1, 1, 2, 4]), np.array([3, 3, 2, 5]))
    pairs.ask(np.array([4, 1]), np.array([5, 3]))
    assert asked == [*((i, i) for i in range(12)), (1, 3), (4, 5)]
    assert pairs.n_asked == 2


def test_the_budget_ends_within_a_request():
    pairs = ask_from(TIMES, 2)
    assert not pairs.ask(np.array([7, 0, 1]), np.array([2, 3, 4]))
    assert pairs.room == 0
    assert pairs.known[7, 2] and pairs.known[0, 3] and not pairs.known[1, 4]


def test_landings_are_those_of_the_pairs():
    node = np.arange(144, dtype=np.int32).reshape(12, 12) % 12
    landings = Landings(node, node / 10, node / 5)
    pairs = ask_from(TIMES, 100, landings)
    pairs.ask(np.array([3, 8]), np.array([4, 1]))
    pairs.ask(np.array([9]), np.array([2]))
    source, goal = np.array([[9, 3], [8, 8]]), np.array([[2, 4], [1, 8]])
    found = pairs.get_landings(source, goal)
    np.testing.assert_array_equal(found.node, node[source, goal])
    np.testing.assert_array_equal(found.distance, node[source, goal] / 10)
    np.testing.assert_array_equal(found.seconds, node[source, goal] / 5)
