"""The `mujoco` engine: CPU threads, each simulation equal to a plain `mj_step` loop.

Simulations share the slots of one `mujoco.batch.Batch`. All slots advance by a chunk of
steps in one native call; those that are done leave, waiting ones take their place, and
so every thread stays busy whatever the simulations' lengths. A result depends neither
on the chunk nor on the company: when a simulation is done is decided step by step from
its record, and the steps it made beyond that are thrown away.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import mujoco
import numpy as np
from mujoco.batch import Batch

from kaccess.base.machine import n_cpus
from kaccess.base.types import Array, BoolArray, IntArray, Progress
from kaccess.config import StillConfig
from kaccess.engines.engine import Settled
from kaccess.engines.still import is_quiet, quiet_runs
from kaccess.robots import Robot

__all__ = ["MujocoEngine", "make_lean_model", "silence_warnings"]

_CHUNK = 10  # steps between two looks: the mean waste is half of it, of about 300
_SLOTS_PER_THREAD = 64
_WAITING_PER_SLOT = 16  # simulations a call should bring: then its tail is short


class MujocoEngine:
    """Settles robots on CPU threads.

    Args:
        robot: The robot to simulate.
        still: When it counts as static.
        n_threads: CPU threads; 0 takes them all.
        n_slots: Simulations in flight; by default enough to keep the threads busy.
    """

    def __init__(
        self,
        robot: Robot,
        still: StillConfig | None = None,
        *,
        n_threads: int = 0,
        n_slots: int | None = None,
    ) -> None:
        self.robot = robot
        self.still = still or StillConfig()
        self._window = round(self.still.window / robot.timestep)
        n_threads = n_threads or n_cpus()
        n_slots = n_slots or _SLOTS_PER_THREAD * n_threads
        self._batch = Batch(make_lean_model(robot), n_slots, n_threads)

    @property
    def batch_size(self) -> int:
        """Simulations that one call should bring to keep the threads busy."""
        return _WAITING_PER_SLOT * int(self._batch.nsim)

    def settle(
        self,
        qpos: Array,
        targets: Array,
        *,
        time_limit: float,
        progress: Progress | None = None,
    ) -> Settled:
        """Hold `targets` from rest at `qpos` until static or out of time."""
        limit = round(time_limit / self.robot.timestep)
        settled = Settled(
            qpos=np.array(qpos, dtype=np.float64),
            time=np.full(len(qpos), np.inf),
            diverged=np.zeros(len(qpos), bool),
        )
        n_slots = self._batch.nsim
        row = np.full(n_slots, -1)  # of the simulation in a slot; -1: the slot is free
        steps = np.zeros(n_slots, int)
        quiet = np.zeros(n_slots, int)  # states in a row that were quiet
        n_started = 0
        with silence_warnings():
            while True:
                free = np.flatnonzero(row < 0)[: len(qpos) - n_started]
                row[free] = n_started + np.arange(len(free))
                n_started += len(free)
                self._load(free, qpos[row[free]], targets[row[free]])
                steps[free], quiet[free] = 0, 1  # it starts from rest
                slots = np.flatnonzero(row >= 0)
                if not len(slots):
                    return settled
                done, quiet[slots] = self._advance(
                    slots, row[slots], steps[slots], quiet[slots], limit, settled
                )
                steps[slots] += _CHUNK
                row[slots[done]] = -1
                if progress:
                    progress(n_started - int((row >= 0).sum()), len(qpos))

    def _advance(
        self,
        slots: IntArray,
        row: IntArray,
        steps: IntArray,
        quiet: IntArray,
        limit: int,
        settled: Settled,
    ) -> tuple[BoolArray, IntArray]:
        """Simulate a chunk, and note in `settled` those that are done.

        Returns:
            (a,) which slots are done, and (a,) how many quiet states in a row each has.
        """
        record = self._batch.rollout(_CHUNK, record=("qpos", "qvel"), ids=slots)
        runs = quiet_runs(is_quiet(record["qvel"], self.still), quiet)
        last = np.minimum(limit - steps, _CHUNK) - 1  # within the time limit
        at_rest = runs > self._window
        at_rest[np.arange(_CHUNK) > last[:, None]] = False
        failed = self._batch.warning[slots, :, 1].any(axis=1)
        found = at_rest.any(axis=1) & ~failed
        last[found] = at_rest[found].argmax(axis=1)
        done = found | failed | (steps + _CHUNK >= limit)

        begin = (steps + last + 1 - self._window) * self.robot.timestep
        settled.qpos[row[done]] = record["qpos"][done, last[done]]
        settled.time[row[found]] = begin[found]
        settled.diverged[row[done]] = failed[done]
        return done, runs[:, -1]

    def _load(self, slots: IntArray, qpos: Array, targets: Array) -> None:
        self._batch.reset(slots, stage=mujoco.mjtStage.mjSTAGE_NONE)
        self._batch.bind("qpos")[slots] = qpos
        self._batch.bind("ctrl")[slots] = targets


def make_lean_model(robot: Robot) -> mujoco.MjModel:
    """Return a robot's model without work that changes no motion, but for rounding.

    Nothing reads a sensor, and no force depends on one. One robot is one island, and
    for Bittle sparse matrices and no search for islands save a sixth of each step.
    """
    model = robot.model.__copy__()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    return model


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Keep MuJoCo from printing and logging what its warning counters tell."""
    previous = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(previous)
