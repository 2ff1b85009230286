"""rsl_rl's PPO and its runner, set up from our settings."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import torch
from rsl_rl.algorithms import PPO
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict
from torch import Tensor

from kaccess.base.types import Array
from kaccess.config import PpoConfig
from kaccess.ppo.vector import GROUP, RobotsEnv

__all__ = ["LOSSES", "BootstrappingPpo", "make_runner"]

_SMALL = 0.1  # factor of the last layer's first weights: actions begin alike
LOSSES = ("value", "surrogate", "entropy")  # of rsl_rl, by its names


class BootstrappingPpo(PPO):  # type: ignore[misc]  # rsl_rl comes without types
    """PPO that knows where episodes were cut off.

    At a time limit, rsl_rl takes the value before the last step for the value after it.
    Here it is the value of the last observation itself.

    Attributes:
        losses: Losses of the last update, by name.
        before_update: Called before it learns from what it has recorded.
    """

    losses: dict[str, float]
    before_update: Callable[[], None]

    def process_env_step(
        self,
        obs: TensorDict,
        rewards: Tensor,
        dones: Tensor,
        extras: dict[str, Any],
    ) -> None:
        """Record one step of the environments."""
        time_outs = extras["time_outs"].to(self.device)
        final = extras["final_obs"].to(self.device)
        if time_outs.is_cuda:  # all of them: to look at which ones would wait for it
            values = self.critic(final).squeeze(-1)
            rewards = rewards + self.gamma * values * time_outs
        elif time_outs.any():
            rewards = rewards.clone()
            values = self.critic(final[time_outs]).squeeze(-1)
            rewards[time_outs] += self.gamma * values
        super().process_env_step(obs, rewards, dones, {})

    def update(self) -> dict[str, float]:
        """Learn from the steps recorded; return the losses."""
        self.before_update()
        self.losses = super().update()
        return self.losses


def make_runner(
    env: RobotsEnv,
    config: PpoConfig,
    device: torch.device,
    *,
    initial_action: Array | None = None,
) -> OnPolicyRunner:
    """Return a runner with new networks; it writes no files and prints nothing.

    Args:
        env: Environments of the robots.
        config: Settings of the learner.
        device: Device of the learner.
        initial_action: (act,) what a new policy does, more or less; by default 0.
    """
    with redirect_stdout(io.StringIO()):  # it shows its networks
        runner = OnPolicyRunner(env, _describe(config), None, str(device))
    runner.alg.before_update = env.require_finite
    last = runner.alg.get_policy().mlp[-1]
    with torch.no_grad():
        last.weight.mul_(_SMALL)
        last.bias.zero_()
        if initial_action is not None:
            last.bias.add_(torch.as_tensor(initial_action, device=last.bias.device))
    return runner


def _describe(config: PpoConfig) -> dict[str, Any]:
    """Return our settings by the names of rsl_rl."""
    network = {
        "class_name": "MLPModel",
        "hidden_dims": list(config.hidden),
        "activation": "elu",
        "obs_normalization": config.normalize,
    }
    noise = {"class_name": "GaussianDistribution", "init_std": config.initial_std}
    return {
        "num_steps_per_env": config.rollout_steps,
        "save_interval": 1,  # without effect: no files
        "check_for_nan": False,  # the environment does that
        "obs_groups": {"actor": [GROUP], "critic": [GROUP]},
        "actor": {**network, "distribution_cfg": noise},
        "critic": network,
        "algorithm": {
            "class_name": BootstrappingPpo,
            "num_learning_epochs": config.epochs,
            "num_mini_batches": config.minibatches,
            "gamma": config.gamma,
            "lam": config.lam,
            "clip_param": config.clip,
            "entropy_coef": config.entropy,
            "learning_rate": config.learning_rate,
            "schedule": "adaptive" if config.desired_kl else "fixed",
            "desired_kl": config.desired_kl,
        },
    }
