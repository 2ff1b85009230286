"""Random drops and motions of a robot, and a comparison of results."""

import numpy as np

from kaccess.engines.motion import Motion


def random_drops(robot, n, seed=0):
    rng = np.random.default_rng(seed)
    qpos = np.repeat(robot.standing[None], n, axis=0)
    qpos[:, 2] = robot.drop_height
    quat = rng.normal(size=(n, 4))
    qpos[:, 3:7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    return qpos, rng.uniform(*robot.joint_range.T, (n, robot.model.nu))


def random_motions(robot, n, seed=0):
    """Return robots that go from standing through three postures, at their own pace."""
    rng = np.random.default_rng(seed)
    qpos, first = random_drops(robot, n, seed)
    qpos[:, 2] = robot.standing[2]
    qpos[:, 3:7] = robot.standing[3:7]
    low, high = robot.joint_range.T
    goals = rng.uniform(low, high, (n, 2, len(low)))
    start = robot.get_joints(qpos)[:, None]
    points = np.concatenate([start, first[:, None], goals], axis=1)
    ways = rng.uniform(0.02, 0.2, (n, 3))
    times = np.concatenate([np.zeros((n, 1)), ways.cumsum(axis=1)], axis=1)
    return qpos, Motion(points, times)


def find_target(points, times, seconds):
    """Return the targets of one robot at some time, by a plain search."""
    for start in range(len(times) - 1):
        if times[start] <= seconds < times[start + 1]:
            share = (seconds - times[start]) / (times[start + 1] - times[start])
            return points[start] + share * (points[start + 1] - points[start])
    return points[-1]


def assert_same(one, other):
    np.testing.assert_array_equal(one.qpos, other.qpos)
    np.testing.assert_array_equal(one.time, other.time)
    np.testing.assert_array_equal(one.diverged, other.diverged)
