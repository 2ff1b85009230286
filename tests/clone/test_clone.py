"""A network learns what it is shown."""

from dataclasses import replace

import numpy as np
import torch

from kaccess.clone import Clone, Demonstrations, NetworkPolicies
from kaccess.config import CloneConfig
from kaccess.policies import Policy

CONFIG = CloneConfig(hidden=(32,), batch_size=64, blur=0.0)
RNG = np.random.default_rng(0)


def show(n=400):
    """Actions are two linear functions of observations of very different sizes."""
    obs = RNG.normal(size=(n, 3)) * [100.0, 1.0, 0.01] + [5.0, 0.0, 1.0]
    actions = np.stack([obs[:, 0] / 400, 30 * (obs[:, 2] - 1)], axis=1)
    return Demonstrations(obs, np.clip(actions, -1, 1), np.zeros(n))


def make_clone(shown, n_updates=600):
    clone = Clone(3, 2, replace(CONFIG, updates=n_updates), seed=1)
    clone.measure(shown)
    loss = clone.learn(shown, seed=2)
    return clone, loss


def test_it_imitates():
    shown = show()
    clone, loss = make_clone(shown)
    assert loss < 1e-3
    fresh = show()
    np.testing.assert_allclose(clone.act(fresh.obs), fresh.actions, atol=0.15)


def test_the_same_seeds_give_the_same_clone():
    shown = show()
    state = torch.get_rng_state()
    first, second = (make_clone(shown, 20)[0].get_arrays() for _ in range(2))
    assert first.keys() == second.keys()
    for name, array in first.items():
        np.testing.assert_array_equal(array, second[name], err_msg=name)
    assert torch.equal(torch.get_rng_state(), state)  # others' numbers stay


def test_a_copy_acts_alike():
    shown = show()
    clone, _ = make_clone(shown, 20)
    copy = Clone(3, 2, CONFIG, seed=9)
    copy.set_arrays(clone.get_arrays())
    np.testing.assert_array_equal(copy.act(shown.obs), clone.act(shown.obs))


def test_its_file_acts_alike(tmp_path):
    shown = show()
    clone, _ = make_clone(shown)
    low, high = np.full(2, -1.0, np.float32), np.full(2, 1.0, np.float32)
    policies = NetworkPolicies(
        lambda: clone.network, "clone-ka/seed-0", low=low, high=high
    )
    policies[0].save(tmp_path / "policy.safetensors")
    loaded = Policy.load(tmp_path / "policy.safetensors")
    expected = clone.act(shown.obs)
    np.testing.assert_allclose(loaded.act(shown.obs), expected, atol=1e-4)
    np.testing.assert_allclose(
        policies.act_all(shown.obs[None])[0], expected, atol=1e-6
    )


def test_demonstrations_are_joined_in_their_order():
    first, second = show(3), show(5)
    joined = Demonstrations.join([first, second])
    assert len(joined) == 8
    np.testing.assert_array_equal(joined.obs[3:], second.obs)
    np.testing.assert_array_equal(joined.actions[:3], first.actions)
