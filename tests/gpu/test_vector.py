"""Robots on tensors as an environment of Gymnasium, on Warp's CPU device."""

import gymnasium
import numpy as np
import pytest

pytest.importorskip("mujoco_warp")
pytest.importorskip("torch")

import torch
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from kaccess import InputError
from kaccess.envs import TENSOR_ENV_IDS
from tests.gpu.test_env import DEVICE, N, draw_actions, make_starts

LIMIT = 3


@pytest.fixture(scope="module")
def env(tiny):
    """Return the environment as a user makes it."""
    return gymnasium.make_vec(
        TENSOR_ENV_IDS["fall-recovery"],
        num_envs=N,
        robot=tiny,
        starts=make_starts(tiny),
        device=DEVICE,
        max_episode_steps=LIMIT,
    )


def run(env, actions, seed):
    """Return the observations of an episode and of the step after it, and infos."""
    seen, infos = [env.reset(seed=seed)[0]], []
    for action in actions:
        obs, *rest = env.step(torch.from_numpy(action).float())
        seen.append(obs)
        infos.append(rest)
    return seen, infos


def test_it_steps_as_the_robots_do(tiny, env):
    actions = draw_actions(LIMIT, tiny)
    seen, infos = run(env, actions, seed=3)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(3)))
    first = env.unwrapped.robots.reset(rng.integers(2**31, size=N).tolist())
    assert torch.equal(seen[0], first)
    for action, obs, (rewards, terminated, truncated, info) in zip(
        actions, seen[1:], infos, strict=True
    ):
        outcome = env.unwrapped.robots.step(torch.from_numpy(action).float())
        assert torch.equal(obs, outcome.obs)
        assert torch.equal(rewards, outcome.rewards)
        assert torch.equal(truncated, outcome.done) and not terminated.any()
        assert torch.equal(info["final_obs"], outcome.final_obs)
        assert torch.equal(info["_final_obs"], outcome.done)
    assert truncated.all()


def test_its_spaces_and_mode_are_those_of_gymnasium(tiny, env):
    assert env.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    obs, _ = env.reset(seed=0)
    assert env.observation_space.contains(obs.cpu().numpy())
    assert env.single_action_space.shape == (tiny.model.nu,)
    assert obs.device == env.unwrapped.device


def test_draws_repeat_with_a_seed_and_go_on_without_one(env):
    heights = []
    for seed in (5, None, None, None, 5, range(N)):
        env.reset(seed=seed)
        heights.append(env.unwrapped.robots.get_state()["qpos"][:, 2].tolist())
    assert heights[0] == heights[4]
    assert any(each != heights[0] for each in heights[1:4])


@pytest.mark.skipif(DEVICE != "cpu", reason="a recorded step calls no functions")
def test_success_is_that_of_the_episode_that_ended(env, monkeypatch):
    robots = env.unwrapped.robots
    env.reset(seed=0)
    robots.set_lengths(torch.tensor([LIMIT - 1, LIMIT - 1, 0, 0]))
    told = torch.tensor([True, False, True, False])
    monkeypatch.setattr(robots, "get_success", lambda: (told, told))
    *_, info = env.step(torch.zeros(N, robots.act_dim))
    assert info["_final_obs"].tolist() == [True, True, False, False]
    assert info["success"].tolist() == told.tolist()


def test_a_step_before_the_first_reset_is_refused(tiny):
    fresh = gymnasium.make_vec(
        TENSOR_ENV_IDS["stand"], num_envs=1, robot=tiny, device=DEVICE
    )
    with pytest.raises(ResetNeeded, match="reset"):
        fresh.step(torch.zeros(1, tiny.model.nu))


def test_options_of_reset_are_refused(env):
    with pytest.raises(InputError, match="`options` must be empty, got qpos"):
        env.reset(options={"qpos": np.zeros(7)})
