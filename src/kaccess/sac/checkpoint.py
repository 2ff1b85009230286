"""Checkpoints: all that a run depends on, in one file that is whole or not there.

Tensors are stored as safetensors, the rest as JSON in its header. Of the replay only
the filled part is written. Random numbers come from keys, so that of them only the
place is stored.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kaccess.base.errors import InputError
from kaccess.base.settings import flatten
from kaccess.base.tensors import read_tensors, write_tensors
from kaccess.sac.population import Population

__all__ = ["Checkpoint", "load_checkpoint", "restore", "save_checkpoint", "snapshot"]

_KIND = "kaccess checkpoint (2)"


@dataclass(frozen=True)
class Checkpoint:
    """A run at the end of a step.

    Attributes:
        settings: What must be the same for the run to go on, as JSON can hold it.
        progress: Counters and messages, as JSON can hold them.
        arrays: Everything else, by name.
    """

    settings: Mapping[str, Any]
    progress: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]

    def part(self, name: str) -> dict[str, np.ndarray]:
        """Return the arrays below a name."""
        prefix = f"{name}/"
        return {
            key.removeprefix(prefix): array
            for key, array in self.arrays.items()
            if key.startswith(prefix)
        }

    def require_same(self, settings: Mapping[str, Any], path: Path) -> None:
        """Raise `InputError` if the run was made with other settings."""
        stored, given = flatten(self.settings), flatten(_as_stored(settings))
        names = [*stored, *(name for name in given if name not in stored)]
        differing = [
            f"{name} was {stored.get(name)!r} and is now {given.get(name)!r}"
            for name in names
            if stored.get(name) != given.get(name)
        ]
        if differing:
            raise InputError(
                f"{path} was made differently: {'; '.join(differing)}. "
                "Use the same, or train into a new folder."
            )


def snapshot(population: Population) -> dict[str, np.ndarray]:
    """Return all of a population by name."""
    arrays = {
        f"learners/{name}": tensor.cpu().numpy()
        for name, tensor in population.learners.tensors().items()
    }
    for p, rows in enumerate(population.replay.contents()):
        arrays[f"replay/{p}"] = rows
    arrays["replay counts"] = population.replay.counts
    arrays["position"] = np.array(population.position)
    return arrays


def restore(population: Population, checkpoint: Checkpoint) -> None:
    """Put a population into the state of a checkpoint."""
    for name, array in checkpoint.part("learners").items():
        population.learners.tensors()[name].copy_(torch.as_tensor(array))
    rings = checkpoint.part("replay")
    population.replay.restore(
        [rings[str(p)] for p in range(len(rings))], checkpoint.arrays["replay counts"]
    )
    population.alive = checkpoint.arrays["learners/alive"][:, 0].copy()
    n_exchanges, n_updates = checkpoint.arrays["position"].tolist()
    population.go_on(n_exchanges, n_updates)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint in the place of the one before."""
    header = {"settings": checkpoint.settings, "progress": checkpoint.progress}
    write_tensors(path, _KIND, header, checkpoint.arrays)


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        InputError: If it is not one, or damaged.
    """
    header, arrays = read_tensors(path, _KIND)
    return Checkpoint(header["settings"], header["progress"], arrays)


def _as_stored(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as JSON gives them back: tuples as lists."""
    return dict(json.loads(json.dumps(settings)))
