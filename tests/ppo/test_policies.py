"""A PPO policy acts the same in torch, in NumPy and as ONNX."""

import numpy as np
import pytest

pytest.importorskip("rsl_rl")

import torch
from safetensors import safe_open

from kaccess import InputError
from kaccess.config import PpoConfig
from kaccess.policies import Policy, export_onnx
from kaccess.ppo import HostEnv, PpoPolicies, RobotsEnv
from kaccess.ppo.algorithm import make_runner
from tests.sac.point_mass import PointMasses


@pytest.fixture(params=[True, False], ids=["normalized", "plain"])
def policies(request):
    config = PpoConfig(robots=4, hidden=(32, 16), normalize=request.param)
    host = HostEnv(PointMasses(4))
    env = RobotsEnv(host, episode_steps=7)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        actor = make_runner(env, config, torch.device("cpu")).alg.get_policy()
    actor.mlp[-1].weight.data *= 20  # some actions are beyond the bounds
    seen = torch.randn(500, 3, generator=torch.Generator().manual_seed(0))
    actor.update_normalization({"policy": seen * torch.tensor([2.0, 0.1, 5.0]) + 1})
    return PpoPolicies(
        actor, "ppo-ka/seed-0", low=host.low, high=host.high, metadata={"robot": "mass"}
    )


@pytest.fixture
def obs():
    return np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32) * 3


def test_torch_numpy_and_onnx_agree(policies, obs, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    expected = policies.act_all(obs[None])[0]
    clipped = (expected == policies._low) | (expected == policies._high)
    assert 0 < clipped.mean() < 0.9
    policies[0].save(tmp_path / "policy.safetensors")
    policy = Policy.load(tmp_path / "policy.safetensors")
    half = (policy.high - policy.low) / 2  # 1e-6 of it: actions are in [-1, 1]
    np.testing.assert_allclose(policy.act(obs) / half, expected / half, atol=1e-6)
    path = export_onnx(policy, tmp_path / "policy.onnx")
    session = runtime.InferenceSession(path)
    (actions,) = session.run(None, {"obs": obs})
    np.testing.assert_allclose(actions / half, expected / half, atol=1e-6)


def test_older_versions_refuse_a_network_that_they_do_not_know(policies, tmp_path):
    path = tmp_path / "policy.safetensors"
    policies[0].save(path)
    with safe_open(path, "numpy") as file:
        assert "kaccess policy (2)" in file.metadata()["kaccess"]
    assert Policy.load(path).activation == "elu"


def test_an_unknown_activation_is_an_error(policies, tmp_path):
    path = tmp_path / "policy.safetensors"
    policy = policies[0]
    object.__setattr__(policy, "activation", "sine")
    policy.save(path)
    with pytest.raises(InputError, match="unknown activation"):
        Policy.load(path)
