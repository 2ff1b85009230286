"""Checkpoints: the complete state of a run, in one file that is never half-written.

Tensors are stored as safetensors, the rest as JSON in the header. Only the filled part
of the replay buffers is written. Random numbers come from keys, so that only their
position is stored.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from kaccess.base.damage import check_content, explain_damage
from kaccess.base.errors import InputError
from kaccess.base.settings import describe_changes
from kaccess.base.tensors import REMEDY, read_header, read_tensors, write_tensors
from kaccess.sac.population import Population

__all__ = [
    "Checkpoint",
    "find_owners",
    "get_policies",
    "load_checkpoint",
    "restore_population",
    "save_checkpoint",
    "snapshot_population",
]

_KIND = "kaccess checkpoint (2)"
_HEADER = {
    "settings": {"names": [str]},
    "progress": {"step": int, "stopped": dict, "best?": dict, "curves?": dict},
}


@dataclass(frozen=True)
class Checkpoint:
    """A run at the end of a step.

    Attributes:
        settings: Settings that must be the same to resume the run, as JSON holds them.
        progress: Counters and messages, as JSON holds them.
        arrays: Everything else, by name.
        path: File that it was read from.
    """

    settings: Mapping[str, Any]
    progress: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]
    path: Path = Path()

    def explain(self) -> AbstractContextManager[None]:
        """Return a block in which the file is to blame for errors."""
        return explain_damage(self.path, REMEDY)

    def select(self, group: str) -> dict[str, np.ndarray]:
        """Return the arrays whose names begin with `<group>/`, without that prefix."""
        prefix = f"{group}/"
        return {
            key.removeprefix(prefix): array
            for key, array in self.arrays.items()
            if key.startswith(prefix)
        }

    def require_same(self, settings: Mapping[str, Any], path: Path) -> None:
        """Raise `InputError` if the run was made with other settings."""
        given = json.loads(json.dumps(settings))  # tuples become lists, as in the file
        if changes := describe_changes(self.settings, given, complete=True):
            raise InputError(
                f"{path} was made differently: {changes}. Use the same settings, or "
                "train into a new folder."
            )


def snapshot_population(population: Population) -> dict[str, np.ndarray]:
    """Return the state of a population as arrays, by name."""
    arrays = {
        f"learners/{name}": tensor.cpu().numpy()
        for name, tensor in population.learners.tensors().items()
    }
    for p, rows in enumerate(population.replay.get_contents()):
        arrays[f"replay/{p}"] = rows
    arrays["replay counts"] = population.replay.counts
    arrays["position"] = np.array(population.position)
    return arrays


def restore_population(population: Population, checkpoint: Checkpoint) -> None:
    """Put a population into the state of a checkpoint."""
    stored = checkpoint.select("learners") | {"policy": get_policies(checkpoint)}
    for name, array in stored.items():
        population.learners.tensors()[name].copy_(torch.as_tensor(array))
    rings = checkpoint.select("replay")
    population.replay.set_contents(
        [rings[str(p)] for p in range(len(rings))], checkpoint.arrays["replay counts"]
    )
    population.alive = checkpoint.arrays["learners/alive"][:, 0].copy()
    n_exchanges, n_updates = checkpoint.arrays["position"].tolist()
    population.resume(n_exchanges, n_updates)


def get_policies(checkpoint: Checkpoint) -> np.ndarray:
    """Return the policies of a checkpoint: in older ones, they are the actors."""
    learners = checkpoint.select("learners")
    return learners.get("policy", learners["actor"])


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; it replaces the one before."""
    header = {"settings": checkpoint.settings, "progress": checkpoint.progress}
    write_tensors(path, _KIND, header, checkpoint.arrays)


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        InputError: If the file is not a checkpoint, or damaged.
    """
    header, arrays = read_tensors(path, _KIND)
    with explain_damage(path, REMEDY):
        check_content(header, _HEADER, "its header")
    return Checkpoint(header["settings"], header["progress"], arrays, path)


def find_owners(folder: Path) -> dict[str, Path]:
    """Return the checkpoint that holds each learner of a folder, by learner name.

    Checkpoints that cannot be read are left out.
    """
    owners: dict[str, Path] = {}
    for path in sorted(folder.glob("[!.]*.safetensors")):  # no drafts
        with suppress(InputError):
            names = read_header(path, _KIND)["settings"]["names"]
            owners |= dict.fromkeys(names, path)
    return owners
