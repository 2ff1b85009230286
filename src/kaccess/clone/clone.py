"""A network that imitates what it was shown."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor, nn

from kaccess.base.types import Array
from kaccess.config import CloneConfig

__all__ = ["Clone", "Demonstrations", "Network", "use_seed"]

_LEAST_SCALE = 0.01  # of an observation that never changes


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """Steps of a guide that succeeds.

    Args:
        obs: (m, obs) observations.
        actions: (m, act) what the guide does there.
        values: (m,) discounted mean of the rewards that follow.
    """

    obs: Array
    actions: Array
    values: Array

    def __len__(self) -> int:
        return len(self.obs)

    @classmethod
    def join(cls, parts: Iterable["Demonstrations"]) -> Self:
        """Return all steps of several demonstrations."""
        rows = ((each.obs, each.actions, each.values) for each in parts)
        return cls(*map(np.concatenate, zip(*rows, strict=True)))


class Network(NamedTuple):
    """Layers, and the normalization of their inputs."""

    mlp: nn.Sequential
    mean: Tensor
    """(obs,) mean of the observations."""
    scale: Tensor
    """(obs,) their standard deviation."""

    def __call__(self, obs: Tensor) -> Tensor:
        """Return the outputs, (n, act), for observations, (n, obs)."""
        outputs: Tensor = self.mlp(self.normalize(obs))
        return outputs

    def normalize(self, obs: Tensor) -> Tensor:
        """Return normalized observations."""
        return (obs - self.mean) / self.scale


class Clone:
    """A network that learns what it is shown.

    Args:
        obs_dim: Length of an observation.
        act_dim: Length of an action.
        config: Settings of the regression.
        seed: Seed of its first weights.
        device: Device of the network.

    Attributes:
        network: The network; its normalization is that of the first demonstrations.
    """

    def __init__(
        self,
        obs_dim: int,
        act_dim: int,
        config: CloneConfig,
        *,
        seed: int = 0,
        device: torch.device | str = "cpu",
    ) -> None:
        self._config = config
        with use_seed(seed):
            mlp = _make_mlp([obs_dim, *config.hidden, act_dim]).to(device)
        mean = torch.zeros(obs_dim, device=device)
        self.network = Network(mlp, mean, torch.ones_like(mean))

    def measure(self, shown: Demonstrations) -> None:
        """Normalize observations by these."""
        obs = self._send(shown.obs)
        scale = obs.std(dim=0) + _LEAST_SCALE
        self.network = self.network._replace(mean=obs.mean(dim=0), scale=scale)

    def learn(self, shown: Demonstrations, *, seed: int) -> float:
        """Fit the network to demonstrations; return the last mean square error."""
        obs, actions = self._send(shown.obs), self._send(shown.actions)
        with use_seed(seed):
            inputs = self.network.normalize(obs)
            return fit(self.network.mlp, inputs, actions, self._config)

    @torch.inference_mode()
    def act(self, obs: Array) -> Array:
        """Return actions in [-1, 1], (n, act), for observations, (n, obs)."""
        actions = self.network(self._send(obs)).clamp(-1.0, 1.0)
        return np.asarray(actions.cpu().numpy(), np.float64)

    def get_arrays(self) -> dict[str, np.ndarray]:
        """Return weights and normalization, as arrays by name."""
        tensors = {"mean": self.network.mean, "scale": self.network.scale}
        tensors |= {
            f"mlp/{name}": each for name, each in self.network.mlp.state_dict().items()
        }
        return {name: each.cpu().numpy() for name, each in tensors.items()}

    def set_arrays(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Continue with what `get_arrays` returned."""
        weights = {
            name.removeprefix("mlp/"): torch.from_numpy(array.copy())
            for name, array in arrays.items()
            if name.startswith("mlp/")
        }
        self.network.mlp.load_state_dict(weights)
        self.network = self.network._replace(
            mean=self._send(arrays["mean"]), scale=self._send(arrays["scale"])
        )

    def _send(self, array: Array) -> Tensor:
        device = self.network.mean.device
        return torch.tensor(array, dtype=torch.float32, device=device)


def fit(
    mlp: nn.Sequential, inputs: Tensor, targets: Tensor, config: CloneConfig
) -> float:
    """Fit a network to targets by least squares; return the last mean square error."""
    adam = torch.optim.Adam(mlp.parameters(), lr=config.learning_rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        adam, config.learning_rate, total_steps=config.updates
    )
    loss = torch.zeros(())
    for _ in range(config.updates):
        rows = torch.randint(len(inputs), (config.batch_size,), device=inputs.device)
        some = inputs[rows]
        blurred = some + config.blur * torch.randn_like(some)
        loss = (mlp(blurred) - targets[rows]).square().mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
        schedule.step()
    return float(loss.detach())


@contextmanager
def use_seed(seed: int) -> Iterator[None]:
    """Draw torch's random numbers from a seed within this block."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield


def _make_mlp(sizes: Sequence[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for n_in, n_out in pairwise(sizes):
        layers += [nn.Linear(n_in, n_out), nn.ELU()]
    return nn.Sequential(*layers[:-1])
