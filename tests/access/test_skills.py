"""The search for get-up skills: traps, ratings, draws, and what it adds to a graph."""

import numpy as np
import pytest

from kaccess import AccessConfig, InputError
from kaccess.access import Nodes
from kaccess.access.skills import (
    _Drawing,
    _list_starts,
    find_trap,
    rate_states,
    search_skills,
)
from kaccess.base.rotations import gravity_in_body
from kaccess.config import GetUpConfig
from kaccess.engines.mujoco import MujocoEngine
from kaccess.robots.mirror import pair_joints
from tests.access.graphs import make_landings

# Poses 0 and 1 lead to 2, and so does 3; from 2 nothing leads on. Pose 4 stands up.
CHAINS = {(0, 1): (1, 0.5), (1, 2): (2, 0.5), (3, 0): (2, 0.5), (4, 5): (5, 0.5)}
TRAPPED = np.array([1, 1, 1, 1, 0], bool)
QUICK = GetUpConfig(skills=2, postures=2, candidates=8, rounds=2)


def search(graph, engine, config=QUICK, **kwargs):
    return list(search_skills(graph, config, horizon=3.0, engine=engine, **kwargs))


@pytest.fixture(scope="module")
def found(graph, tiny_engine):
    return search(graph, tiny_engine)


def test_the_trap_is_the_pose_that_most_others_lead_to():
    landings = make_landings(5, CHAINS)
    assert find_trap(landings, TRAPPED, []) == 2
    assert find_trap(landings, TRAPPED, [2]) == 1  # from 0 and from itself
    assert find_trap(landings, TRAPPED, [2, 1]) in (0, 3)
    assert find_trap(landings, TRAPPED, [0, 1, 2, 3]) is None
    assert find_trap(landings, np.zeros(5, bool), []) is None


def test_poses_with_a_route_do_not_count():
    """Poses 0 and 4 have routes; their moves to 1 do not count."""
    landings = make_landings(5, {(0, 1): (1, 1), (4, 1): (1, 1), (2, 3): (3, 1)})
    trapped = np.array([0, 1, 1, 1, 0], bool)
    assert find_trap(landings, trapped, []) == 3  # from 2 and from itself


@pytest.mark.parametrize(("distance", "seconds"), [(3.1, 0.5), (0.0, np.inf)])
def test_moves_that_end_far_from_a_pose_or_never_do_not_lead_to_it(distance, seconds):
    landings = make_landings(5, CHAINS | {(0, 3): (3, 0.5), (4, 3): (3, 0.5)})
    for row, column in ((1, 2), (3, 0)):
        landings.distance[row, column] = distance
        landings.seconds[row, column] = seconds
    assert find_trap(landings, np.ones(5, bool), []) == 3  # from 0, 3 and 4


def test_long_chains_lead_to_a_trap():
    chain = {(pose, pose + 1): (pose + 1, 0.5) for pose in range(8)}
    assert find_trap(make_landings(9, chain), np.ones(9, bool), []) == 8


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


def test_a_search_starts_where_moves_ended_near_the_trap(graph):
    source = int(np.bincount(graph.landings.node.ravel())[:5].argmax())
    starts = _list_starts(graph, source, np.random.default_rng(0))
    np.testing.assert_array_equal(starts[0], graph.nodes.qpos[source])
    near = graph.nodes.find_landings(starts, np.ones(len(starts)))
    assert 1 < len(starts) <= 32
    np.testing.assert_array_equal(near.node, source)
    assert (near.distance < 3).all()


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
        assert new.is_skill.sum() == 2 and new.postures.shape[1] == 2
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
        assert trapped[result.source]
        assert result.n_trapped == trapped.sum()
        assert result.n_free == (trapped & ~left).sum()
        before = after
    assert len({result.source for _, result in found}) == len(found) == 2


def test_a_seed_finds_the_same_skills_on_any_number_of_threads(graph, found):
    engine = MujocoEngine(graph.nodes.robot, n_threads=2, n_slots=7)
    for (one, first), (other, second) in zip(search(graph, engine), found, strict=True):
        assert first == second
        np.testing.assert_array_equal(one.commands.postures, other.commands.postures)
        np.testing.assert_array_equal(one.landings.states, other.landings.states)


def test_nothing_is_searched_for_if_no_pose_is_trapped(graph, monkeypatch):
    monkeypatch.setattr("kaccess.access.skills.find_trap", lambda *_: None)
    assert search(graph, None) == []


def test_progress_counts_the_rounds_of_all_searches(graph, tiny_engine):
    calls = []
    search(graph, tiny_engine, progress=lambda *each: calls.append(each))
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


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
