"""Robots as rsl_rl sees them, and values at the end of an episode."""

import numpy as np
import pytest

pytest.importorskip("rsl_rl")

import torch
from gymnasium.vector import AutoresetMode
from tensordict import TensorDict

from kaccess import InputError
from kaccess.config import PpoConfig
from kaccess.ppo import HostEnv, RobotsEnv
from kaccess.ppo.algorithm import make_runner
from kaccess.ppo.vector import NotFiniteError
from tests.sac.point_mass import PointMasses

N, T, LIMIT, EDGE = 5, 12, 7, 0.9


def make_env(mode=AutoresetMode.SAME_STEP, **options):
    masses = PointMasses(N, limit=LIMIT, edge=EDGE, mode=mode)
    env = RobotsEnv(HostEnv(masses), episode_steps=LIMIT, **options)
    env.reset(range(N))
    return env


def act(step):
    return torch.from_numpy(np.random.default_rng(step).uniform(-2, 2, (N, 2))).float()


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.DISABLED])
def test_steps_are_those_of_the_environment(mode):
    """A plain loop over Gymnasium's environment gives the same numbers."""
    env, plain = (
        make_env(mode, reward_scale=0.5),
        PointMasses(N, limit=LIMIT, edge=EDGE),
    )
    obs, _ = plain.reset(seed=range(N))
    np.testing.assert_array_equal(env.get_observations()["policy"], obs)
    returns, total = np.zeros(N), []
    for step in range(T):
        seen, rewards, dones, extras = env.step(act(step))
        clipped = np.clip(act(step).numpy(), -1, 1)
        obs, reward, over, late, info = plain.step(-3 + (clipped + 1) * np.float32(2))
        np.testing.assert_array_equal(seen["policy"], obs)
        np.testing.assert_allclose(rewards, 0.5 * reward, rtol=1e-6)
        np.testing.assert_array_equal(dones, over | late)
        np.testing.assert_array_equal(extras["time_outs"], late & ~over)
        np.testing.assert_array_equal(extras["final_obs"]["policy"], info["final_obs"])
        returns += reward
        total += returns[over | late].tolist()
        returns[over | late] = 0
    assert (len(total), sum(total)) == pytest.approx(env.finished[:2].tolist())


def test_values_at_a_time_limit_are_those_of_the_last_observation():
    """Advantages by a plain loop, with the value after the last step of an episode."""
    config = PpoConfig(robots=N, rollout_steps=T, episode_steps=LIMIT, hidden=(8,))
    env = make_env()
    ppo = make_runner(env, config, torch.device("cpu")).alg
    steps, obs = [], env.get_observations()
    with torch.inference_mode():
        for _ in range(T):
            value = ppo.critic(obs)[:, 0]
            obs, rewards, dones, extras = env.step(ppo.act(obs))
            after = ppo.critic(extras["final_obs"])[:, 0]
            steps.append((value, rewards.clone(), dones, extras["time_outs"], after))
            ppo.process_env_step(obs, rewards, dones, extras)
        ppo.compute_returns(obs)
    assert any(late.any() for *_, late, _ in steps)
    assert any((done & ~late).any() for _, _, done, late, _ in steps)
    advantage = torch.zeros(N)
    for t in reversed(range(T)):
        value, reward, done, late, after = steps[t]
        goes_on = (~done | late).float()
        delta = reward + config.gamma * goes_on * after - value
        advantage = delta + config.gamma * config.lam * (~done).float() * advantage
        torch.testing.assert_close(ppo.storage.returns[t, :, 0], advantage + value)


def test_episodes_are_spread_at_the_beginning(tiny):
    from kaccess.envs import RobotVectorEnv

    robots = RobotVectorEnv(4, robot=tiny, max_episode_steps=10)
    env = RobotsEnv(HostEnv(robots), episode_steps=10)
    env.reset(range(4))
    env.episode_length_buf = torch.tensor([9, 0, 8, 0])
    dones = [env.step(torch.zeros(4, robots.action_space.shape[1]))[2] for _ in "ab"]
    assert [done.tolist() for done in dones] == [
        [True, False, False, False],
        [False, False, True, False],
    ]


def test_observations_are_tensors_on_the_device_of_the_environment():
    env = make_env()
    assert isinstance(env.get_observations(), TensorDict)
    assert env.get_observations().device == env.device


def test_actions_that_are_not_finite_are_noticed():
    with pytest.raises(NotFiniteError, match="actions"):
        make_env().step(torch.full((N, 2), torch.nan))


def test_the_first_thing_that_is_not_finite_is_named():
    """NaN in observations makes the next actions NaN, which are not to blame."""
    env, good, bad = make_env(), torch.zeros(2), torch.full((2,), torch.nan)
    env._look(good, good, good)
    env.require_finite()
    env._look(good, good, bad)
    env._look(bad, bad, bad)
    with pytest.raises(NotFiniteError, match="observations"):
        env.require_finite()


def test_environments_that_reset_in_the_next_step_are_refused():
    with pytest.raises(InputError, match="SAME_STEP"):
        make_env(AutoresetMode.NEXT_STEP)
