"""Moves whose targets take some time: the same in times, landings and graphs."""

import json

import numpy as np
import pytest

from kaccess import AccessConfig, Study, estimate_times, pipeline
from kaccess.access import Commands, Outcome, estimate_rows, estimate_to_standing
from kaccess.poses import Poses
from tests.access.graphs import simulate_graph

SLOW = AccessConfig(time_limit=1.0, move_time=0.1)


@pytest.fixture(scope="module")
def five(tiny_poses):
    return Poses(tiny_poses.robot, tiny_poses.qpos[:5], tiny_poses.contacts[:5])


def test_slow_moves_are_motions_from_the_joints_of_the_pose(five, tiny_engine):
    rows = estimate_rows(five, range(5), SLOW, engine=tiny_engine)
    source, goal = np.divmod(np.arange(25), 5)
    motion = Commands.to(five.joints, 0.1).start(goal, five.joints[source])
    settled = tiny_engine.settle(five.qpos[source], motion, time_limit=1.0)
    reached = (rows.outcomes == Outcome.REACHED) & ~np.eye(5, dtype=bool)
    expected = settled.time.reshape(5, 5).astype(np.float32)
    assert reached.any()
    np.testing.assert_array_equal(rows.times[reached], expected[reached])
    assert (rows.times[reached] > 0.1).all()
    jumps = estimate_times(five, AccessConfig(time_limit=1.0), engine=tiny_engine)
    assert (jumps != rows.times).any()


def test_a_study_and_a_graph_have_the_same_landings(graph, five, tiny_engine):
    """But for the moves of a pose to itself, which a study does not simulate."""
    nodes = graph.nodes
    rows = estimate_rows(five, range(5), SLOW, engine=tiny_engine, nodes=nodes)
    last = estimate_to_standing(five, SLOW, engine=tiny_engine, nodes=nodes)
    moves = ~np.eye(5, dtype=bool)
    again = simulate_graph(nodes, tiny_engine).landings
    for name in ("node", "distance", "seconds", "states"):
        found = getattr(again, name)
        ours, stand = (getattr(each.landings, name) for each in (rows, last))
        np.testing.assert_allclose(found[:, :5][moves], ours[moves], atol=1e-5)
        np.testing.assert_allclose(found[:, 5], stand, atol=1e-5)


def test_studies_whose_targets_jump_do_not_mention_it(tiny_study):
    """As in studies made before it was a setting: both can be resumed."""
    pipeline.access(tiny_study, AccessConfig(), only_rows=range(2))
    stored = json.loads((tiny_study / "study.json").read_text())
    assert "move_time" not in stored["access"]
    assert Study(tiny_study).access_config.move_time == 0
    pipeline.access(tiny_study, AccessConfig(move_time=0.0), only_rows=range(2))
