import numpy as np

from kaccess.envs.robot_env import RobotEnv
from kaccess.envs.tasks import make_task
from kaccess.evaluation.rollout import Recording, record
from kaccess.report.page.motion import Motion, choose_robot, pick_snapshots


def wave(obs):
    return np.sin(obs[:, -2:] * 3 + np.arange(2))


def test_a_recording_equals_steps_in_the_environment(tiny):
    task = make_task("fall-recovery")
    qpos = np.repeat(tiny.standing[None], 3, axis=0)
    qpos[:, tiny.joint_adr[0]] = (0.0, -0.2, -0.4)
    found = record(task, tiny, wave, qpos, seconds=0.24)
    env = RobotEnv(task, robot=tiny)
    for robot in range(3):
        seen, _ = env.reset(options={"qpos": qpos[robot]})
        earned = 0.0
        for step in range(1, 7):
            seen, reward, *_ = env.step(wave(seen[None])[0])
            earned += reward
            state = env.episodes.robots.qpos[0]
            np.testing.assert_array_equal(found.qpos[step, robot], state)
            torque = env.episodes.robots.readings.torque[0]
            np.testing.assert_array_equal(found.torque[step, robot], torque)
        assert np.isclose(found.reward[robot], earned)
    np.testing.assert_allclose(found.seconds, 0.04 * np.arange(7))
    np.testing.assert_array_equal(found.qpos[0], qpos)


def recording(success, tilts):
    """Return a recording of robots that start rolled by given angles."""
    qpos = np.zeros((2, len(tilts), 9))
    qpos[..., 3], qpos[..., 4] = (
        np.cos(np.divide(tilts, 2)),
        np.sin(np.divide(tilts, 2)),
    )
    blank = np.zeros((2, len(tilts), 2))
    done = np.array([[False] * len(tilts), success])
    return Recording(np.arange(2.0), qpos, blank, blank, done, np.arange(len(tilts)))


def test_the_success_farthest_from_upright_is_shown():
    assert choose_robot(recording([True, True, False], [0.1, 2.0, 3.0])) == 1


def test_without_success_the_robot_with_most_reward_is_shown():
    assert choose_robot(recording([False, False], [3.0, 0.1])) == 1


def test_snapshots_end_shortly_after_success():
    blank = np.zeros((76, 1))
    times = 0.04 * np.arange(76)
    early = Motion("ka/seed-0", 0, times, blank, blank, blank, ("a",), 1.0)
    never = Motion("ka/seed-0", 0, times, blank, blank, blank, ("a",), None)
    assert times[pick_snapshots(early, 5)[[0, -1]]].round(2).tolist() == [0.0, 1.4]
    assert times[pick_snapshots(never, 5)[[0, -1]]].round(2).tolist() == [0.0, 3.0]
