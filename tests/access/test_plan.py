"""Landings and plans: where moves end, and which commands lead to standing."""

import numpy as np
import pytest
from scipy.spatial import KDTree

from kaccess.access import (
    Commands,
    Landings,
    Nodes,
    Plan,
    count_chain_moves,
    estimate_rows,
    find_nodes,
    replay_plan,
)
from kaccess.access.estimate import Outcome
from kaccess.config import AccessConfig, SampleConfig
from kaccess.poses import Poses, draw_poses
from tests.access.graphs import FakeEngine, make_landings


@pytest.fixture(scope="module")
def nodes(poses):
    return Nodes(poses.robot, poses.qpos, poses.robot.standing, AccessConfig())


@pytest.fixture(scope="module")
def moved(poses, engine):
    """Return the nodes of the posture graph, and all transitions with landings."""
    found = find_nodes(poses, AccessConfig(), engine=engine)
    rows = range(len(poses))
    return found, estimate_rows(poses, rows, AccessConfig(), engine=engine, nodes=found)


def list_commands(nodes):
    return Commands.to(nodes.robot.get_joints(nodes.qpos))


def choose(plan, nodes, rows):
    poses = Poses(nodes.robot, nodes.qpos[rows], np.empty((len(rows), 0), bool))
    return plan.choose(poses.gravity, poses.joints)


def test_a_node_lands_on_itself_at_no_distance(nodes):
    found = nodes.find_landings(nodes.qpos, np.arange(float(len(nodes))))
    np.testing.assert_array_equal(found.node, np.arange(len(nodes)))
    np.testing.assert_allclose(found.distance, 0.0)
    np.testing.assert_array_equal(found.seconds, np.arange(len(nodes)))


def test_distances_are_in_tolerances(nodes):
    higher = nodes.qpos[:1].copy()
    higher[:, 2] += 0.01
    found = nodes.find_landings(higher, np.ones(1))
    assert found.distance[0] == pytest.approx(1.0, rel=1e-5)


def test_landings_change_no_time(poses, engine, moved):
    plain = estimate_rows(poses, range(10), AccessConfig(), engine=engine)
    np.testing.assert_array_equal(moved[1].times, plain.times)
    np.testing.assert_array_equal(moved[1].outcomes, plain.outcomes)
    assert plain.landings is None


def test_moves_that_reach_their_goal_land_near_a_node(moved):
    found, landings = moved[1], moved[1].landings
    reached = found.outcomes == Outcome.REACHED
    assert reached.sum() > 20
    assert (landings.distance[reached] < np.sqrt(3)).all()
    np.testing.assert_array_equal(landings.seconds[reached], found.times[reached])
    np.testing.assert_array_equal(np.diag(landings.node), np.arange(10))


def test_landings_of_mirrored_poses_are_mirrored(bittle, engine):
    config = SampleConfig(n=8, mirror=True, seed=2)
    poses, _ = draw_poses(bittle, config, engine=engine)
    plain = Poses(bittle, poses.qpos, poses.contacts)
    limits = AccessConfig()
    found = find_nodes(poses, limits, engine=engine)
    derived, simulated = (
        estimate_rows(each, range(8), limits, engine=engine, nodes=found).landings
        for each in (poses, plain)
    )
    same = derived.node == simulated.node
    assert same.mean() > 0.9  # two nodes may be nearly as near
    near = same & (derived.distance < 1)
    np.testing.assert_allclose(
        derived.distance[near], simulated.distance[near], atol=0.05
    )


def test_follows_the_chain_to_standing(nodes):
    n = len(nodes) - 1
    landings = make_landings(n, {(0, 1): (4, 0.5), (4, n): (n, 0.3), (4, 2): (0, 0.1)})
    plan = Plan(nodes, list_commands(nodes), landings, horizon=3.0)
    command, _, nearest = choose(plan, nodes, [0, 4, n])
    np.testing.assert_array_equal(command, [1, n, n])
    np.testing.assert_array_equal(nearest, [0, 4, n])
    np.testing.assert_array_equal(plan.n_moves[[0, 4]], [2, 1])
    assert plan.n_moves.sum() == 3
    assert plan.exists


def test_a_pose_reaches_the_poses_at_which_its_moves_land(nodes):
    n = len(nodes) - 1
    moves = {(0, 1): (4, 0.5), (0, 2): (4, 0.7), (1, 0): (2, np.inf), (2, n): (n, 1.0)}
    landings = make_landings(n, moves | {(3, 3): (3, 0.0)})
    expected = np.zeros((n, n), bool)
    expected[0, 4] = True  # not where it is not at rest, at standing, or where it was
    every = np.arange(n)
    np.testing.assert_array_equal(landings.find_reach(every, n), expected)
    landings.distance[0] = 3.1
    assert not landings.find_reach(every, n).any()


def test_chains_are_counted_as_by_a_plain_loop():
    n, rng = 40, np.random.default_rng(1)
    landings = Landings(
        rng.integers(n + 1, size=(n, 4)).astype(np.int32),
        rng.uniform(0, 4, (n, 4)),
        rng.choice([0.5, np.inf], (n, 4), p=[0.8, 0.2]),
    )
    moves = np.full(n + 1, np.inf)
    moves[n] = 0
    for _ in range(n):
        for pose, command in np.ndindex(n, 4):
            node = landings.node[pose, command]
            near = landings.distance[pose, command] < (1.7 if node == n else 3.0)
            if near and np.isfinite(landings.seconds[pose, command]):
                moves[pose] = min(moves[pose], 1 + moves[node])
    found = count_chain_moves(n, [landings])
    np.testing.assert_array_equal(found, np.where(np.isinf(moves), 0, moves)[:n])
    assert found.max() >= 3 and found.min() == 0


def value_in_plain_loops(nodes, landings, horizon):
    """Return values of poses and of commands, by the formula, pair by pair."""
    n, m = landings.node.shape
    worth = np.empty((n, m), np.float32)
    for pose, command in np.ndindex(n, m):
        node, distance = landings.node[pose, command], landings.distance[pose, command]
        seconds, trust = landings.seconds[pose, command], 1 / (1 + (distance / 3) ** 2)
        if node == n:
            trust = 1.0 if distance < 1.7 else np.float32(0.3) * trust
        rested = np.isfinite(seconds)
        end = np.exp(-(seconds if rested else np.float32(horizon)) / horizon)
        trust = np.float32(trust) * (1 if rested else np.float32(0.1))
        worth[pose, command] = end * (node != pose) * trust
    places = nodes.places[:n]
    distance, near = KDTree(places).query(places, k=8)
    weight = 1 / (1 + distance**2)
    weight /= weight.sum(axis=1, keepdims=True)
    values, change = np.append(np.zeros(n), 1.0), 1.0
    while change >= 1e-4:
        quality = worth * values[landings.node]
        mean = np.zeros((n, m))
        for place in range(8):
            for pose in range(n):
                mean[pose] += weight[pose, place] * quality[near[pose, place]]
        change = np.abs(mean.max(axis=1) - values[:n]).max()
        values[:n] = mean.max(axis=1)
    return values[:n], quality


@pytest.mark.parametrize("block", [1, 500, 10**6])
def test_plans_equal_plain_loops_to_the_last_bit(nodes, monkeypatch, block):
    monkeypatch.setattr("kaccess.access.plan._BLOCK", block)
    n, rng = len(nodes) - 1, np.random.default_rng(3)
    shape = n, n + 1
    landings = Landings(
        rng.integers(n + 1, size=shape).astype(np.int32),
        rng.uniform(0, 5, shape).astype(np.float32),
        rng.choice([0.3, 0.7, 1.9, np.inf], shape).astype(np.float32),
    )
    plan = Plan(nodes, list_commands(nodes), landings, horizon=3.0)
    values, quality = value_in_plain_loops(nodes, landings, 3.0)
    tables = plan.list_tables()
    np.testing.assert_array_equal(plan.values, values)
    np.testing.assert_array_equal(tables["quality"][:n], quality)
    np.testing.assert_array_equal(tables["quality"][n], np.eye(n + 1)[n])
    rested = np.isfinite(landings.seconds)
    waits = np.where(rested, landings.seconds, np.float32(1.9))
    np.testing.assert_array_equal(tables["waits"], [*waits, np.zeros(n + 1)])
    np.testing.assert_array_equal(plan.n_moves, count_chain_moves(n, [landings]))


def test_nothing_leads_to_standing_if_no_move_lands_there(nodes):
    n = len(nodes) - 1
    plan = Plan(
        nodes, list_commands(nodes), make_landings(n, {(0, 1): (4, 0.5)}), horizon=3.0
    )
    assert not plan.exists
    assert not plan.values.any()


def test_to_stay_in_a_pose_is_never_the_way(nodes):
    """It takes no time: by its landing alone it would be worth as much as the pose."""
    n = len(nodes) - 1
    moves = {(0, 1): (4, 0.5), (4, n): (n, 0.3), (0, 0): (0, 0.0), (4, 4): (4, 0.0)}
    plan = Plan(nodes, list_commands(nodes), make_landings(n, moves), horizon=3.0)
    np.testing.assert_array_equal(choose(plan, nodes, [0, 4])[0], [1, n])


def test_the_faster_of_two_sure_ways_is_taken(nodes):
    n = len(nodes) - 1
    moves = {(0, 1): (n, 2.0), (0, 2): (n, 0.5), (0, 3): (n, 1.0)}
    plan = Plan(nodes, list_commands(nodes), make_landings(n, moves), horizon=3.0)
    assert choose(plan, nodes, [0])[0] == 2


def test_a_slow_way_that_all_neighbours_have_beats_a_fast_one_of_a_single_pose(poses):
    qpos = np.repeat(poses.qpos[:1], 6, axis=0)
    qpos[:, poses.robot.joint_adr] += 0.01 * np.arange(6)[:, None]  # alike
    near = Nodes(poses.robot, qpos, poses.robot.standing, AccessConfig())
    moves = {(pose, 1): (6, 1.5) for pose in range(6)} | {(0, 2): (6, 1.2)}
    plan = Plan(near, list_commands(near), make_landings(6, moves), horizon=3.0)
    between = Poses(poses.robot, qpos[:2].mean(axis=0)[None], np.empty((1, 0), bool))
    assert plan.choose(between.gravity, between.joints)[0] == 1


def test_a_landing_far_from_its_node_is_worth_less(nodes):
    n = len(nodes) - 1
    landings = make_landings(n, {(0, 1): (4, 0.5), (0, 2): (4, 0.5), (4, n): (n, 0.3)})
    landings.distance[0, 1] = 3.0
    plan = Plan(nodes, list_commands(nodes), landings, horizon=3.0)
    assert choose(plan, nodes, [0])[0] == 2


def test_replays_count_the_moves_to_standing(poses, engine, moved):
    """The plan of ten poses is poor: replays say how poor."""
    found, transitions = moved
    robot, n = poses.robot, len(poses)
    settled = engine.settle(
        poses.qpos, np.repeat(robot.standing_targets[None], n, axis=0), time_limit=3.0
    )
    column = found.find_landings(settled.qpos, settled.time)
    landings = Landings(
        *(
            np.column_stack(
                [getattr(transitions.landings, name), getattr(column, name)]
            )
            for name in ("node", "distance", "seconds")
        )
    )
    plan = Plan(found, list_commands(found), landings, horizon=3.0)
    replay = replay_plan(plan, poses.qpos, AccessConfig(), engine=engine)
    n_moves = replay.n_moves
    assert n_moves.shape == (n,)
    stands = (column.node == n) & (column.distance < 1)
    assert stands.any()
    np.testing.assert_array_equal(n_moves[stands], 1)
    assert (n_moves[plan.n_moves == 0] == 0).all()


def test_a_skill_is_taken_where_it_is_the_only_way(nodes):
    """Pose 0 needs the skill, which ends in pose 4; from there it stands up."""
    robot, n = nodes.robot, len(nodes) - 1
    skill = Commands(robot.get_joints(nodes.qpos[:2])[None], np.array([[0.2, 0.1]]))
    every = list_commands(nodes)
    commands = every[:-1] + skill + every[-1:]
    moves = {(0, n): (4, 0.5), (4, n + 1): (n, 0.3)}
    plan = Plan(nodes, commands, make_landings(n, moves, n + 2), horizon=3.0)
    np.testing.assert_array_equal(choose(plan, nodes, [0, 4, n])[0], [n, n + 1, n + 1])
    np.testing.assert_array_equal(plan.n_moves[[0, 4]], [2, 1])

    def end(qpos, targets):
        is_skill = np.isclose(targets, skill.postures[0, -1]).all(axis=1)
        return nodes.qpos[np.where(is_skill, 4, n)]

    replay = replay_plan(plan, nodes.qpos[:1], AccessConfig(), engine=FakeEngine(end))
    np.testing.assert_array_equal(replay.commands[0, :3], [n, n + 1, -1])
    np.testing.assert_array_equal(replay.n_moves, [2])
