"""A population on its device: learners, replay and random numbers, and the mail.

Each step of training is three calls:

    population.update()                   # on a GPU this returns at once ...
    outcome = envs.step(actions)          # ... and runs while the physics does
    actions = population.exchange(...)    # one copy there, one copy back

So actions come from the parameters before the update that runs beside them, and that
update knows nothing yet of their outcome. On a CPU the calls run one after the other
and are the same algorithm. On a GPU `update` and `exchange` are CUDA graphs.
"""

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray
from kaccess.config import SacConfig
from kaccess.sac.networks import forward, squash
from kaccess.sac.replay import Replay
from kaccess.sac.sac import METRICS, Shape, new_learners, update_
from kaccess.sac.streams import Blocks, Stream

__all__ = ["Experience", "Population", "find_device"]


@dataclass(frozen=True)
class Experience:
    """Transitions of n environments, those of a learner side by side."""

    obs: Array
    """(n, obs) in which the actions were taken."""
    actions: Array
    """(n, act) in [-1, 1]."""
    rewards: Array
    """(n,), discounted and summed if over several steps."""
    discount: Array
    """(n,) of the value in `next_obs`; 0 where the episode ended of itself."""
    next_obs: Array
    """(n, obs) in which they ended, before any reset."""
    kept: BoolArray
    """(n,) whether to remember the transition."""


class Population:
    """P learners and all that they remember.

    Args:
        shape: Sizes of the population.
        config: Settings.
        seeds: Of each learner; one with the same seed does the same in any company.
        device: `cpu`, a GPU such as `cuda`, or `auto`.
        capacity: Transitions to remember; by default as many as the settings say.

    Attributes:
        learners: Parameters and optimisers.
        replay: What they remember.
        alive: (p,) which of them still learn.
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
        p, n_envs = shape.n_learners, config.envs_per_learner
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
            torch.set_float32_matmul_precision("high")  # TF32
        self.learners = new_learners(
            shape, seeds, self.device, initial_alpha=config.initial_alpha
        )
        self.replay = Replay(
            p, capacity or config.capacity, shape.row, device=self.device
        )
        self.alive = np.ones(p, dtype=bool)

        def blocks(stream: Stream, *size: int, integers: bool = False) -> Blocks:
            return Blocks(stream, seeds, size, device=self.device, integers=integers)

        a, b = shape.act_dim, config.batch_size
        self._for_actions = blocks(Stream.ACTIONS, n_envs, a)
        self._for_updates = blocks(Stream.UPDATES, 2 * b, a)
        self._for_batches = blocks(Stream.BATCHES, b, integers=True)

        n = p * n_envs
        self._letter = _Letter(
            self.device,
            rows=(n, shape.row),
            obs=(n, shape.obs_dim),
            places=(n,),
            sizes=(p,),
            halted=(p,),
            random=(1,),
        )
        self._answer = _Letter(self.device, actions=(n, a), alive=(p,))
        self._letter.whole("places").fill_(self.replay.rubbish)
        self._letter.whole("sizes").fill_(1)
        self._letter.send()
        self._sizes = torch.ones(p, 1, dtype=torch.int64, device=self.device)
        fused = config.compiled and self.device.type == "cuda"
        self._update_learners = (
            torch.compile(update_, dynamic=False) if fused else update_
        )
        self._exchange = self._program(self._exchange_on_device)
        self._update = self._program(self._update_on_device)
        self.go_on(0, 0)

    def update(self) -> None:
        """Make the updates that belong to one step of all environments."""
        config = self.config
        for _ in range(config.envs_per_learner * config.updates_per_step):
            for numbers in (self._for_updates, self._for_batches):
                numbers.refill()
                numbers.advance()
            self._update()

    def exchange(
        self, obs: Array, experience: Experience | None = None, *, random: bool = False
    ) -> Array:
        """Store what the environments gave and return the next actions.

        Args:
            obs: (n, obs) in which to act.
            experience: Transitions that led there, if any.
            random: Whether to act at random, uniformly.

        Returns:
            (n, act) in [-1, 1].
        """
        self._write(obs, experience, random)
        self._for_actions.refill()
        self._for_actions.advance()
        self._letter.send()
        self._exchange()
        self._answer.fetch()
        self.alive = self._answer.part("alive").numpy() != 0
        return self._answer.part("actions").numpy().copy()

    def halt(self, learner: int) -> None:
        """Stop a learner, from the next exchange on."""
        self._letter.part("halted")[learner] = 1.0

    def broken_part(self, learner: int) -> str:
        """Return what of a learner is not finite, if it is not alive any more."""
        for name in ("actor", "critics", "targets"):
            if not bool(self.learners.tensors()[name][learner].isfinite().all()):
                return (
                    f"{name}' parameters" if name[-1] == "s" else "actor's parameters"
                )
        for rank, name in enumerate(METRICS):
            if not bool(self.learners.metrics[learner, rank].isfinite()):
                return name.replace("_", " ")
        return "gradient"

    @property
    def position(self) -> tuple[int, int]:
        """How many exchanges and updates there have been."""
        return self._for_actions.step, self._for_updates.step

    def go_on(self, n_exchanges: int, n_updates: int) -> None:
        """Go to that place in the random numbers, with what is in the replay."""
        sizes = torch.as_tensor(np.maximum(self.replay.sizes, 1))
        self._sizes.copy_(sizes[:, None])
        self._for_actions.seek(n_exchanges)
        self._for_updates.seek(n_updates)
        self._for_batches.seek(n_updates)

    def _write(self, obs: Array, experience: Experience | None, random: bool) -> None:
        letter, p = self._letter, self.shape.n_learners
        letter.part("obs").numpy()[:] = obs
        letter.part("random").fill_(random)
        places = letter.whole("places")
        if experience is None:
            places.fill_(self.replay.rubbish)
        else:
            kept = experience.kept.reshape(p, -1)
            places.numpy()[:] = self.replay.places(kept).reshape(-1)
            _fill(letter.part("rows").numpy(), experience)
        letter.whole("sizes").numpy()[:] = np.maximum(self.replay.sizes, 1)

    @torch.inference_mode()
    def _exchange_on_device(self) -> None:
        inbox, shape = self._letter.there, self.shape
        places = inbox["places"].view(torch.int32)
        self.replay.data.index_copy_(0, places.long(), inbox["rows"])
        self._sizes.copy_(inbox["sizes"].view(torch.int32)[:, None])
        self.learners.alive.logical_and_(inbox["halted"][:, None] == 0)

        obs = inbox["obs"].view(shape.n_learners, -1, shape.obs_dim)
        noise = self._for_actions.take()
        action = squash(forward(self.learners.actor_layers, obs)[-1], noise).action
        uniform = torch.erf(noise * 0.5**0.5)  # 2 Phi(x) - 1
        action = torch.where(inbox["random"] != 0, uniform, action)
        able = action.sum((1, 2)).isfinite()[:, None]
        self.learners.alive.logical_and_(able)
        action = torch.where(self.learners.alive[..., None], action, 0.0)
        self._answer.there["actions"].copy_(action.view(-1, shape.act_dim))
        self._answer.there["alive"].copy_(self.learners.alive[:, 0])

    @torch.inference_mode()
    def _update_on_device(self) -> None:
        rows = self.replay.draw(self._for_batches.take(), self._sizes)
        noise = self._for_updates.take()
        self._update_learners(self.learners, rows, noise, self.config)

    def _program(self, function: Callable[[], None]) -> Callable[[], None]:
        """Return the function, on a GPU as a CUDA graph."""
        if self.device.type != "cuda":
            return function
        state = list(self.learners.tensors().values())
        before = [tensor.clone() for tensor in state]
        graph = _capture(function)
        for tensor, values in zip(state, before, strict=True):
            tensor.copy_(values)
        return graph.replay


class _Letter:
    """Named arrays that travel between host and device as one copy.

    Args:
        device: Where the other side is; on a CPU both are the same memory.
        parts: Shapes by name; 4 bytes each, whole numbers as they are in memory.
    """

    def __init__(self, device: torch.device, **parts: tuple[int, ...]) -> None:
        length = sum(int(np.prod(shape)) for shape in parts.values())
        self._here = torch.zeros(length, pin_memory=device.type == "cuda")
        self._there = self._here.to(device)
        self._parts, self.there = _views(self._here, parts), _views(self._there, parts)

    def part(self, name: str) -> Tensor:
        """Return a part on the host."""
        return self._parts[name]

    def whole(self, name: str) -> Tensor:
        """Return a part of whole numbers on the host."""
        return self._parts[name].view(torch.int32)

    def send(self) -> None:
        """Copy to the device; the copy is over when the answer is there."""
        if self._there is not self._here:
            self._there.copy_(self._here, non_blocking=True)

    def fetch(self) -> None:
        """Copy to the host, and wait for it."""
        if self._there is not self._here:
            self._here.copy_(self._there, non_blocking=True)
            torch.cuda.current_stream(self._there.device).synchronize()


def find_device(name: str) -> torch.device:
    """Return a device of torch; raise `InputError` if it is not there.

    `auto` is a GPU if there is one.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InputError(f"`device` must be `cpu` or `cuda`, got {name!r}.") from error
    if device.type not in ("cpu", "cuda"):
        raise InputError(f"`device` must be `cpu` or `cuda`, got {name!r}.")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"`device` is {name!r}, but torch finds no NVIDIA GPU here. Use `cpu`, or "
            "install a torch that is built for CUDA."
        )
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device


def _fill(rows: Array, experience: Experience) -> None:
    """Write transitions as s, a, r, discount, s'."""
    n_obs = experience.obs.shape[1]
    n = n_obs + experience.actions.shape[1]
    rows[:, :n_obs] = experience.obs
    rows[:, n_obs:n] = experience.actions
    rows[:, n] = experience.rewards
    rows[:, n + 1] = experience.discount
    rows[:, n + 2 :] = experience.next_obs


def _views(buffer: Tensor, parts: dict[str, tuple[int, ...]]) -> dict[str, Tensor]:
    sizes = [int(np.prod(shape)) for shape in parts.values()]
    split = zip(parts.items(), torch.split(buffer, sizes), strict=True)
    return {name: view.view(shape) for (name, shape), view in split}


def _capture(function: Callable[[], None]) -> "torch.cuda.CUDAGraph":
    """Run a function until its memory is settled, then record it."""
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch's
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.current_stream().wait_stream(stream)
    gc.collect()  # a graph that is freed while another is recorded would spoil it
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        function()
    return graph
