"""Files of a run: its checkpoint, and the last and best policy of each learner.

The checkpoint is written first and holds all that the other files hold. So a save has
happened once the checkpoint is in its place: if the process is killed before that, the
run resumes from the checkpoint before, and if it is killed after that, the next save
writes the policies again.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.config import SacConfig
from kaccess.policies.policy import BEST_POLICY, LAST_POLICY, Policy
from kaccess.sac.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from kaccess.sac.journal import Journal
from kaccess.sac.plan import Plan, RunFolder
from kaccess.sac.trainable import PolicySet, Trainable
from kaccess.sac.vector import Envs

__all__ = ["BestPolicies", "Store", "describe_run"]

_ADDED = {"updates": None, "policy_tau": 1.0}  # settings that older runs do not name


def describe_run(envs: Envs, config: SacConfig, plan: Plan) -> dict[str, Any]:
    """Return the settings that must be the same to resume a run, as JSON holds them."""
    settings = asdict(config)
    for name, before in _ADDED.items():
        if settings[name] == before:  # as in runs from before it existed
            del settings[name]
    return {
        **settings,
        "names": list(plan.names),
        "seeds": list(plan.seeds),
        "obs_dim": envs.obs_dim,
        "act_dim": envs.act_dim,
        "low": envs.low.tolist(),
        "high": envs.high.tolist(),
        "meta": dict(plan.metadata),
    }


class BestPolicies:
    """The best policy of each learner so far.

    Args:
        by: Names of the scores of a test, most important first; more is better.
        policies: Current policies of the learners.
        checkpoint: Checkpoint to resume from, if there is one.

    Attributes:
        scores: Scores of the best policies so far, by name of the learner.
    """

    def __init__(
        self, by: Sequence[str], policies: PolicySet, checkpoint: Checkpoint | None
    ) -> None:
        self._by, self._policies = by, policies
        self.scores: dict[str, list[float]] = {}
        self._best: dict[str, Policy] = {}
        if checkpoint:
            self.scores = dict(checkpoint.progress.get("best", {}))
            with checkpoint.explain():
                self._best = self._read(checkpoint)
        self._unsaved = set(self._best)

    def _read(self, checkpoint: Checkpoint) -> dict[str, Policy]:
        """Return the best policies of a checkpoint; older ones hold none."""
        stored = {name: checkpoint.select(f"best/{name}") for name in self.scores}
        best = {
            name: self._policies[name].replace_arrays(arrays)
            for name, arrays in stored.items()
            if arrays
        }
        for policy in best.values():
            policy.check_shapes()
        return best

    def compare(self, p: int, row: Mapping[str, float]) -> None:
        """Keep the policy of a learner if its scores are the best so far."""
        name, scores = self._policies.names[p], [row[score] for score in self._by]
        if scores and np.isfinite(scores).all() and scores > self.scores.get(name, []):
            self.scores[name], self._best[name] = scores, self._policies[p]
            self._unsaved.add(name)

    def get_arrays(self) -> dict[str, np.ndarray]:
        """Return the best policies as arrays, by name."""
        return {
            f"best/{name}/{key}": array
            for name, policy in self._best.items()
            for key, array in policy.get_arrays().items()
        }

    def save(self, folder: Path) -> None:
        """Write the best policies that have not been written yet."""
        for name in sorted(self._unsaved):
            self._best[name].save(folder / name / BEST_POLICY)
            self._unsaved.discard(name)


class Store:
    """Reads and writes the files of a run.

    Args:
        folder: Folder of the run.
        settings: Settings that must be the same to resume the run.

    Attributes:
        folder: Folder of the run.
    """

    def __init__(self, folder: RunFolder, settings: Mapping[str, Any]) -> None:
        self.folder, self._settings = folder, settings
        self._path = folder.path / f"{folder.checkpoint}.safetensors"

    def read(self) -> Checkpoint | None:
        """Return the checkpoint, if there is one; it must be of the same run."""
        if not self._path.exists():
            return None
        checkpoint = load_checkpoint(self._path)
        checkpoint.require_same(self._settings, self._path)
        return checkpoint

    def save(self, run: Trainable, best: BestPolicies, journal: Journal) -> None:
        """Write checkpoint and policies of a run that is between two steps."""
        progress = run.get_progress() | {"best": best.scores}
        progress["curves"] = journal.get_marks()
        arrays = run.get_arrays() | best.get_arrays()
        save_checkpoint(self._path, Checkpoint(self._settings, progress, arrays))
        for i, name in enumerate(run.names):
            run.policies[i].save(self.folder.path / name / LAST_POLICY)
        best.save(self.folder.path)

    @contextmanager
    def save_at_end(
        self, run: Trainable, best: BestPolicies, journal: Journal
    ) -> Iterator[None]:
        """Save a run at the end of the block, even after an error between two steps."""
        try:
            yield
        finally:
            if run.between_steps:
                self.save(run, best, journal)
