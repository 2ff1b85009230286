"""A PPO learner that begins as a clone."""

import numpy as np
import pytest

pytest.importorskip("rsl_rl")

import torch

from kaccess.clone import Clone, Demonstrations
from kaccess.config import CloneConfig, PpoConfig
from kaccess.ppo import Cloned, HostEnv, PpoPlan, PpoRun
from tests.ppo.runs import CONFIG, NAME, N
from tests.sac.point_mass import PointMasses

CLONE = CloneConfig(hidden=CONFIG.hidden, batch_size=64, updates=800, blur=0.0)


@pytest.fixture
def cloned():
    rng = np.random.default_rng(0)
    obs = rng.normal(size=(300, 3)) * [1.0, 5.0, 0.2] + 1
    actions = np.tanh(obs[:, :2])
    shown = Demonstrations(obs, actions, 0.5 + 0.2 * np.tanh(obs[:, 0]))
    clone = Clone(3, 2, CLONE)
    clone.measure(Demonstrations(obs[:100], actions[:100], np.zeros(100)))
    clone.learn(shown, seed=0)
    return clone, shown


def begin(cloned, **changes):
    config = PpoConfig(**vars(CONFIG) | changes)
    plan = PpoPlan([NAME], seeds=[0], n_steps=1, clone=Cloned(CLONE, lambda: cloned))
    return PpoRun(HostEnv(PointMasses(N)), config, plan)


@pytest.mark.parametrize("normalize", [True, False])
def test_the_first_policy_acts_like_the_clone(cloned, normalize):
    """Also where observations are normalized by other numbers than the clone's."""
    clone, shown = cloned
    run = begin(cloned, normalize=normalize, clone_std=0.25)
    actions = run.policies.act_all(shown.obs[None])[0]
    expected = clone.act(shown.obs) * 2 - 1  # the masses' actions are in [-3, 1]
    np.testing.assert_allclose(actions, expected, atol=1e-4)
    actor = run._algorithm.get_policy()
    assert torch.allclose(actor.distribution.std_param, torch.tensor(0.25))


def test_the_critic_knows_what_the_guide_earns(cloned):
    _, shown = cloned
    critic = begin(cloned)._algorithm.critic
    obs = {"policy": torch.tensor(shown.obs, dtype=torch.float32)}
    values = critic(obs).detach().numpy()[:, 0]
    assert np.abs(values - shown.values).mean() < 0.05


def test_a_resumed_run_asks_for_no_clone(cloned, tmp_path):
    from kaccess.ppo import train
    from kaccess.sac import RunFolder

    def fail():
        raise AssertionError

    for load, n_steps in ((lambda: cloned, 30), (fail, 60)):
        plan = PpoPlan([NAME], seeds=[0], n_steps=n_steps, clone=Cloned(CLONE, load))
        where = RunFolder(tmp_path, tensorboard=False)
        train(HostEnv(PointMasses(N)), CONFIG, plan=plan, folder=where)


def test_observations_are_normalized_as_for_the_clone(cloned):
    run = begin(cloned, clone_std=1e-6, learning_rate=1e-12)
    _, shown = cloned
    before = run.policies.act_all(shown.obs[None])
    for _ in range(3):
        run.advance()
    np.testing.assert_allclose(run.policies.act_all(shown.obs[None]), before, atol=1e-4)
