"""Replays: when a robot is up, and moves that start where the last one ended."""

import numpy as np
import pytest

from kaccess import AccessConfig
from kaccess.access import Attempts, Replay, replay_plan
from kaccess.base.rotations import gravity_in_body
from kaccess.engines.mujoco import MujocoEngine
from tests.access.graphs import FakeEngine

X, _ = np.inf, np.nan  # not at rest; no move


def test_a_robot_is_up_in_time_if_all_its_moves_fit():
    replay = Replay(
        n_moves=np.array([2, 2, 0, 2, 1]),
        commands=np.zeros((5, 3), int),
        states=np.zeros((5, 4, 7)),
        seconds=np.array([[1, 1, _], [1, 2, _], [1, 1, 1], [X, 1, _], [2, _, _]]),
    )
    np.testing.assert_array_equal(replay.is_up_within(2.0), [1, 0, 0, 0, 1])
    np.testing.assert_array_equal(replay.is_up_within(3.0), [1, 1, 0, 0, 1])
    np.testing.assert_array_equal(replay.is_up_within(1e9), [1, 1, 0, 0, 1])


@pytest.fixture(scope="module")
def plan(make_graph):
    return make_graph(12).make_plan(horizon=3.0)


@pytest.fixture(scope="module")
def replay(plan, tiny_poses, tiny_engine):
    config = AccessConfig(time_limit=1.0)
    return replay_plan(plan, tiny_poses.qpos[:20], config, engine=tiny_engine)


def test_each_move_starts_where_the_one_before_has_ended(plan, replay, tiny_engine):
    """The same as a loop over single moves, bit for bit."""
    robot = plan.nodes.robot
    assert (replay.n_moves > 1).any() and (replay.n_moves == 0).any()
    for row in (int(np.argmax(replay.n_moves > 1)), int(replay.n_moves.argmin())):
        state = replay.states[row, :1]
        tried = Attempts.none(1, robot.model.nu)
        for move in range(replay.n_moves[row] or 10):
            joints, gravity = robot.get_joints(state), gravity_in_body(state[:, 3:7])
            command, *_ = plan.choose(gravity, joints, tried)
            tried.add(np.zeros(1, int), gravity, joints, command)
            assert command == replay.commands[row, move]
            motion = plan.commands.start(command, joints)
            end = tiny_engine.settle(state, motion, time_limit=1.0)
            np.testing.assert_array_equal(replay.states[row, move + 1], end.qpos[0])
            assert replay.seconds[row, move] == end.time[0]
            state = end.qpos


def test_nothing_follows_the_last_move(replay):
    for row, n_moves in enumerate(replay.n_moves):
        made = n_moves or 10
        assert (replay.commands[row, :made] >= 0).all()
        assert (replay.commands[row, made:] == -1).all()
        assert np.isnan(replay.seconds[row, made:]).all()
        assert np.isnan(replay.states[row, made + 1 :]).all()
        assert np.isfinite(replay.states[row, : made + 1]).all()


def test_threads_and_other_robots_do_not_change_a_replay(plan, replay):
    engine = MujocoEngine(plan.nodes.robot, n_threads=2, n_slots=3)
    some = np.array([7, 2, 11])
    again = replay_plan(
        plan, replay.states[some, 0], AccessConfig(time_limit=1.0), engine=engine
    )
    np.testing.assert_array_equal(again.n_moves, replay.n_moves[some])
    np.testing.assert_array_equal(again.commands, replay.commands[some])
    np.testing.assert_array_equal(again.states, replay.states[some])


def test_a_robot_that_passes_through_standing_without_rest_is_not_up(plan):
    class Restless(FakeEngine):
        def settle(self, *args, **kwargs):
            settled = super().settle(*args, **kwargs)
            settled.time[:] = np.inf
            return settled

    engine = Restless(lambda qpos, _: plan.nodes.qpos[-1:].repeat(len(qpos), axis=0))
    replay = replay_plan(plan, plan.nodes.qpos[:2], AccessConfig(), engine=engine)
    np.testing.assert_array_equal(replay.n_moves, 0)


def test_no_states_give_an_empty_replay(plan):
    calls = []
    replay = replay_plan(
        plan,
        plan.nodes.qpos[:0],
        AccessConfig(),
        engine=FakeEngine(),
        progress=lambda *each: calls.append(each),
    )
    assert len(replay.n_moves) == 0 and calls[-1] == (10, 10)
