"""Posture graphs: where commands end, and graphs with more poses and commands."""

from dataclasses import replace

import numpy as np
import pytest

from kaccess.access import Commands
from kaccess.access.growth import extend_graph
from kaccess.access.posture_graph import (
    insert_commands,
    simulate_commands,
    simulate_moves,
)
from kaccess.engines import Settled
from kaccess.engines.mujoco import MujocoEngine
from kaccess.poses import level


@pytest.fixture(scope="module")
def skill(graph):
    low, high = graph.nodes.robot.joint_range.T
    postures = np.random.default_rng(2).uniform(low, high, (1, 2, len(low)))
    return Commands(postures, np.array([[0.15, 0.05]]))


@pytest.fixture(scope="module")
def new(tiny_poses):
    return tiny_poses.qpos[10:12]


@pytest.fixture(scope="module")
def grown(graph, skill, new, tiny_engine):
    return extend_graph(graph, new, skill, engine=tiny_engine)


def test_moves_equal_single_simulations(graph, skill, tiny_engine):
    nodes, commands = graph.nodes, graph.commands[:2] + skill
    moves = simulate_commands(nodes, nodes.qpos[:3], commands, engine=tiny_engine)
    assert moves.states.shape == (3, 3, nodes.robot.model.nq)
    for row in range(3):
        for column in range(3):
            start = nodes.qpos[row : row + 1]
            motion = commands.start(np.array([column]), nodes.robot.get_joints(start))
            one = tiny_engine.settle(start, motion, time_limit=1.0)
            expected = level(one.qpos)[0].astype(np.float32)
            np.testing.assert_array_equal(moves.states[row, column], expected)
            assert moves.seconds[row, column] == np.float32(one.time[0])


def test_an_extended_graph_equals_the_simulation_of_all_moves(grown, tiny_engine):
    nodes, landings = grown.nodes, grown.landings
    moves = simulate_moves(nodes, nodes.qpos[:-1], grown.commands, engine=tiny_engine)
    np.testing.assert_array_equal(landings.states, moves.states)
    np.testing.assert_array_equal(landings.seconds, moves.seconds)
    n, m, nq = moves.states.shape
    found = nodes.find_landings(moves.states.reshape(-1, nq), moves.seconds.ravel())
    np.testing.assert_array_equal(landings.node, found.node.reshape(n, m))
    np.testing.assert_array_equal(landings.distance, found.distance.reshape(n, m))


def test_standing_stays_the_last_node_and_the_last_command(graph, grown, skill, new):
    robot, old = graph.nodes.robot, graph.commands
    np.testing.assert_array_equal(grown.nodes.qpos[:5], graph.nodes.qpos[:5])
    np.testing.assert_array_equal(grown.nodes.qpos[5:7], new)
    np.testing.assert_array_equal(grown.nodes.qpos[7], graph.nodes.qpos[5])
    targets = grown.commands.postures[:, -1]
    np.testing.assert_array_equal(targets[:5], old.postures[:5, -1])
    np.testing.assert_array_equal(targets[5:7], robot.get_joints(new))
    np.testing.assert_array_equal(targets[7], skill.postures[0, -1])
    np.testing.assert_array_equal(targets[8], robot.standing_targets)
    np.testing.assert_array_equal(grown.commands.is_skill, np.arange(9) == 7)
    np.testing.assert_allclose(grown.commands.seconds.sum(axis=1)[:7], 0.1)
    assert grown.landings.node.shape == (7, 9)


def test_new_commands_come_before_the_last_one():
    old, more = Commands.to(np.arange(3.0)[:, None]), Commands.to(np.array([[8.0]]))
    together = insert_commands(old, more).postures[:, 0, 0]
    np.testing.assert_array_equal(together, [0, 1, 8, 2])


def test_a_graph_is_not_changed_by_extending_it(graph, new, tiny_engine):
    parts = graph.nodes.qpos, graph.landings.node, graph.landings.states
    before = [part.copy() for part in parts]
    extend_graph(graph, new, engine=tiny_engine)
    for part, old in zip(parts, before, strict=True):
        np.testing.assert_array_equal(part, old)
    assert len(graph.commands) == 6


def test_a_graph_may_get_skills_only(graph, skill, tiny_engine):
    none = graph.nodes.qpos[:0]
    more = extend_graph(graph, none, skill, engine=tiny_engine)
    assert len(more.nodes) == len(graph.nodes)
    assert more.landings.node.shape == (5, 7)
    moves = simulate_moves(graph.nodes, none, skill, engine=tiny_engine)
    assert moves.states.shape == (0, 1, graph.nodes.robot.model.nq)
    assert moves.seconds.shape == (0, 1)


def test_threads_do_not_change_a_graph(graph, grown, skill, new):
    engine = MujocoEngine(graph.nodes.robot, n_threads=2, n_slots=5)
    again = extend_graph(graph, new, skill, engine=engine)
    np.testing.assert_array_equal(again.landings.states, grown.landings.states)
    np.testing.assert_array_equal(again.landings.node, grown.landings.node)


def test_progress_counts_all_moves(graph, skill, new, tiny_engine):
    calls = []
    extend_graph(
        graph, new, skill, engine=tiny_engine, progress=lambda *each: calls.append(each)
    )
    total = 2 * 9 + 5 * 3  # all commands from new poses, new ones from old poses
    assert calls == sorted(calls) and calls[-1] == (total, total)


def test_a_diverged_move_stays_where_it_began(graph, monkeypatch, tiny_engine):
    """A state that is not a number would be near no node."""
    settle = tiny_engine.settle

    def diverge(*args, **kwargs):
        settled = settle(*args, **kwargs)
        settled.qpos[:], settled.time[:], settled.diverged[:] = np.nan, np.inf, True
        return settled

    monkeypatch.setattr(tiny_engine, "settle", diverge)
    start = graph.nodes.qpos[:1]
    moves = simulate_commands(
        graph.nodes, start, graph.commands[:2], engine=tiny_engine
    )
    np.testing.assert_allclose(moves.states[0], start.repeat(2, axis=0), atol=1e-6)
    assert np.isinf(moves.seconds).all()


class Luck:
    """Skills stand up in some calls only: in the repeats that a test names."""

    def __init__(self, nodes, lucky):
        self._nodes, self._lucky = nodes, lucky

    def settle(self, qpos, targets, *, time_limit, progress=None):
        ends = qpos.copy()
        if len(qpos) == 5:  # the repeats of one skill from one state
            ends[self._lucky] = self._nodes.qpos[-1]
        time = np.full(len(qpos), 0.5)
        return Settled(ends, time, np.zeros(len(qpos), bool))


@pytest.mark.parametrize(
    ("lucky", "seconds"), [([0, 1, 2, 3, 4], 0.5), ([0, 2, 4], 0.5 / 0.6), ([1], 2.5)]
)
def test_a_skill_takes_as_long_as_all_tries_until_it_succeeds(
    graph, skill, lucky, seconds
):
    nodes, qpos = graph.nodes, graph.nodes.qpos[:1]
    moves = simulate_moves(nodes, qpos, skill, engine=Luck(nodes, lucky))
    assert moves.states[0, 0, 2] == pytest.approx(nodes.qpos[-1, 2])
    assert moves.seconds[0, 0] == pytest.approx(seconds)


def test_a_skill_after_which_no_robot_rests_ends_nowhere(graph, skill):
    class Restless(Luck):
        def settle(self, *args, **kwargs):
            settled = super().settle(*args, **kwargs)
            return replace(settled, time=np.full_like(settled.time, np.inf))

    nodes, qpos = graph.nodes, graph.nodes.qpos[:1]
    moves = simulate_moves(nodes, qpos, skill, engine=Restless(nodes, [0]))
    assert np.isinf(moves.seconds).all()


def test_moves_without_skills_are_simulated_once(graph, tiny_engine):
    nodes, commands = graph.nodes, graph.commands[:3]
    once = simulate_commands(nodes, nodes.qpos[:2], commands, engine=tiny_engine)
    moves = simulate_moves(nodes, nodes.qpos[:2], commands, engine=tiny_engine)
    np.testing.assert_array_equal(moves.states, once.states)
