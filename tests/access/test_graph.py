import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from kaccess.access import connect_moves, find_routes, measure_connectivity
from kaccess.access.graph import NOWHERE, STANDING

X = np.inf
# 0 <-> 1 -> 2, 3 -> 2, and 4 alone.
TIMES = np.array(
    [
        [0, 1, X, X, X],
        [1, 0, 1, X, X],
        [X, X, 0, X, X],
        [X, X, 1, 0, X],
        [X, X, X, X, 0],
    ]
)


def test_hand_solved_graph():
    graph = measure_connectivity(TIMES, np.array([X, X, 0.5, X, X]))
    assert (graph.n_weak, graph.n_strong, graph.largest_strong) == (2, 4, 2)
    assert graph.unreached.tolist() == [3, 4]
    assert graph.dead_ends.tolist() == [2, 4]
    assert graph.stuck.tolist() == [4]


def test_direction_matters():
    graph = measure_connectivity(TIMES, np.array([0.5, X, X, X, X]))
    assert graph.stuck.tolist() == [2, 3, 4]


def test_all_poses_are_stuck_if_none_reaches_standing():
    assert measure_connectivity(TIMES, np.full(5, X)).stuck.tolist() == [0, 1, 2, 3, 4]


def test_from_a_pose_to_itself_is_no_move():
    graph = measure_connectivity(np.where(np.eye(3), 0.0, X), np.zeros(3))
    assert graph.n_strong == graph.n_weak == 3
    assert graph.dead_ends.tolist() == [0, 1, 2]
    assert graph.stuck.tolist() == []


def test_inputs_are_not_changed():
    before = TIMES.copy()
    measure_connectivity(TIMES, np.zeros(5))
    np.testing.assert_array_equal(TIMES, before)


def test_hand_solved_routes():
    routes = find_routes(TIMES, np.array([X, X, 0.5, 2.0, X]))
    assert routes.next_pose.tolist() == [1, 2, STANDING, 2, NOWHERE]
    np.testing.assert_allclose(routes.seconds, [2.5, 1.5, 0.5, 1.5, X])


def test_one_fast_move_beats_a_slow_chain():
    routes = find_routes(TIMES, np.array([X, 1.4, 0.5, X, X]))
    assert routes.next_pose.tolist() == [1, STANDING, STANDING, 2, NOWHERE]


def test_a_move_may_take_no_time():
    routes = find_routes(np.array([[0, 0.0], [X, 0]]), np.array([X, 0.0]))
    assert routes.next_pose.tolist() == [1, STANDING]


def test_stuck_poses_are_those_without_a_route():
    rng = np.random.default_rng(0)
    times = np.where(rng.random((40, 40)) < 0.05, rng.random((40, 40)), X)
    standing = np.where(rng.random(40) < 0.1, 1.0, X)
    found = find_routes(times, standing)
    stuck = measure_connectivity(times, standing).stuck
    np.testing.assert_array_equal(np.flatnonzero(found.next_pose == NOWHERE), stuck)
    np.testing.assert_array_equal(np.flatnonzero(np.isinf(found.seconds)), stuck)


@pytest.mark.parametrize("seed", range(20))
def test_components_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    moves = rng.random((40, 40)) < rng.choice([0.01, 0.03, 0.1])
    np.fill_diagonal(moves, False)
    graph = connect_moves(moves, np.zeros(40, bool))
    n_weak, _ = connected_components(csr_array(moves), connection="weak")
    n_strong, label = connected_components(csr_array(moves), connection="strong")
    assert (graph.n_weak, graph.n_strong) == (n_weak, n_strong)
    assert graph.largest_strong == np.bincount(label).max()
