"""Random drops of a robot, and a comparison of results."""

import numpy as np


def random_drops(robot, n, seed=0):
    rng = np.random.default_rng(seed)
    qpos = np.repeat(robot.standing[None], n, axis=0)
    qpos[:, 2] = robot.drop_height
    quat = rng.normal(size=(n, 4))
    qpos[:, 3:7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    return qpos, rng.uniform(*robot.joint_range.T, (n, robot.model.nu))


def assert_same(one, other):
    np.testing.assert_array_equal(one.qpos, other.qpos)
    np.testing.assert_array_equal(one.time, other.time)
    np.testing.assert_array_equal(one.diverged, other.diverged)
