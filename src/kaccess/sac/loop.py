"""The training loop: a population in its environments, its tests and its files.

A run is a folder. `checkpoint.safetensors` holds the complete state of the run. Each
learner has its own folder with `episodes.csv`, `evaluation.csv`, events for
TensorBoard, `policy.safetensors` and, if it is tested, `best.safetensors`. Training
into the same folder resumes from the checkpoint. On a CPU, and in environments with
`get_state` and `set_state`, results equal those of a run without interruption.
"""

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from kaccess.base.types import TrainProgress
from kaccess.config import SacConfig
from kaccess.sac.checkpoint import Checkpoint
from kaccess.sac.cpu import tune_cpu
from kaccess.sac.device import check_compiled, explain_memory
from kaccess.sac.interrupt import defer_interrupts
from kaccess.sac.journal import Journal
from kaccess.sac.plan import CurveTests, Plan, RunFolder
from kaccess.sac.run import Run
from kaccess.sac.store import BestPolicies, Store, describe_run
from kaccess.sac.trainable import PolicySet, Trainable
from kaccess.sac.vector import Envs

__all__ = ["Trained", "drive", "train"]

_SECONDS_BETWEEN_REPORTS = 0.2


@dataclass(frozen=True)
class Trained:
    """Result of a training."""

    policies: PolicySet
    """Policies of all learners."""
    stopped: Mapping[str, str]
    """Learners that stopped because of a number that is not finite: a message for each,
    by name."""
    step: int
    """Steps that each learner has made."""


@explain_memory()
def train(
    env: "VectorEnv[Any, Any, Any]",
    config: SacConfig,
    *,
    plan: Plan,
    folder: RunFolder,
    device: str = "cpu",
    n_threads: int = 0,
    tests: CurveTests | None = None,
    progress: TrainProgress | None = None,
) -> Trained:
    """Train a population of independent learners, or resume it.

    Args:
        env: Vector environment; learner p has the p-th block of `envs_per_learner`.
        config: Settings of the learners.
        plan: Names, seeds and number of steps of the learners.
        folder: Folder of the run.
        device: `cpu`, a GPU such as `cuda`, or `auto`.
        n_threads: CPU threads of the learners; 0 takes all.
        tests: Tests during training; by default none.
        progress: Called a few times per second.

    Raises:
        InputError: If the environment, the device or the folder's checkpoint does not
            fit.
        KeyboardInterrupt: If interrupted; the run is stored first.
        MemoryError: If there is not enough memory, here or on the device.
    """
    envs = Envs(env, len(plan.names) * config.envs_per_learner)
    store = Store(folder, describe_run(envs, config, plan))
    checkpoint = store.read()
    run = Run(envs, config, plan, device=device, checkpoint=checkpoint)
    if checkpoint is None:  # a run on a GPU may be resumed on a CPU
        check_compiled(config.compiled, run.population.device)
    with tune_cpu(run.population, n_threads):
        drive(run, plan, store, checkpoint, tests=tests, progress=progress)
    return Trained(run.policies, dict(run.stopped), run.step)


def drive(
    run: Trainable,
    plan: Plan,
    store: Store,
    checkpoint: Checkpoint | None,
    *,
    tests: CurveTests | None = None,
    progress: TrainProgress | None = None,
) -> None:
    """Train a run to its end, with tests, curves and checkpoints.

    Args:
        run: Run, of any algorithm.
        plan: Names, seeds and number of steps of the learners.
        store: Files of the run.
        checkpoint: Checkpoint that the run resumes from; None if it is new.
        tests: Tests during training; by default none.
        progress: Called a few times per second.

    Raises:
        KeyboardInterrupt: If interrupted; the run is stored first.
    """
    folder = store.folder
    journal = Journal(
        folder.path,
        plan.names,
        step=run.step,
        marks=checkpoint.progress.get("curves") if checkpoint else None,
        tensorboard=folder.tensorboard,
    )
    best = BestPolicies(tests.best_by if tests else (), run.policies, checkpoint)
    tester = _Tester(tests, run, journal, best)
    reporter = _Reporter(progress, run, plan.n_steps)
    checkpoint_timer = _Timer(folder.checkpoint_every, first=folder.first_checkpoint)
    with (
        defer_interrupts() as is_interrupted,
        closing(journal),
        store.save_at_end(run, best, journal),
    ):
        while True:
            tester.test_if_due()
            is_over = run.step >= plan.n_steps or not run.alive.any()
            reporter.report_if_due(tester.means, is_over=is_over)
            if is_interrupted():
                raise KeyboardInterrupt
            if is_over:
                break
            if checkpoint_timer.is_due():
                store.save(run, best, journal)
            with run.make_step():
                for learner, episode in run.advance():
                    journal.add_row("episodes", learner, run.step, episode)


class _Tester:
    """Tests all learners of a run from time to time.

    Args:
        tests: Kind and frequency of the tests; None for no tests.
        run: Run whose learners are tested.
        journal: Journal of the scores.
        best: Best policies so far.

    Attributes:
        means: Scores of the last test, averaged over the learners.
    """

    def __init__(
        self,
        tests: CurveTests | None,
        run: Trainable,
        journal: Journal,
        best: BestPolicies,
    ) -> None:
        self._tests, self._run, self._journal, self._best = tests, run, journal, best
        self.means: dict[str, float] = {}

    def test_if_due(self) -> None:
        """Test the learners if enough steps have passed since the last test."""
        tests, run = self._tests, self._run
        if tests is None:
            return
        n_due = run.step // tests.every
        if n_due <= run.n_evaluations:
            return
        scores = tests.evaluate(run.policies, run.step)
        alive = run.alive
        with run.make_step():
            for p in np.flatnonzero(alive).tolist():
                row = {name: float(values[p]) for name, values in scores.items()}
                self._journal.add_row("evaluation", p, run.step, row)
                self._best.compare(p, row)
            run.n_evaluations = n_due
        self.means = {
            name: float(values[alive].mean()) for name, values in scores.items()
        }


class _Timer:
    """A timer that is due at regular intervals.

    Args:
        seconds: Interval [s].
        first: Time until it is due for the first time, if that is less [s].
    """

    def __init__(self, seconds: float, *, first: float) -> None:
        self._seconds = seconds
        self._due_at = time.monotonic() + min(first, seconds)

    def is_due(self) -> bool:
        """Return whether it is due; if so, the time starts again."""
        now = time.monotonic()
        if now < self._due_at:
            return False
        self._due_at = now + self._seconds
        return True


class _Reporter:
    """Reports the progress of a run a few times per second."""

    def __init__(
        self, progress: TrainProgress | None, run: Trainable, n_steps: int
    ) -> None:
        self._progress, self._run, self._n_steps = progress, run, n_steps
        self._began, self._first = time.monotonic(), run.step
        self._timer = _Timer(_SECONDS_BETWEEN_REPORTS, first=0.0)

    def report_if_due(self, scores: Mapping[str, float], *, is_over: bool) -> None:
        """Report returns, speed and the scores of the last test."""
        if self._progress is None or not (is_over or self._timer.is_due()):
            return
        run, seconds = self._run, time.monotonic() - self._began
        steps = (run.step - self._first) * len(run.names)
        rate = steps / seconds if seconds > 0 else 0.0  # of all learners together
        metrics = {**run.get_metrics(), "steps_per_s": rate, **scores}
        self._progress(min(run.step, self._n_steps), self._n_steps, metrics)
