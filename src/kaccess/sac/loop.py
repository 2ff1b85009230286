"""The training loop: a population, its environments, and what is kept of both.

A run is a folder. `checkpoint.safetensors` holds all that the run depends on, and each
learner has a folder of its own with `episodes.csv`, `evaluation.csv`, the events for
TensorBoard, `policy.safetensors` and, if it is tested, `best.safetensors`. Training
into the same folder goes on from the checkpoint; on a CPU, and in environments whose
state can be had, with the very numbers of a run that was never interrupted.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.config import SacConfig
from kaccess.policies.policy import BEST_POLICY, LAST_POLICY, Policy
from kaccess.sac.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from kaccess.sac.cpu import tuned_cpu
from kaccess.sac.interrupt import deferred_interrupt
from kaccess.sac.journal import Journal
from kaccess.sac.policies import Policies
from kaccess.sac.run import Run, WarmUp
from kaccess.sac.vector import Envs

__all__ = ["Evaluate", "TrainProgress", "Trained", "train"]

Evaluate = Callable[[Policies, int], Mapping[str, Array]]
"""Called with (policies, step); returns figures of all learners, (p,) each."""

TrainProgress = Callable[[int, int, Mapping[str, float]], None]
"""Called with (steps done, steps in all, figures such as `return`) as work goes on."""

_SECONDS_BETWEEN_REPORTS = 0.2


@dataclass(frozen=True)
class Trained:
    """What came of a run."""

    policies: Policies
    """Of all learners."""
    stopped: Mapping[str, str]
    """Learners that broke down, and what happened, by name."""
    step: int
    """Steps of each learner."""


def train(
    env: "VectorEnv[Any, Any, Any]",
    config: SacConfig,
    *,
    names: Sequence[str],
    seeds: Sequence[int],
    n_steps: int,
    out: Path,
    device: str = "cpu",
    meta: Mapping[str, Any] | None = None,
    warm_up: WarmUp | None = None,
    evaluate: Evaluate | None = None,
    evaluate_every: int = 15_000,
    best_by: Sequence[str] = (),
    checkpoint: str = "checkpoint",
    checkpoint_every: float = 600.0,
    progress: TrainProgress | None = None,
    tensorboard: bool = True,
) -> Trained:
    """Train a population of independent learners, or go on with it.

    Args:
        env: Vector environment; learner p has the p-th block of `envs_per_learner`.
        config: Settings of the learners.
        names: Of the learners; also their folders, such as `ka/seed-0`.
        seeds: Of the learners. A learner depends on its own seed and environments.
        n_steps: Steps that each learner makes in all, over its environments.
        out: Folder of the run.
        device: `cpu`, or a GPU such as `cuda`.
        meta: What else must be the same for the run to go on, and what the policies'
            files shall say: robot, task and the like, as JSON can hold it.
        warm_up: What learners do in the first `warmup_steps`; by default anything.
        evaluate: Called every so often; its figures go to `evaluation.csv`.
        evaluate_every: Steps of a learner between two evaluations.
        best_by: Figures of an evaluation; the policy of each learner that has most of
            the first, then of the next, is kept as its best.
        checkpoint: Name of the checkpoint's file in `out`, without its ending.
        checkpoint_every: Time between two checkpoints [s].
        progress: Called a few times a second.
        tensorboard: Whether to write for TensorBoard, if it is installed.

    Raises:
        InputError: If the environment, the device or the folder's checkpoint does not
            fit.
        KeyboardInterrupt: If interrupted; the run is stored first.
    """
    _check(config, names, seeds, n_steps)
    envs = Envs(env, len(names) * config.envs_per_learner)
    settings = _settings(envs, config, names, seeds, meta or {})
    store = _Store(out, f"{checkpoint}.safetensors", settings)
    earlier = store.read()
    done = int(earlier.progress["step"]) if earlier else 0
    run = Run(
        envs,
        config,
        names=names,
        seeds=seeds,
        n_steps=max(n_steps, done),
        device=device,
        warm_up=warm_up,
    )
    if earlier:
        run.go_on(earlier)
    else:
        run.start()
    folders = [out / name for name in names]
    journal = Journal(folders, step=done, tensorboard=tensorboard)
    policies = Policies(
        run.population.learners, names, low=envs.low, high=envs.high, metadata=meta
    )
    best = _Best(out, best_by, earlier.progress.get("best", {}) if earlier else {})
    tests = _Tests(evaluate, evaluate_every, policies, journal, best)
    clock = _Clock(run, checkpoint_every)
    with (
        deferred_interrupt() as interrupted,
        closing(journal),
        store.saving(run, policies, best),
        tuned_cpu(run.population),
    ):
        while True:
            tests.make_if_due(run)
            over = run.step >= n_steps or not run.alive.any()
            if progress and (over or clock.report_is_due()):
                figures = clock.figures() | tests.means
                progress(min(run.step, n_steps), n_steps, figures)
            if interrupted():
                raise KeyboardInterrupt
            if over:
                break
            if clock.checkpoint_is_due():
                store.save(run, policies, best)
            for learner, episode in run.advance():
                journal.note("episodes", learner, run.step, episode)
    return Trained(policies, dict(run.stopped), run.step)


def _check(
    config: SacConfig, names: Sequence[str], seeds: Sequence[int], n_steps: int
) -> None:
    if not names or len(set(names)) != len(names):
        raise InputError(f"`names` must be of one learner or more, each once: {names}.")
    if len(seeds) != len(names) or min(seeds) < 0:
        raise InputError(
            f"`seeds` must be one number of 0 or more for each of the {len(names)} "
            f"learners, got {list(seeds)}."
        )
    if n_steps < 1:
        raise InputError(f"`n_steps` must be at least 1, got {n_steps}.")


def _settings(
    envs: Envs,
    config: SacConfig,
    names: Sequence[str],
    seeds: Sequence[int],
    meta: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what must be the same for a run to go on."""
    return {
        **asdict(config),
        "names": list(names),
        "seeds": list(seeds),
        "obs_dim": envs.obs_dim,
        "act_dim": envs.act_dim,
        "low": envs.low.tolist(),
        "high": envs.high.tolist(),
        "meta": dict(meta),
    }


class _Store:
    """The folder of a run."""

    def __init__(self, out: Path, name: str, settings: Mapping[str, Any]) -> None:
        self._out, self._path, self._settings = out, out / name, settings

    def read(self) -> Checkpoint | None:
        """Return the checkpoint, if there is one; it must be of the same run."""
        if not self._path.exists():
            return None
        checkpoint = load_checkpoint(self._path)
        checkpoint.require_same(self._settings, self._path)
        return checkpoint

    @contextmanager
    def saving(self, run: Run, policies: Policies, best: "_Best") -> Iterator[None]:
        """Store a run when it ends, however it does, unless within a step."""
        try:
            yield
        finally:
            if run.between_steps:
                self.save(run, policies, best)

    def save(self, run: Run, policies: Policies, best: "_Best") -> None:
        """Store a run between two steps."""
        for i, name in enumerate(policies.names):
            policies[i].save(self._out / name / LAST_POLICY)
        best.save()
        progress = run.progress() | {"best": best.scores}
        save_checkpoint(self._path, Checkpoint(self._settings, progress, run.arrays()))


class _Best:
    """The best policy of each learner so far.

    Args:
        out: Folder of the run.
        by: Figures of a test, most important first, of which more is better.
        scores: These figures of the best so far, by name of the learner.
    """

    def __init__(
        self, out: Path, by: Sequence[str], scores: Mapping[str, list[float]]
    ) -> None:
        self._out, self._by, self.scores = out, by, dict(scores)
        self._new: dict[str, Policy] = {}

    def look_at(self, policies: Policies, p: int, row: Mapping[str, float]) -> None:
        """Keep the policy of a learner if it has just done better than ever."""
        name, score = policies.names[p], [row[figure] for figure in self._by]
        if score and np.isfinite(score).all() and score > self.scores.get(name, []):
            self.scores[name], self._new[name] = score, policies[p]

    def save(self) -> None:
        """Store the best policies, in one go with the run that they are of."""
        for name, policy in self._new.items():
            policy.save(self._out / name / BEST_POLICY)
        self._new.clear()


class _Tests:
    """Tests of all learners, every so often.

    Args:
        evaluate: Makes one, if any are wanted.
        every: Steps of a learner between two of them.
        policies: Of the learners.
        journal: To note what comes of them.
        best: To keep the policies that do better than ever.

    Attributes:
        means: Figures of the last test, over the learners.
    """

    def __init__(
        self,
        evaluate: Evaluate | None,
        every: int,
        policies: Policies,
        journal: Journal,
        best: _Best,
    ) -> None:
        self._evaluate, self._every = evaluate, every
        self._policies, self._journal, self._best = policies, journal, best
        self.means: dict[str, float] = {}

    def make_if_due(self, run: Run) -> None:
        if self._evaluate is None:
            return
        n_due = run.step // self._every
        if n_due <= run.n_evaluations:
            return
        figures = self._evaluate(self._policies, run.step)
        for p in np.flatnonzero(run.alive).tolist():
            row = {name: float(values[p]) for name, values in figures.items()}
            self._journal.note("evaluation", p, run.step, row)
            self._best.look_at(self._policies, p, row)
        run.n_evaluations = n_due
        alive = run.alive
        self.means = {
            name: float(values[alive].mean()) for name, values in figures.items()
        }


class _Clock:
    """When to report and to store, and how fast a run is."""

    def __init__(self, run: Run, checkpoint_every: float) -> None:
        self._run, self._every = run, checkpoint_every
        self._began, self._first = time.monotonic(), run.step
        self._saved, self._reported = self._began, -np.inf

    def report_is_due(self) -> bool:
        now = time.monotonic()
        due = now - self._reported > _SECONDS_BETWEEN_REPORTS
        self._reported = now if due else self._reported
        return due

    def checkpoint_is_due(self) -> bool:
        now = time.monotonic()
        due = now - self._saved > self._every
        self._saved = now if due else self._saved
        return due

    def figures(self) -> dict[str, float]:
        """Return the figures of the run, and the steps/s of all learners together."""
        seconds = time.monotonic() - self._began
        steps = (self._run.step - self._first) * len(self._run.names)
        rate = steps / seconds if seconds > 0 else 0.0
        return {**self._run.figures(), "steps_per_s": rate}
