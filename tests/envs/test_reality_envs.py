"""What reality does, in environments: episodes, streams and observations."""

import numpy as np
import pytest

from kaccess import InputError
from kaccess.envs import Conditions, RobotVectorEnv
from kaccess.envs.observations import OBSERVATIONS
from tests.envs.common import FAST

WIRE = "latency=0.05,jitter=0.02,offset=3,backlash=2,rounding=1,sag=0.3"
SENSE = "noise=1,bias=4,drift=3"


@pytest.mark.parametrize(
    "text", [f"{WIRE},{SENSE}", "randomize=1", "randomize=1,observe=imu,delay=0.04"]
)
def test_an_environment_continues_from_its_state(bittle, nine, actions, text):
    def make():
        return RobotVectorEnv(
            3, robot=bittle, starts=nine, conditions=text, max_episode_steps=12, **FAST
        )

    env, other = make(), make()
    env.reset(seed=1)
    other.reset(seed=2)
    all_actions = actions(40, 3)
    for action in all_actions[:17]:
        env.step(action)
    other.set_state(env.get_state())
    for action in all_actions[17:]:
        one, two = env.step(action), other.step(action)
        np.testing.assert_array_equal(one[0], two[0])
        np.testing.assert_array_equal(one[1], two[1])


def test_every_episode_draws_anew_from_the_robots_own_stream(bittle, nine):
    def make(n):
        env = RobotVectorEnv(
            n, robot=bittle, starts=nine, conditions="randomize=1", **FAST
        )
        env.reset(seed=5)
        return env

    two, three = make(2), make(3)
    np.testing.assert_array_equal(
        two.episodes.draws.values, three.episodes.draws.values[:2]
    )
    before = two.episodes.draws.values.copy()
    two.reset(options={"reset_mask": np.array([True, False])})
    after = two.episodes.draws.values
    assert (after[0] != before[0]).sum() > 10
    np.testing.assert_array_equal(after[1], before[1])


def test_gravity_of_each_robot_follows_its_slope(bittle):
    env = RobotVectorEnv(
        20, robot=bittle, conditions="randomize=1,noise=0,bias=0", **FAST
    )
    env.reset(seed=0)
    tilt = np.degrees(np.arccos(-env.episodes.robots.readings.gravity[:, 2]))
    np.testing.assert_allclose(tilt, env.episodes.draws.get("slope"), atol=0.5)


def test_frames_are_newest_first(bittle, nine, actions):
    envs = {
        name: RobotVectorEnv(2, robot=bittle, starts=nine, conditions=text, **FAST)
        for name, text in {
            "joints": "",
            "imu": "observe=imu",
            "history": "observe=history",
        }.items()
    }
    seen = {name: [env.reset(seed=0)[0]] for name, env in envs.items()}
    targets = [envs["joints"].episodes.robots.readings.target.copy()]
    for action in actions(5, 2):
        for name, env in envs.items():
            seen[name].append(env.step(action)[0])
        targets.append(envs["joints"].episodes.robots.readings.target.copy())
    for k in range(6):
        for back in range(4):
            old = max(k - back, 0)
            plain = seen["joints"][old]
            imu = seen["imu"][k].reshape(2, 4, 14)[:, back]
            np.testing.assert_array_equal(imu[:, :6], plain[:, :6])
            np.testing.assert_array_equal(imu[:, 6:], targets[old].astype(np.float32))
            full = seen["history"][k].reshape(2, 4, 22)[:, back]
            np.testing.assert_array_equal(full[:, :14], plain)
            np.testing.assert_array_equal(full[:, 14:], imu[:, 6:])


def test_without_joint_sensors_joints_cannot_be_told(bittle, nine, actions):
    """Two robots with other loads on their legs: what differs is gravity and rates."""
    assert "joints" not in OBSERVATIONS["imu"].parts
    env = RobotVectorEnv(2, robot=bittle, starts=nine, conditions="observe=imu", **FAST)
    env.reset(seed=0)
    assert env.single_observation_space.shape == (56,)
    assert env.single_observation_space.contains(env.observe()[0])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("latency=-0.1", r"`latency` must lie in \[0, 1\] s"),
        ("sag=1", r"`sag` must lie in \[0, 1\)"),
        ("randomize=2", "`randomize` must be 0 or 1"),
        ("observe=eyes", "`observe` must be one of joints, imu, history"),
        ("comx=50", r"`comx` must lie in \[-10, 10\] m"),
    ],
)
def test_invalid_faults_raise(text, reason):
    with pytest.raises(InputError, match=reason):
        Conditions.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "randomize=1,observe=imu",
        "gain=0.7,comx=-0.01,latency=0.05",
        "offset=3,bias=2.5",
    ],
)
def test_faults_convert_to_text_and_back(text):
    assert Conditions.parse(text).text == text
