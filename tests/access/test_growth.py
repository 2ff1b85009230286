"""Growth: which poses join a graph, and when it stops."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from kaccess import InputError
from kaccess.access import Landings, PostureGraph, Replay
from kaccess.access.growth import (
    find_new_poses,
    find_springboards,
    grow_graph,
    spread_out,
)
from kaccess.config import GrowConfig
from tests.access.graphs import FakeEngine, simulate_graph

HORIZON = 3.0
NONE = np.empty((0, 9))  # no poses
NOBODY, UP_2 = np.zeros(3, bool), np.array([True, True, False])  # stood up in time


def make_replay(starts, n_up):
    """Return a replay of one move each; the first robots stand up in time."""
    n = len(starts)
    states = np.full((n, 3, starts.shape[1]), np.nan)
    states[:, 0] = states[:, 1] = starts
    seconds = np.tile([1.0, np.nan], (n, 1))
    is_up = (np.arange(n) < n_up).astype(int)
    return Replay(is_up, np.zeros((n, 2), int), states, seconds)


@pytest.fixture(scope="module")
def still(graph):
    """Return a graph in which no move leads anywhere."""
    return simulate_graph(graph.nodes, FakeEngine())


@pytest.fixture
def grow(still, tiny_poses, monkeypatch):
    """Return the rounds of a growth in which some robots stand up in each round."""

    def run(ups, *, fresh=tiny_poses.qpos[5:], **settings):
        drawn, answers = [], iter(ups)
        monkeypatch.setattr(
            "kaccess.access.growth.replay_plan",
            lambda plan, qpos, *_, **__: make_replay(qpos, next(answers)),
        )

        def draw(number):
            drawn.append(number)
            return fresh[number % 3 * 10 :][:10]

        config = GrowConfig(**{"tests": 10, "added": 3, "most": 99} | settings)
        engine = FakeEngine()
        rounds = list(
            grow_graph(
                still,
                config,
                horizon=HORIZON,
                draw=draw,
                engine=engine,
                replayer=engine,
            )
        )
        assert drawn == list(range(len(rounds)))
        return rounds

    return run


def test_growth_stops_when_enough_robots_stand_up(grow, still):
    rounds = grow([2, 5, 9], share=0.9)
    assert [found.n_in_time for _, found in rounds] == [2, 5, 9]
    assert [found.n_poses for _, found in rounds] == [5, 8, 11]
    assert rounds[0][0] is still  # it is tested before it grows
    for grown, found in rounds:
        assert found.n_poses == len(grown.nodes) - 1
        assert found.n_commands == len(grown.commands)
        assert found.n_up == found.n_in_time and found.n_tests == 10


def test_a_good_graph_does_not_grow(grow):
    assert len(grow([10])) == 1


def test_growth_stops_at_the_largest_number_of_poses(grow):
    rounds = grow([0, 1, 2, 3], most=10)
    assert [found.n_poses for _, found in rounds] == [5, 8, 10]
    assert len(grow([0], most=3)) == 1  # it is larger already


def test_growth_stops_when_results_get_no_better(grow):
    rounds = grow([1, 2, 2, 1, 9], patience=2)
    assert [found.n_in_time for _, found in rounds] == [1, 2, 2, 1]


def test_a_better_result_renews_the_patience(grow):
    assert len(grow([1, 1, 2, 2, 2], patience=2)) == 5


def test_growth_stops_when_there_is_nothing_new(grow, graph):
    known = np.repeat(graph.nodes.qpos[:1], 10, axis=0)
    assert len(grow([0], fresh=known)) == 1


def test_standing_stays_last_while_a_graph_grows(grow, graph):
    for (before, _), (after, _) in pairwise(grow([0, 1, 2, 10])):
        n, m = before.landings.node.shape
        np.testing.assert_array_equal(after.nodes.qpos[:n], before.nodes.qpos[:-1])
        np.testing.assert_array_equal(after.nodes.qpos[-1], graph.nodes.qpos[-1])
        for name in ("postures", "seconds"):
            old, new = (getattr(each.commands, name) for each in (before, after))
            np.testing.assert_array_equal(new[: m - 1], old[:-1])
            np.testing.assert_array_equal(new[-1], old[-1])


def test_progress_ends_at_the_number_of_poses(graph, tiny_poses, tiny_engine):
    calls = []
    config = GrowConfig(tests=4, added=2, most=7)
    rounds = grow_graph(
        graph,
        config,
        horizon=HORIZON,
        draw=lambda number: tiny_poses.qpos[10:14],
        engine=tiny_engine,
        replayer=tiny_engine,
        progress=lambda *each: calls.append(each),
    )
    sizes = [found.n_poses for _, found in rounds]
    assert sizes == [5, 7] and calls[-1] == (7, 7) and calls == sorted(calls)


def test_chosen_states_are_far_from_all_nodes_and_from_one_another(graph, tiny_poses):
    nodes, states = graph.nodes, tiny_poses.qpos
    chosen = spread_out(nodes, states, 99)
    places = nodes.embed(chosen)
    assert cdist(places, nodes.places).min() > 1 and pdist(places).min() > 1
    every = np.concatenate([nodes.places, places])
    assert cdist(nodes.embed(states), every).min(axis=1).max() <= 1 + 1e-9
    np.testing.assert_array_equal(spread_out(nodes, states, 3), chosen[:3])


def test_the_farthest_state_comes_first_and_copies_of_it_never(graph):
    nodes = graph.nodes
    near, far = nodes.qpos[-1:].copy(), nodes.qpos[-1:].copy()
    near[:, 2] += 5 * nodes.config.height_tol
    far[:, 2] += 9 * nodes.config.height_tol
    states = np.concatenate([near, far, nodes.qpos, far])
    before = states.copy()
    chosen = spread_out(nodes, states, 99)
    np.testing.assert_allclose(chosen[:, 2], [far[0, 2], near[0, 2]])
    np.testing.assert_array_equal(states, before)


@pytest.mark.parametrize("most", [0, 3])
def test_nothing_is_chosen_of_nothing(graph, most):
    assert spread_out(graph.nodes, graph.nodes.qpos[:0], most).shape == (0, 9)
    assert spread_out(graph.nodes, graph.nodes.qpos, most).shape == (0, 9)


def test_states_of_failed_chains_come_before_ends_of_moves(graph, tiny_poses):
    """Robots that stood up in time teach nothing; far ends of moves fill the rest."""
    starts = tiny_poses.qpos[5:8]
    failed = find_new_poses(graph, make_replay(starts, 2), UP_2, 1, boards=NONE)
    np.testing.assert_allclose(failed, starts[2:], atol=1e-6)
    too_slow = find_new_poses(graph, make_replay(starts, 3), NOBODY, 9, boards=NONE)
    assert len(too_slow) >= 3

    old = graph.landings
    states = old.states.copy()
    states[1, 2], states[3, 4] = tiny_poses.qpos[9], tiny_poses.qpos[11]
    seconds = np.ones_like(old.seconds)
    seconds[3, 4] = np.inf  # never at rest
    distance = np.zeros_like(old.distance)
    distance[1, 2] = distance[3, 4] = 5.0
    ends = PostureGraph(
        graph.nodes, graph.commands, Landings(old.node, distance, seconds, states)
    )
    found = find_new_poses(ends, make_replay(starts, 2), UP_2, 9, boards=NONE)
    np.testing.assert_allclose(
        found, np.stack([starts[2], tiny_poses.qpos[9]]), atol=1e-6
    )
    unknown = Landings(old.node, distance, seconds)
    plain = PostureGraph(graph.nodes, graph.commands, unknown)
    found = find_new_poses(plain, make_replay(starts, 2), UP_2, 9, boards=NONE)
    assert len(found) == 1


def test_new_poses_are_not_near_springboards(graph, tiny_poses):
    starts, replay = tiny_poses.qpos[5:8], make_replay(tiny_poses.qpos[5:8], 0)
    unknown = Landings(
        *(getattr(graph.landings, name) for name in ("node", "distance", "seconds"))
    )
    plain = PostureGraph(graph.nodes, graph.commands, unknown)
    found = find_new_poses(
        plain, replay, NOBODY[: len(replay.n_moves)], 9, boards=starts[1:2]
    )
    np.testing.assert_array_equal(found[0], starts[1])
    assert len(found) == 3  # the springboard, and the two others


def test_states_without_rest_do_not_become_poses(graph, tiny_poses):
    replay = make_replay(tiny_poses.qpos[5:7], 0)
    replay.states[:, 1] = tiny_poses.qpos[9:11]
    replay.seconds[1, 0] = np.inf
    unknown = Landings(
        *(getattr(graph.landings, name) for name in ("node", "distance", "seconds"))
    )
    plain = PostureGraph(graph.nodes, graph.commands, unknown)
    found = find_new_poses(plain, replay, NOBODY[: len(replay.n_moves)], 9, boards=NONE)
    assert len(found) == 3
    assert not (np.abs(found - tiny_poses.qpos[10]) < 1e-6).all(axis=1).any()


def test_robots_stand_up_from_springboards(graph, tiny_engine):
    boards = find_springboards(graph, GrowConfig(added=12), engine=tiny_engine)
    assert 0 < len(boards) <= 6
    robot, n = graph.nodes.robot, len(boards)
    stand = graph.commands[-1:].start(np.zeros(n, int), robot.get_joints(boards))
    settled = tiny_engine.settle(boards, stand, time_limit=1.0)
    landings = graph.nodes.find_landings(settled.qpos, settled.time)
    assert np.isfinite(settled.time).all()
    np.testing.assert_array_equal(landings.node, len(graph.nodes) - 1)
    again = find_springboards(graph, GrowConfig(added=12), engine=tiny_engine)
    np.testing.assert_array_equal(again, boards)


def test_a_robot_that_never_rests_has_no_springboards(graph):
    class Restless(FakeEngine):
        def settle(self, *args, **kwargs):
            settled = super().settle(*args, **kwargs)
            settled.time[:] = np.inf
            return settled

    assert len(find_springboards(graph, GrowConfig(), engine=Restless())) == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"share": 0.0}, "`share` must be positive, got 0.0"),
        ({"share": 1.1}, "`share` must be at most 1, got 1.1"),
        ({"share": np.nan}, "`share` must be a finite number"),
        ({"tests": 1}, "`tests` must be at least 2, got 1"),
        ({"most": 0}, "`most` must be at least 1, got 0"),
        ({"added": 0}, "`added` must be at least 1"),
        ({"patience": 0}, "`patience` must be at least 1"),
        ({"seed": -1}, "`seed` must not be negative"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        GrowConfig(**settings)
