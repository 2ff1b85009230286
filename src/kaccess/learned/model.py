"""A model of accessibility: chance, time and landing of a move between any two states.

It is an ensemble of networks. Left and right are the same to it: it averages over a
move and its mirror image. Where its members disagree, it is in doubt.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kaccess.base.errors import InputError
from kaccess.base.types import Array, IntArray
from kaccess.learned.features import Features
from kaccess.learned.network import Parameters, combine, enter

__all__ = ["AccessModel", "Prediction", "Raw"]

_BLOCK = 2**15  # pairs that are predicted together: their hidden layers fit in memory


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model expects of moves, arrays of the same shape, float32.

    Args:
        chance: Chance that the move reaches its goal, 0 to 1.
        times: Time until at rest in the goal if it is reached [s].
        doubt: Standard deviation of the chance over the members of the ensemble.
        landings: State in which the move comes to rest, with a further axis of length
            nq; None if not asked for.
    """

    chance: Array
    times: Array
    doubt: Array
    landings: Array | None = None

    @property
    def access(self) -> Array:
        """Expected accessibility: chance times exp(-times)."""
        return np.asarray(self.chance * np.exp(-self.times))


@dataclass(frozen=True, eq=False)
class Raw:
    """Outputs of the members for b moves, averaged over images.

    Args:
        logits: (m, b) log odds that the goal is reached.
        log_times: (m, b) logarithm of the time.
        places: (m, b, n_places) landings relative to goals, in tolerances.
    """

    logits: Array
    log_times: Array
    places: Array


class AccessModel:
    """An ensemble that has learned from the moves of one robot.

    Args:
        features: Inputs and outputs of the networks.
        parameters: Weights of the networks.
        mean: (n_inputs,) mean of the inputs.
        spread: (n_inputs,) standard deviation of the inputs.
        temperature: Divides the log odds, so that chances are calibrated.
        device: Device of torch.
    """

    def __init__(
        self,
        features: Features,
        parameters: Parameters,
        *,
        mean: Array,
        spread: Array,
        temperature: float = 1.0,
        device: torch.device | None = None,
    ) -> None:
        self.features, self.temperature = features, temperature
        self.mean, self.spread = mean, spread
        self._device = device or torch.device("cpu")
        self.parameters = {
            name: each.detach().to(self._device) for name, each in parameters.items()
        }

    @property
    def n_members(self) -> int:
        """Number of networks."""
        return len(self.parameters["source"])

    def predict(
        self, qpos_from: Array, qpos_to: Array, *, landings: bool = False
    ) -> Prediction:
        """Predict the moves from each of m states to each of k states, (m, k).

        Args:
            qpos_from: (m, nq) states at rest to start from.
            qpos_to: (k, nq) states whose joints are commanded.
            landings: Whether to predict where moves come to rest, too.
        """
        m, k = len(qpos_from), len(qpos_to)
        source, goal = np.divmod(np.arange(m * k), max(k, 1))
        flat = self.predict_pairs(qpos_from, qpos_to, source, goal, landings=landings)
        return Prediction(
            flat.chance.reshape(m, k),
            flat.times.reshape(m, k),
            flat.doubt.reshape(m, k),
            None if flat.landings is None else flat.landings.reshape(m, k, -1),
        )

    def predict_pairs(
        self,
        qpos_from: Array,
        qpos_to: Array,
        source: IntArray,
        goal: IntArray,
        *,
        landings: bool = False,
    ) -> Prediction:
        """Predict the moves from states `source`, (b,), to states `goal`, (b,)."""
        self._check(qpos_from, qpos_to)
        sums = self._enter(qpos_from, qpos_to)
        parts = []
        for start in range(0, len(source), _BLOCK):
            block = slice(start, start + _BLOCK)
            raw = self._run(sums, source[block], goal[block], with_places=landings)
            parts.append(self._summarize(raw, qpos_to[goal[block]], landings))
        if not parts:
            empty = np.zeros(0, np.float32)
            states = np.zeros((0, qpos_to.shape[1])) if landings else None
            return Prediction(empty, empty, empty, states)
        joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
        return Prediction(*joined)

    def predict_raw(
        self, qpos: Array, source: IntArray, goal: IntArray, member: int | None = None
    ) -> Raw:
        """Return the outputs of all members, or of one, for moves between poses."""
        sums = self._enter(qpos, qpos)
        parts = [
            self._run(sums, source[at : at + _BLOCK], goal[at : at + _BLOCK], member)
            for at in range(0, len(source), _BLOCK)
        ]
        return Raw(
            *(
                np.concatenate([getattr(part, name) for part in parts], axis=1)
                for name in ("logits", "log_times", "places")
            )
        )

    def _check(self, *states: Array) -> None:
        nq = self.features.robot.model.nq
        for qpos in states:
            if qpos.ndim != 2 or qpos.shape[1] != nq or not np.isfinite(qpos).all():
                raise InputError(
                    f"States must be finite numbers of shape (n, {nq}) for robot "
                    f"{self.features.robot.name!r}, got shape {qpos.shape}."
                )

    @torch.no_grad()
    def _enter(self, qpos_from: Array, qpos_to: Array) -> list[tuple[Tensor, Tensor]]:
        """Return the first layer's sums of all states, for each image."""
        images = zip(
            self.features.describe(qpos_from),
            self.features.describe(qpos_to),
            strict=True,
        )
        return [
            enter(self.parameters, self._prepare(source), self._prepare(goal))
            for source, goal in images
        ]

    def _prepare(self, inputs: Array) -> Tensor:
        """Return standardized inputs, (1, b, n_inputs)."""
        scaled = (inputs - self.mean) / self.spread
        return torch.from_numpy(scaled.astype(np.float32)).to(self._device)[None]

    @torch.no_grad()
    def _run(
        self,
        sums: list[tuple[Tensor, Tensor]],
        source: IntArray,
        goal: IntArray,
        member: int | None = None,
        *,
        with_places: bool = True,
    ) -> Raw:
        """Return the outputs for some moves, averaged over images."""
        which = slice(None) if member is None else slice(member, member + 1)
        parameters = {name: each[which] for name, each in self.parameters.items()}
        if not with_places:
            for name in ("weight_out", "bias_out"):
                parameters[name] = parameters[name][..., :2]
        rows, columns = (
            torch.as_tensor(each, device=self._device) for each in (source, goal)
        )
        outputs = [
            combine(parameters, begin[which][:, rows] + end[which][:, columns])
            for begin, end in sums
        ]
        numbers = [each.cpu().numpy() for each in outputs]
        places = [each[..., 2:] for each in numbers]
        if with_places and len(places) == 2:
            shape = places[1].shape
            flat = places[1].reshape(-1, shape[-1])
            places[1] = self.features.reflect_places(flat).reshape(shape)
        mean = np.mean([each[..., :2] for each in numbers], axis=0)
        return Raw(mean[..., 0], mean[..., 1], np.mean(places, axis=0))

    def _summarize(self, raw: Raw, goals: Array, landings: bool) -> tuple[Array, ...]:
        """Return chance, time, doubt, and landings if asked for."""
        chances = 1 / (1 + np.exp(-raw.logits / self.temperature))
        times = np.exp(raw.log_times.mean(axis=0))
        chance = 1 / (1 + np.exp(-raw.logits.mean(axis=0) / self.temperature))
        parts = [chance, times, chances.std(axis=0)]
        if landings:
            parts.append(self.features.restore(raw.places.mean(axis=0), goals))
        return tuple(part.astype(np.float32) for part in parts)
