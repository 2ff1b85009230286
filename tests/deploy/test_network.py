"""Policies as files: what they observe is read from the file, not assumed."""

import numpy as np
import pytest

from kaccess import load_robot
from kaccess.base.errors import InputError
from kaccess.deploy.network import Network
from kaccess.envs.tasks import make_task
from kaccess.policies import Policy, export_onnx
from kaccess.training.train import describe_policy

JOINTS = np.linspace(-0.5, 0.5, 8)
VALUES = {
    "gravity": np.array([0.1, 0.2, -0.9]),
    "angular_velocity": np.array([1.0, 2.0, 3.0]),
    "joints": JOINTS,
    "commands": JOINTS + 0.1,
}
IMU = {
    "frames": 2,
    "parts": [{"name": name} for name in ("gravity", "angular_velocity", "commands")],
}


@pytest.fixture
def make(tmp_path):
    """A function that writes a random linear policy with some facts."""

    def write(size, **facts):
        rng = np.random.default_rng(0)
        weight = rng.normal(size=(size, 8)).astype(np.float32) / 5
        policy = Policy((weight,), (np.zeros(8, np.float32),), -np.ones(8), np.ones(8))
        robot = load_robot("bittle")
        known = describe_policy(make_task("fall-recovery", robot), robot)
        path = export_onnx(policy, tmp_path / "policy.onnx", known | facts)
        return Network(path), policy

    return write


def to_targets(policy, obs, target):
    """Return what the simulation does with an action: range, then low-pass filter."""
    low, high = load_robot("bittle").joint_range.T
    action = policy.act(obs[None])[0]
    return 0.4 * target + 0.6 * ((low + high) / 2 + (high - low) / 2 * action)


def test_a_policy_of_the_paper(make):
    network, policy = make(14)
    obs = np.concatenate(
        [VALUES["gravity"], VALUES["angular_velocity"], VALUES["joints"]]
    )
    expected = to_targets(policy, obs, JOINTS)
    np.testing.assert_allclose(network.act(VALUES, JOINTS), expected, atol=1e-5)
    assert network.needs_joints


def test_a_policy_without_joints_sees_its_last_frames(make):
    network, policy = make(28, observation=IMU)
    assert not network.needs_joints
    frame = np.concatenate([VALUES[part["name"]] for part in IMU["parts"]])
    first = to_targets(policy, np.concatenate([frame, frame]), JOINTS)
    np.testing.assert_allclose(network.act(VALUES, JOINTS), first, atol=1e-5)
    later = {name: value + 1.0 for name, value in VALUES.items()}
    then = to_targets(policy, np.concatenate([frame + 1.0, frame]), JOINTS)
    np.testing.assert_allclose(network.act(later, JOINTS), then, atol=1e-5)
    network.begin()
    np.testing.assert_allclose(network.act(VALUES, JOINTS), first, atol=1e-5)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"robot": "unitree_go1"}, "must be of bittle"),
        ({"observation": {"parts": [{"name": "height"}]}}, "observes 'height'"),
        ({"observation": IMU | {"after": [{"name": "delayed_actions"}]}}, "'delayed"),
    ],
)
def test_policies_that_bittle_cannot_run(make, facts, said):
    with pytest.raises(InputError, match=said):
        make(14, **facts)
