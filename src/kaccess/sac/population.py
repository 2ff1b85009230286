"""A population on its device: learners, replay buffers and random numbers.

Each step of training is three calls:

    population.update()                   # on a GPU this returns at once ...
    outcome = envs.step(actions)          # ... and runs during the physics
    actions = population.exchange(...)    # one transfer there, one back

So actions come from the parameters before the update that runs at the same time, and
that update does not know their outcome yet. On a CPU the calls run one after the other;
the algorithm is the same. On a GPU `update` and `exchange` are CUDA graphs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from kaccess.base.types import Array, BoolArray
from kaccess.config import SacConfig
from kaccess.sac.device import HostDeviceBuffer, capture_graph, find_device
from kaccess.sac.learners import METRICS, Shape, init_learners
from kaccess.sac.networks import forward, squash
from kaccess.sac.replay import Replay
from kaccess.sac.streams import Blocks, Stream
from kaccess.sac.update import update_

__all__ = ["Experience", "Population"]


@dataclass(frozen=True)
class Experience:
    """Transitions of n environments; those of one learner are next to each other."""

    obs: Array
    """(n, obs) observations in which the actions were taken."""
    actions: Array
    """(n, act) actions in [-1, 1]."""
    rewards: Array
    """(n,) rewards; of several steps, their discounted sum."""
    discount: Array
    """(n,) discount of the value of `next_obs`; 0 if the episode terminated."""
    next_obs: Array
    """(n, obs) observations after the actions, before any reset."""
    kept: BoolArray
    """(n,) whether to store the transition; if not, it is discarded."""


class Population:
    """p learners, each with its replay buffer and random numbers.

    Args:
        shape: Sizes of the population.
        config: Settings.
        seeds: Seed of each learner; a learner does not depend on the others.
        device: `cpu`, a GPU such as `cuda`, or `auto`.
        capacity: Size of each replay buffer; by default that of the settings.

    Attributes:
        learners: Parameters and optimisers.
        replay: Replay buffers.
        alive: (p,) which learners still learn.
    """

    def __init__(
        self,
        shape: Shape,
        config: SacConfig,
        *,
        seeds: Sequence[int],
        device: str = "cpu",
        capacity: int | None = None,
    ) -> None:
        self.shape, self.config, self.device = shape, config, find_device(device)
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
            torch.set_float32_matmul_precision("high")  # TF32
        self.learners = init_learners(
            shape, seeds, self.device, initial_alpha=config.initial_alpha
        )
        size = capacity or config.capacity
        self.replay = Replay(shape.n_learners, size, shape.row, device=self.device)
        self.alive = np.ones(shape.n_learners, dtype=bool)
        self._make_streams(seeds)
        self._make_buffers()
        self._make_programs()
        self.resume(0, 0)

    def _make_streams(self, seeds: Sequence[int]) -> None:
        """Make the random numbers of actions, updates and batches."""

        def blocks(stream: Stream, *size: int, integers: bool = False) -> Blocks:
            return Blocks(stream, seeds, size, device=self.device, integers=integers)

        n_act, b = self.shape.act_dim, self.config.batch_size
        self._for_actions = blocks(Stream.ACTIONS, self.config.envs_per_learner, n_act)
        self._for_updates = blocks(Stream.UPDATES, 2 * b, n_act)
        self._for_batches = blocks(Stream.BATCHES, b, integers=True)

    def _make_buffers(self) -> None:
        """Make the buffers of `exchange`: its inputs and its outputs."""
        shape, p = self.shape, self.shape.n_learners
        n = p * self.config.envs_per_learner
        self._inputs = HostDeviceBuffer(
            self.device,
            transitions=(n, shape.row),
            obs=(n, shape.obs_dim),
            rows=(n,),
            sizes=(p,),
            halted=(p,),
            random=(1,),
        )
        self._outputs = HostDeviceBuffer(
            self.device, actions=(n, shape.act_dim), alive=(p,)
        )
        self._inputs.get_integers("rows").fill_(self.replay.scratch_row)
        self._inputs.get_integers("sizes").fill_(1)
        self._inputs.send()
        self._sizes = torch.ones(p, 1, dtype=torch.int64, device=self.device)

    def _make_programs(self) -> None:
        """Compile the update if asked for, and record CUDA graphs on a GPU."""
        fused = self.config.compiled and self.device.type == "cuda"
        self._update_learners = (
            torch.compile(update_, dynamic=False) if fused else update_
        )
        self._exchange = self._record(self._exchange_on_device)
        self._update = self._record(self._update_on_device)

    def update(self) -> None:
        """Make the updates that belong to one step of all environments."""
        for _ in range(self.config.n_updates):
            self._for_updates.prepare()
            self._for_batches.prepare()
            self._update()

    def exchange(
        self, obs: Array, experience: Experience | None = None, *, random: bool = False
    ) -> Array:
        """Store transitions and return the next actions.

        Args:
            obs: (n, obs) observations in which to act.
            experience: Transitions to store, if any.
            random: Whether to act at random, uniformly.

        Returns:
            (n, act) actions in [-1, 1].
        """
        self._write_inputs(obs, experience, random)
        self._for_actions.prepare()
        self._inputs.send()
        self._exchange()
        self._outputs.fetch()
        self.alive = self._outputs.on_host["alive"].numpy() != 0
        return self._outputs.on_host["actions"].numpy().copy()

    def halt(self, learner: int) -> None:
        """Stop a learner, from the next exchange on."""
        self._inputs.on_host["halted"][learner] = 1.0

    def find_nonfinite(self, learner: int) -> str:
        """Return the name of the part of a stopped learner that is not finite."""
        for name in ("actor", "critics", "targets"):
            if not bool(self.learners.tensors()[name][learner].isfinite().all()):
                return (
                    f"{name}' parameters" if name[-1] == "s" else f"{name}'s parameters"
                )
        for rank, name in enumerate(METRICS):
            if not bool(self.learners.metrics[learner, rank].isfinite()):
                return name.replace("_", " ")
        return "gradient"

    @property
    def position(self) -> tuple[int, int]:
        """Number of exchanges and of updates so far."""
        return self._for_actions.step, self._for_updates.step

    def resume(self, n_exchanges: int, n_updates: int) -> None:
        """Continue after some exchanges and updates, with the current replay."""
        sizes = torch.as_tensor(np.maximum(self.replay.sizes, 1))
        self._sizes.copy_(sizes[:, None])
        self._for_actions.seek(n_exchanges)
        self._for_updates.seek(n_updates)
        self._for_batches.seek(n_updates)

    def _write_inputs(
        self, obs: Array, experience: Experience | None, random: bool
    ) -> None:
        inputs, p = self._inputs, self.shape.n_learners
        inputs.on_host["obs"].numpy()[:] = obs
        inputs.on_host["random"].fill_(random)
        rows = inputs.get_integers("rows")
        if experience is None:
            rows.fill_(self.replay.scratch_row)
        else:
            kept = experience.kept.reshape(p, -1)
            rows.numpy()[:] = self.replay.assign_rows(kept).reshape(-1)
            _write_transitions(inputs.on_host["transitions"].numpy(), experience)
        inputs.get_integers("sizes").numpy()[:] = np.maximum(self.replay.sizes, 1)

    @torch.inference_mode()
    def _exchange_on_device(self) -> None:
        inputs, shape = self._inputs.on_device, self.shape
        rows = inputs["rows"].view(torch.int32)
        self.replay.data.index_copy_(0, rows.long(), inputs["transitions"])
        self._sizes.copy_(inputs["sizes"].view(torch.int32)[:, None])
        self.learners.alive.logical_and_(inputs["halted"][:, None] == 0)

        obs = inputs["obs"].view(shape.n_learners, -1, shape.obs_dim)
        noise = self._for_actions.take()
        action = squash(forward(self.learners.actor_layers, obs)[-1], noise).action
        uniform = torch.erf(noise * 0.5**0.5)  # 2 Phi(x) - 1
        action = torch.where(inputs["random"] != 0, uniform, action)
        is_finite = action.sum((1, 2)).isfinite()[:, None]
        self.learners.alive.logical_and_(is_finite)
        action = torch.where(self.learners.alive[..., None], action, 0.0)
        outputs = self._outputs.on_device
        outputs["actions"].copy_(action.view(-1, shape.act_dim))
        outputs["alive"].copy_(self.learners.alive[:, 0])

    @torch.inference_mode()
    def _update_on_device(self) -> None:
        rows = self.replay.draw(self._for_batches.take(), self._sizes)
        noise = self._for_updates.take()
        self._update_learners(self.learners, rows, noise, self.config)

    def _record(self, function: Callable[[], None]) -> Callable[[], None]:
        """Return the function, on a GPU as a CUDA graph."""
        if self.device.type != "cuda":
            return function
        state = list(self.learners.tensors().values())
        before = [tensor.clone() for tensor in state]
        graph = capture_graph(function)
        for tensor, values in zip(state, before, strict=True):
            tensor.copy_(values)
        return graph.replay


def _write_transitions(rows: Array, experience: Experience) -> None:
    """Write transitions as s, a, r, discount, s'."""
    n_obs = experience.obs.shape[1]
    n = n_obs + experience.actions.shape[1]
    rows[:, :n_obs] = experience.obs
    rows[:, n_obs:n] = experience.actions
    rows[:, n] = experience.rewards
    rows[:, n + 1] = experience.discount
    rows[:, n + 2 :] = experience.next_obs
