"""The search for get-up skills: traps, ratings, draws, and what it adds to a graph."""

from dataclasses import replace

import numpy as np
import pytest

from kaccess import AccessConfig, InputError
from kaccess.access import Nodes
from kaccess.access.skills import (
    _Drawing,
    find_trap,
    rate_states,
    search_skills,
)
from kaccess.base.rotations import gravity_in_body
from kaccess.config import GetUpConfig
from kaccess.engines.mujoco import MujocoEngine
from kaccess.engines.stepper import Stepper
from kaccess.robots.mirror import pair_joints

QUICK = GetUpConfig(explored=0, skills=2, postures=2, candidates=8, rounds=2)


def search(graph, engine, config=QUICK, **kwargs):
    stepper = Stepper(graph.nodes.robot, n_threads=1)
    searching = search_skills(
        graph, config, horizon=3.0, engine=engine, stepper=stepper, **kwargs
    )
    return list(searching)


@pytest.fixture(scope="module")
def found(graph, tiny_engine):
    return search(graph, tiny_engine)


def lay_down(graph, ends):
    """Return the graph, with standing commands that end in poses of it."""
    landings = replace(
        graph.landings,
        states=graph.landings.states.copy(),
        seconds=graph.landings.seconds.copy(),
    )
    landings.states[:, -1] = graph.nodes.qpos[ends]
    landings.seconds[:, -1] = 0.5
    return replace(graph, landings=landings)


def test_a_search_starts_where_most_trapped_robots_stay_down(graph):
    trapped = np.array([1, 1, 1, 0, 0], bool)
    lying = lay_down(graph, [3, 2, 2, 4, 4])
    source, starts = find_trap(lying, trapped, graph.nodes.qpos[:0])
    assert source == 1
    expected = graph.nodes.qpos[[2, 2]]
    np.testing.assert_allclose(starts, expected, atol=1e-6)
    source, starts = find_trap(lying, trapped, starts[:1])
    assert source == 0 and len(starts) == 1
    tried = graph.nodes.qpos[[2, 3]]
    source, starts = find_trap(lying, trapped, tried)
    assert source is None and starts.shape == (0, graph.nodes.qpos.shape[1])


def test_robots_that_are_not_at_rest_are_no_start(graph):
    lying = lay_down(graph, [3, 2, 2, 4, 4])
    lying.landings.seconds[[1, 2], -1] = np.inf
    source, _ = find_trap(lying, np.array([1, 1, 1, 0, 0], bool), graph.nodes.qpos[:0])
    assert source == 0


def test_states_are_rated_by_the_nodes_of_value_nearby(poses):
    nodes = Nodes(poses.robot, poses.qpos[:3], poses.robot.standing, AccessConfig())
    values = np.array([0.0, 0.4, 0.8, 1.0])
    down = gravity_in_body(nodes.qpos[:, 3:7]) @ [0, 0, -1]
    height = nodes.qpos[:, 2] / nodes.qpos[-1, 2]
    upright = 0.2 * (1 + down) / 2 * (1 + height) / 2  # 0.2 for a standing robot
    ratings = 1.2 * rate_states(nodes, values, nodes.qpos)
    np.testing.assert_allclose(ratings[1:], values[1:] + upright[1:])
    assert 0 < ratings[0] - upright[0] < 0.1  # it is far from all nodes of value
    higher = nodes.qpos[-1:].copy()
    higher[:, 2] += 3 * nodes.config.height_tol
    np.testing.assert_allclose(1.2 * rate_states(nodes, values, higher), [0.7])
    assert rate_states(nodes, values, higher[:0]).shape == (0,)


def test_draws_are_within_the_ranges_and_many_are_symmetric(graph):
    robot = graph.nodes.robot
    config = robot.scale.fit(GetUpConfig(postures=3))
    drawing = _Drawing(graph.nodes, config, np.random.default_rng(0))
    drawn = drawing.draw(400)
    varied = drawing.vary(drawn[:20], 400, 0.15)
    low, high = robot.joint_range.T
    mirror = pair_joints(robot)
    for each in (drawn, varied):
        assert each.postures.shape == (400, 3, robot.model.nu)
        assert (each.postures >= low).all() and (each.postures <= high).all()
        assert (each.seconds > 0).all()
    typical = config.posture_time
    assert (drawn.seconds >= 0.25 * typical).all()
    assert (drawn.seconds <= 2 * typical).all()
    assert (varied.seconds <= 3 * typical).all()
    flat = drawn.postures.reshape(-1, robot.model.nu)
    same = np.isclose(flat, mirror.reflect_joints(flat)).all(axis=1)
    assert same.reshape(400, 3).all(axis=1).mean() == pytest.approx(0.6, abs=0.1)
    ends = np.isclose(drawn.postures[:, -1], robot.standing_targets).all(axis=1)
    assert 0.5 < ends.mean() < 0.9
    assert len(drawing.draw(0)) == len(drawing.vary(drawn, 0, 0.1)) == 0


def test_a_search_adds_skills_before_standing_and_keeps_all_else(graph, found):
    before = graph
    for after, result in found:
        n, m = before.landings.node.shape
        new = after.commands[m - 1 : -1]
        assert new.is_skill.sum() == 3 and new.postures.shape[1] == 2
        np.testing.assert_array_equal(after.nodes.qpos[:n], before.nodes.qpos[:-1])
        np.testing.assert_array_equal(after.nodes.qpos[-1], graph.nodes.qpos[-1])
        np.testing.assert_array_equal(
            after.landings.states[:n, : m - 1], before.landings.states[:, :-1]
        )
        np.testing.assert_array_equal(
            after.commands.postures[-1, -1], graph.nodes.robot.standing_targets
        )
        assert 0 <= result.rating <= 1
        before = after


def test_a_search_says_how_many_poses_it_has_freed(graph, found):
    before = graph
    for after, result in found:
        trapped = before.make_plan(horizon=3.0).n_moves == 0
        left = after.make_plan(horizon=3.0).n_moves[: len(trapped)] == 0
        assert 0 <= result.values[0] <= 1 and 0 <= result.values[1] <= 1
        assert result.n_trapped == trapped.sum()
        assert result.n_free == (trapped & ~left).sum()
        before = after
    assert found


def test_a_seed_finds_the_same_skills_on_any_number_of_threads(graph, found):
    engine = MujocoEngine(graph.nodes.robot, n_threads=2, n_slots=7)
    for (one, first), (other, second) in zip(search(graph, engine), found, strict=True):
        assert first == second
        np.testing.assert_array_equal(one.commands.postures, other.commands.postures)
        np.testing.assert_array_equal(one.landings.states, other.landings.states)


def test_nothing_is_searched_for_if_no_pose_is_trapped(graph, monkeypatch):
    nothing = None, graph.nodes.qpos[:0]
    monkeypatch.setattr("kaccess.access.skills.find_trap", lambda *_: nothing)
    assert search(graph, None) == []


def test_progress_counts_the_rounds_of_all_searches(graph, tiny_engine):
    calls = []
    search(graph, tiny_engine, progress=lambda *each: calls.append(each))
    assert calls[:2] == [(3, 8), (4, 8)]  # two rounds of exploring, none wanted


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"skills": 0}, "`skills` must be at least 1, got 0"),
        ({"postures": 0}, "`postures` must be at least 1"),
        ({"rounds": 0}, "`rounds` must be at least 1"),
        ({"candidates": 7}, "`candidates` must be at least 8, got 7"),
        ({"posture_time": 0.0}, "`posture_time` must be positive"),
        ({"posture_time": np.inf}, "`posture_time` must be a finite number"),
        ({"seed": -1}, "`seed` must not be negative"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        GetUpConfig(**settings)
