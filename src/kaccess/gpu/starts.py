"""Where the episodes of robots on a GPU begin."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from kaccess.envs.curriculum import Curriculum, StartDraws
from kaccess.envs.streams import get_streams, set_streams
from kaccess.robots import Robot
from kaccess.starts import InitialStates

__all__ = ["Bank", "MovingStarts", "TensorStart", "TensorStarts"]


class TensorStart(NamedTuple):
    """States in which the episodes of n robots would begin."""

    qpos: Tensor
    """(n, nq) states."""
    qvel: Tensor
    """(n, nv) velocities."""
    targets: Tensor
    """(n, nu) joint targets [rad]."""


class TensorStarts(Protocol):
    """Draws where episodes begin."""

    @property
    def generator(self) -> torch.Generator | None:
        """Random numbers on the device, if it works there; None if on the host."""

    def seed(self, seeds: Sequence[int]) -> None:
        """Begin the random draws anew."""

    def draw(self, rows: Tensor) -> TensorStart:
        """Draw the starts of some robots, (n,) bool; the others' mean nothing."""

    def record(self, success: Tensor, ended: Tensor) -> None:
        """Take note of which robots succeed, and which episodes have ended, (n,)."""

    def get_state(self) -> dict[str, np.ndarray]:
        """Return what later draws depend on."""

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from what `get_state` returned."""


class Bank:
    """Draws from a fixed distribution of states at rest, on the device.

    Args:
        starts: Distribution of states.
        robot: Their robot.
        n: Number of robots.
        device: Device of the tensors.
    """

    def __init__(
        self, starts: InitialStates, robot: Robot, n: int, device: torch.device
    ) -> None:
        self._n, self._device = n, device
        self._qpos = _send(starts.qpos, device)
        self._targets = _send(robot.get_joints(starts.qpos), device)
        self._at_rest = torch.zeros(n, robot.model.nv, device=device)
        shares = torch.as_tensor(np.cumsum(starts.weights), device=device)
        # Without the last, rounding finds no state beyond it.
        self._shares = shares[:-1].contiguous()
        self._random = torch.Generator(device)

    @property
    def generator(self) -> torch.Generator:
        """Random numbers on the device."""
        return self._random

    def seed(self, seeds: Sequence[int]) -> None:
        """Begin the random draws anew."""
        self._random.manual_seed(_join(seeds))

    def draw(self, rows: Tensor) -> TensorStart:
        """Draw the starts of all robots."""
        place = torch.rand(
            self._n, generator=self._random, device=self._device, dtype=torch.float64
        )
        drawn = torch.searchsorted(self._shares, place, right=True)
        return TensorStart(self._qpos[drawn], self._at_rest, self._targets[drawn])

    def record(self, success: Tensor, ended: Tensor) -> None:
        """Do nothing: the distribution stays."""

    def get_state(self) -> dict[str, np.ndarray]:
        """Return the state of the random numbers."""
        return {"random": self._random.get_state().numpy()}

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from what `get_state` returned."""
        stored = torch.from_numpy(state["random"].copy())
        if len(stored) == len(self._random.get_state()):  # else from another device
            self._random.set_state(stored)


class MovingStarts:
    """Draws from a curriculum, on the host: it needs to know how each episode ended.

    Args:
        starts: Curriculum that all robots share.
        robot: Robot.
        n: Number of robots.
        device: Device of the tensors.
    """

    generator = None  # it works on the host

    def __init__(
        self, starts: Curriculum, robot: Robot, n: int, device: torch.device
    ) -> None:
        self._robot, self._n, self._device = robot, n, device
        self._draws = StartDraws([starts] * n)
        self._stream = np.random.default_rng(0)

    def seed(self, seeds: Sequence[int]) -> None:
        """Begin the random draws anew."""
        self._stream = np.random.default_rng(_join(seeds))

    def draw(self, rows: Tensor) -> TensorStart:
        """Draw the starts of some robots, (n,) bool; the others' mean nothing."""
        model = self._robot.model
        new = [np.zeros((self._n, size)) for size in (model.nq, model.nv, model.nu)]
        chosen = np.flatnonzero(rows.cpu().numpy())
        if len(chosen):
            drawn = self._draws.draw(chosen, [self._stream] * self._n)
            joints = self._robot.get_joints(drawn.qpos)
            new[0][chosen], new[2][chosen] = drawn.qpos, joints
            if drawn.qvel is not None and drawn.targets is not None:
                given = np.isfinite(drawn.targets)
                new[1][chosen] = drawn.qvel
                new[2][chosen] = np.where(given, drawn.targets, joints)
        return TensorStart(*(_send(each, self._device) for each in new))

    def record(self, success: Tensor, ended: Tensor) -> None:
        """Take note of which robots succeed, and which episodes have ended, (n,)."""
        self._draws.record(success.cpu().numpy(), ended.cpu().numpy())

    def get_state(self) -> dict[str, np.ndarray]:
        """Return what later draws depend on."""
        return self._draws.get_state() | {"random": get_streams([self._stream])}

    def set_state(self, state: Mapping[str, np.ndarray]) -> None:
        """Continue from what `get_state` returned."""
        self._draws.set_state(state)
        (self._stream,) = set_streams(state["random"])


def _join(seeds: Sequence[int]) -> int:
    """Return one seed that depends on all."""
    return int(np.random.SeedSequence(list(seeds)).generate_state(1)[0])


def _send(array: np.ndarray, device: torch.device) -> Tensor:
    return torch.as_tensor(array, dtype=torch.float32, device=device)
