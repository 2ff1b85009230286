"""The `mujoco` engine: CPU threads, each simulation equal to a plain `mj_step` loop.

Simulations run in the slots of one `mujoco.batch.Batch`. One native call advances all
slots by a chunk of steps. Then simulations that are done leave their slots and waiting
ones take them, so every thread stays busy however long each simulation takes. A result
does not depend on the size of the chunk or on the other simulations: the recorded
states tell at which step a simulation was done, and any later steps are discarded.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco.batch import Batch

from kaccess.base.machine import n_cpus
from kaccess.base.types import Array, IntArray, Progress
from kaccess.config import StillConfig
from kaccess.engines.engine import Settled
from kaccess.engines.motion import TARGET_STEPS, Motion, as_motion
from kaccess.engines.still import count_quiet, is_quiet
from kaccess.robots import Robot
from kaccess.robots.hold import silence_warnings

__all__ = ["MujocoEngine", "make_lean_model"]

_CHUNK = TARGET_STEPS  # between checks: wastes about 5 of 300 steps per simulation
_SLOTS_PER_THREAD = 64
_QUEUE_PER_SLOT = 16  # simulations per slot in a call: few slots are idle at the end


@dataclass(frozen=True)
class _Slots:
    """Simulations in progress.

    Args:
        row: (n,) row of the simulation in each slot; -1 if the slot is free.
        steps: (n,) steps since the start of the simulation.
        quiet: (n,) number of quiet states in a row, up to the current one.
    """

    row: IntArray
    steps: IntArray
    quiet: IntArray

    @property
    def busy(self) -> IntArray:
        """Indices of the slots in use."""
        return np.flatnonzero(self.row >= 0)


class MujocoEngine:
    """Simulates robots on CPU threads until they are at rest.

    Args:
        robot: Robot to simulate.
        still: When it counts as static.
        n_threads: Number of CPU threads; 0 takes all.
        n_slots: Simulations in progress; by default enough to keep the threads busy.
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
        self.still = robot.scale.fit(still or StillConfig())
        self._window = round(self.still.window / robot.timestep)
        n_threads = n_threads or n_cpus()
        n_slots = n_slots or _SLOTS_PER_THREAD * n_threads
        self._batch = Batch(make_lean_model(robot), n_slots, n_threads)

    @property
    def batch_size(self) -> int:
        """Simulations to pass in one call to keep the threads busy."""
        return _QUEUE_PER_SLOT * int(self._batch.nsim)

    def settle(
        self,
        qpos: Array,
        targets: Array | Motion,
        *,
        time_limit: float,
        progress: Progress | None = None,
    ) -> Settled:
        """Command `targets` from rest at `qpos`, until static or out of time."""
        motion = as_motion(targets)
        moving = motion.count_steps(self.robot.timestep)
        limit = round(time_limit / self.robot.timestep) + moving
        settled = Settled(
            qpos=np.array(qpos, dtype=np.float64),
            time=np.full(len(qpos), np.inf),
            diverged=np.zeros(len(qpos), bool),
        )
        n, n_slots, n_started = len(qpos), self._batch.nsim, 0
        slots = _Slots(
            np.full(n_slots, -1), np.zeros(n_slots, int), np.ones(n_slots, int)
        )
        with silence_warnings():
            while True:
                free = np.flatnonzero(slots.row < 0)[: n - n_started]
                slots.row[free] = n_started + np.arange(len(free))
                n_started += len(free)
                self._start(slots, free, qpos)
                if not len(slots.busy):
                    return settled
                self._set_targets(slots, motion, moving)
                self._advance(slots, moving, limit, settled)
                if progress:
                    progress(n_started - len(slots.busy), n)

    def _start(self, slots: _Slots, free: IntArray, qpos: Array) -> None:
        """Start new simulations in the slots `free`."""
        row = slots.row[free]
        self._batch.reset(free, stage=mujoco.mjtStage.mjSTAGE_NONE)
        self._batch.bind("qpos")[free] = qpos[row]
        slots.steps[free] = 0
        slots.quiet[free] = 1  # it starts at rest

    def _set_targets(self, slots: _Slots, motion: Motion, moving: IntArray) -> None:
        """Set the targets of the next chunk, where they are new: those at its end."""
        row, steps = slots.row[slots.busy], slots.steps[slots.busy]
        new = (steps == 0) | (steps < moving[row])
        at = (steps[new] + _CHUNK) * self.robot.timestep
        self._batch.bind("ctrl")[slots.busy[new]] = motion.at(row[new], at)

    def _advance(
        self, slots: _Slots, moving: IntArray, limit: IntArray, settled: Settled
    ) -> None:
        """Simulate a chunk of steps, and store the results of simulations that end."""
        busy = slots.busy
        row, steps = slots.row[busy], slots.steps[busy]
        limit = limit[row]
        record = self._batch.rollout(_CHUNK, record=("qpos", "qvel"), ids=busy)
        holds = steps[:, None] + np.arange(_CHUNK) >= moving[row, None]
        is_still = is_quiet(record["qvel"], self.still) & holds
        quiet = count_quiet(is_still, slots.quiet[busy])
        last = np.minimum(limit - steps, _CHUNK) - 1  # within the time limit
        at_rest = quiet > self._window
        at_rest[np.arange(_CHUNK) > last[:, None]] = False
        failed = self._batch.warning[busy, :, 1].any(axis=1)
        found = at_rest.any(axis=1) & ~failed
        last[found] = at_rest[found].argmax(axis=1)
        done = found | failed | (steps + _CHUNK >= limit)

        begin = (steps + last + 1 - self._window) * self.robot.timestep
        settled.qpos[row[done]] = record["qpos"][done, last[done]]
        settled.time[row[found]] = begin[found]
        settled.diverged[row[done]] = failed[done]
        slots.steps[busy], slots.quiet[busy] = steps + _CHUNK, quiet[:, -1]
        slots.row[busy[done]] = -1


def make_lean_model(robot: Robot) -> mujoco.MjModel:
    """Return a robot's model without computations that do not affect motion.

    Motion stays the same except for rounding. Sensors are off, since nothing reads
    them. Islands are off, since one robot is one island. Matrices are sparse. For
    Bittle, the last two make each step a sixth faster.
    """
    model = robot.model.__copy__()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ISLAND
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    return model
