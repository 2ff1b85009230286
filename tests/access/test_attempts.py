"""Attempts: what robots have tried, and what a plan makes of it."""

import numpy as np
import pytest

from kaccess.access import Attempts
from tests.access.graphs import make_two_way_plan

ALL = np.arange(2)


@pytest.fixture
def plan(poses):
    return make_two_way_plan(poses)


def choose(plan, poses, tried):
    gravity, joints = poses.gravity[[0, 0]], poses.joints[[0, 0]]
    return plan.choose(gravity, joints, tried)[0].tolist()


def test_a_robot_tries_something_else_where_a_command_has_failed(plan, poses):
    tried = Attempts.none(2, poses.robot.model.nu)
    assert choose(plan, poses, tried) == [1, 1]
    tried.add(ALL[:1], poses.gravity[:1], poses.joints[:1], np.array([1]))
    assert choose(plan, poses, tried) == [2, 1]  # the other robot has tried nothing
    assert choose(plan, poses, tried[np.array([1, 0])]) == [1, 2]
    tried.add(ALL[:1], poses.gravity[:1], poses.joints[:1], np.array([2]))
    assert choose(plan, poses, tried) == [1, 1]  # both failed once: the better one
    tried.forget(ALL[:1])
    assert (tried.commands == -1).all() and (tried.n_made == 0).all()


def test_what_failed_in_another_posture_is_no_reason(plan, poses):
    tried = Attempts.none(2, poses.robot.model.nu)
    tried.add(ALL, poses.gravity[[4, 5]], poses.joints[[4, 5]], np.array([1, 1]))
    assert choose(plan, poses, tried) == [1, 1]


def test_the_oldest_attempts_are_forgotten(poses):
    tried = Attempts.none(1, poses.robot.model.nu)
    k = tried.commands.shape[1]
    for command in range(k + 2):
        row = command % len(poses)
        tried.add(
            ALL[:1], poses.gravity[[row]], poses.joints[[row]], np.array([command])
        )
    assert sorted(tried.commands[0]) == list(range(2, k + 2))


def test_a_robot_near_standing_stands_whatever_it_has_tried(plan, poses):
    robot = poses.robot
    joints, gravity = robot.get_joints(robot.standing[None]), np.array([[0.0, 0, -1]])
    tried = Attempts.none(1, robot.model.nu)
    for _ in range(3):
        tried.add(ALL[:1], gravity, joints, np.array([3]))
    command, _, nearest = plan.choose(gravity, joints + 0.01, tried)
    assert command == 3 and nearest == 1
