"""Routes as the simulator plays them, and in words."""

import numpy as np
import pytest

from kaccess import Study
from kaccess.access import Commands
from kaccess.access.graph import STANDING
from kaccess.report.routes.played import (
    PlayedRoute,
    describe_end,
    name_commands,
    pick_poses,
    play_routes,
    spread,
)


@pytest.fixture(scope="module")
def study(clustered):
    return Study(clustered)


@pytest.fixture(scope="module")
def played(study):
    return play_routes(study, np.arange(study.n_poses))


def make_route(*, nodes, distances=None, seconds=None, words=None, stood=False):
    m = len(nodes)
    return PlayedRoute(
        pose=2,
        states=np.zeros((m + 1, 7)),
        words=tuple(words or ["command the joints of pose 1"] * m),
        nodes=np.array(nodes),
        distances=np.array(distances or [0.1] * m),
        seconds=np.array(seconds or [1.0] * m),
        stood=stood,
    )


def test_poses_stand_up_in_as_many_moves_as_in_the_study(study, played):
    assert [len(r) if r.stood else 0 for r in played] == study.n_moves.tolist()
    assert 0 < sum(route.stood for route in played) < len(played)


def test_a_route_begins_at_its_pose_and_ends_standing(study, played):
    for route in played:
        np.testing.assert_array_equal(route.states[0], study.poses.qpos[route.pose])
        assert len(route.states) == len(route) + 1 == len(route.seconds) + 1
        assert np.isfinite(route.states).all()
        if route.stood:
            assert route.words[-1] == "command standing"
            assert route.nodes[-1] == STANDING


def test_some_poses_are_played_alone_as_among_all(study, played):
    (alone,) = play_routes(study, np.array([6]))
    assert alone.words == played[6].words
    np.testing.assert_array_equal(alone.states, played[6].states)


def test_commands_in_words():
    joints = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    skill = Commands(np.zeros((1, 3, 2)), np.array([[0.2, 0.1, 0.1]]))
    first, third = (Commands.to(joints[[i]], move_time=0.3) for i in (0, 2))
    one = Commands.to(np.zeros((1, 2)), move_time=0.3)
    assert name_commands(first + third + skill + one + skill + one + one, joints) == [
        "command the joints of pose 0",
        "command the joints of pose 2",
        "skill 1",
        "command added posture 1",
        "skill 2",
        "command added posture 2",
        "command standing",
    ]


def test_ends_in_words():
    route = make_route(
        nodes=[1, 1, STANDING, 1, STANDING],
        distances=[0.2, 4.0, 1.5, 0.1, 0.0],
        seconds=[1, 1, 1, np.inf, 1],
        stood=True,
    )
    assert [describe_end(route, move) for move in range(5)] == [
        "lands near pose 1",
        "lands between the poses",
        "nearly stands",
        "not at rest in time",
        "stands",
    ]


def test_the_poses_shown_stood_up_and_those_with_few_moves_come_first(study):
    chosen = pick_poses(study)
    n_moves = study.n_moves[chosen]
    assert (n_moves > 0).all() and (np.diff(n_moves) >= 0).all()
    assert len(set(chosen.tolist())) == len(chosen) == 5


def test_poses_are_spread_over_orientations(study):
    every = np.ones(study.n_poses, bool)
    gravity = study.poses.gravity
    chosen = spread(study, every, 3)
    assert chosen[0] == gravity[:, 2].argmax()
    places = np.column_stack([gravity, 0.5 * study.n_moves])
    far = np.linalg.norm(places - places[chosen[0]], axis=1)
    assert far[chosen[1]] == far.max()
    assert sorted(spread(study, every, 99)) == list(range(study.n_poses))
    assert len(spread(study, ~every, 3)) == 0
