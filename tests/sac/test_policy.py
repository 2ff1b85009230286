"""Policies: all ways to act agree, files keep the metadata."""

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kaccess import InputError
from kaccess.policies import Policy, export_onnx
from kaccess.sac import Policies, Shape
from kaccess.sac.learners import init_learners

NAMES = ["ka/seed-0", "ka/seed-1", "rnd/seed-0"]
LOW, HIGH = np.float32([-3.0, -1.0]), np.float32([1.0, 5.0])
META = {"robot": "bittle", "rate": 25, "joints": ["left", "right"]}


@pytest.fixture
def policies():
    learners = init_learners(Shape(3, 4, 2, (16, 8)), [0, 1, 2])
    return Policies(learners, NAMES, low=LOW, high=HIGH, metadata=META)


@pytest.fixture
def obs():
    return np.random.default_rng(0).normal(size=(3, 20, 4)).astype(np.float32) * 3


def act_plainly(learners, p, obs):
    """Return the mean action, computed step by step."""
    x = torch.as_tensor(obs)
    layers = [(weight[p], bias[p]) for weight, bias in learners.policy_layers]
    for weight, bias in layers[:-1]:
        x = torch.relu(x @ weight + bias)
    mean = (x @ layers[-1][0] + layers[-1][1])[:, :2]
    return np.array([-1, 2]) + np.array([2, 3]) * torch.tanh(mean).numpy()


def test_all_ways_to_act_agree(policies, obs):
    together = policies.act_all(obs)
    for p, name in enumerate(NAMES):
        expected = act_plainly(policies._learners, p, obs[p])
        np.testing.assert_allclose(together[p], expected, atol=1e-5)
        np.testing.assert_allclose(policies[name].act(obs[p]), expected, atol=1e-5)


def test_actions_stay_within_the_bounds(policies):
    actions = policies[0].act(np.full((1, 4), 1e6))
    assert ((actions >= LOW) & (actions <= HIGH)).all()


def test_saved_policy_loads_unchanged(policies, obs, tmp_path):
    path = tmp_path / "a" / "policy.safetensors"
    policies[1].save(path)
    policy = Policy.load(path)
    np.testing.assert_array_equal(policy.act(obs[0]), policies[1].act(obs[0]))
    assert policy.metadata == {"learner": "ka/seed-1", **META}
    assert (policy.obs_dim, policy.act_dim) == (4, 2)
    assert path.stat().st_mode & 0o044  # others may read it


def test_copied_policy_does_not_change_during_learning(policies, obs):
    policy = policies[0]
    before = policy.act(obs[0])
    policies._learners.policy.mul_(2)
    np.testing.assert_array_equal(policy.act(obs[0]), before)
    assert not np.array_equal(policies[0].act(obs[0]), before)


def test_wrong_observations_are_explained(policies):
    with pytest.raises(InputError, match=r"shape \(n, 4\), got \(2, 5\)"):
        policies[0].act(np.zeros((2, 5)))
    with pytest.raises(InputError, match=r"shape \(3, m, 4\), got \(2, 5, 4\)"):
        policies.act_all(np.zeros((2, 5, 4)))


def test_missing_and_damaged_files_are_explained(tmp_path):
    with pytest.raises(InputError, match=r"nothing.safetensors does not exist"):
        Policy.load(tmp_path / "nothing.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"\1" * 50)
    with pytest.raises(InputError, match=r"bad.safetensors is damaged"):
        Policy.load(tmp_path / "bad.safetensors")


def test_onnx_acts_the_same_and_keeps_the_metadata(policies, obs, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    path = tmp_path / "policy.onnx"
    export_onnx(policies[2], path, {"order": [2, 0, 1], "robot": "other"})
    session = runtime.InferenceSession(path, providers=["CPUExecutionProvider"])
    (actions,) = session.run(["action"], {"obs": obs[2]})
    np.testing.assert_allclose(actions, policies.act_all(obs)[2], atol=1e-5)
    properties = session.get_modelmeta().custom_metadata_map
    assert properties["robot"] == "other"
    assert properties["learner"] == "rnd/seed-0"
    assert json.loads(properties["joints"]) == ["left", "right"]
    assert json.loads(properties["order"]) == [2, 0, 1]
