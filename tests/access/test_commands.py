"""Commands: the motions they start, and skills among them."""

import numpy as np

from kaccess.access import Commands
from tests.engines.drops import assert_same

ONE = Commands.to(np.array([[1.0, 2.0], [3.0, 4.0]]), move_time=0.5)
SKILL = Commands(np.array([[[5.0, 6], [7, 8], [9, 9]]]), np.array([[0.1, 0.2, 0.3]]))
JOINTS = np.array([[0.0, 0.5], [0.1, 0.2]])


def test_a_command_begins_at_the_joints_and_goes_through_its_postures():
    motion = SKILL.start(np.array([0]), JOINTS[:1])
    np.testing.assert_allclose(motion.points, [[[0, 0.5], [5, 6], [7, 8], [9, 9]]])
    np.testing.assert_allclose(motion.times, [[0, 0.1, 0.3, 0.6]])


def test_commands_without_a_time_jump():
    motion = Commands.to(ONE.postures[:, 0]).start(np.array([1, 0]), JOINTS)
    at_once = motion.at(np.arange(2), np.zeros(2))
    np.testing.assert_array_equal(at_once, [[3, 4], [1, 2]])
    np.testing.assert_array_equal(motion.count_steps(0.01), 0)


def test_a_padded_command_starts_the_same_motion():
    both = ONE + SKILL + ONE[:1]
    assert len(both) == 4 and both.postures.shape == (4, 3, 2)
    padded = both.start(np.array([0, 1]), JOINTS)
    plain = ONE.start(np.array([0, 1]), JOINTS)
    np.testing.assert_array_equal(padded.count_steps(0.01), plain.count_steps(0.01))
    for seconds in np.linspace(0, 0.7, 15):
        now = np.full(2, seconds)
        np.testing.assert_array_equal(
            padded.at(np.arange(2), now), plain.at(np.arange(2), now)
        )


def test_padding_changes_no_simulation(tiny, tiny_engine, tiny_poses):
    qpos, joints = tiny_poses.qpos[:4], tiny_poses.joints[4:8]
    plain = Commands.to(joints, 0.13)
    skill = Commands(joints[:1, None].repeat(3, axis=1), np.full((1, 3), 0.1))
    padded = skill + plain
    start, which = tiny_poses.joints[:4], np.arange(4)
    expected, got = (
        tiny_engine.settle(qpos, each, time_limit=0.5)
        for each in (plain.start(which, start), padded.start(which + 1, start))
    )
    assert_same(got, expected)


def test_commands_of_several_postures_are_skills():
    every = ONE + SKILL + ONE
    np.testing.assert_array_equal(every.is_skill, [0, 0, 1, 0, 0])
    assert not ONE.is_skill.any()
    np.testing.assert_array_equal(every[2:].is_skill, [1, 0, 0])


def test_adding_changes_neither_of_the_two():
    before = ONE.postures.copy(), SKILL.postures.copy()
    whole = ONE + SKILL
    whole.postures[:] = -1
    np.testing.assert_array_equal(ONE.postures, before[0])
    np.testing.assert_array_equal(SKILL.postures, before[1])
