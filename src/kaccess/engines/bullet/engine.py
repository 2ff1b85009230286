"""The `bullet` engine: PyBullet, in this process or in several.

Each simulation is a loop in Python: compute the torques, step, check whether the robot
is at rest. PyBullet does not release Python's global lock, so each core needs its own
process. They are spawned, not forked, since forking a process with MuJoCo's threads
is unsafe. They do not import the caller's script, so it needs no
`if __name__ == "__main__"`. They end when their parent process ends, for any reason.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from types import ModuleType

import numpy as np

from kaccess.base.machine import n_cpus
from kaccess.base.types import Array, IntArray, Progress
from kaccess.config import StillConfig
from kaccess.engines.bullet.client import import_pybullet
from kaccess.engines.bullet.model import BulletModel, describe_robot
from kaccess.engines.bullet.world import ACCURATE, World
from kaccess.engines.engine import Settled
from kaccess.engines.motion import TARGET_STEPS, Motion, as_motion
from kaccess.engines.still import is_quiet
from kaccess.robots import Robot

__all__ = ["BulletEngine", "exit_with_parent", "has_diverged", "isolate_workers"]

_Task = tuple[Array, Motion, int]  # states, motions, and steps at most after them

_ROWS_PER_TASK = 4  # about a second of work, so no process is idle for long at the end
_TASKS_PER_PROCESS = 16
_FIRST: IntArray = np.zeros(1, int)  # row of a motion of one robot
_LARGEST_POSITION = 1e10  # [m or rad], the limit of MuJoCo too
_LARGEST_SPEED = 1e4  # [m/s or rad/s], far beyond any robot's


class BulletEngine:
    """Simulates robots in PyBullet until they are at rest.

    `kaccess.engines.bullet.model` and `.contact` explain how the MuJoCo model is
    converted. This engine is for checking results with another simulator, the paper's.
    It is slow: 1250 steps/s of Bittle on a core, while the `mujoco` engine makes 64000.

    Args:
        robot: Robot to simulate.
        still: When it counts as static.
        n_processes: Number of processes; 1 runs in this process, 0 takes one per CPU.
        n_iterations: Iterations of the solver in each step.

    Raises:
        ImportError: If PyBullet is not installed.
        InputError: If PyBullet cannot simulate that robot.
    """

    def __init__(
        self,
        robot: Robot,
        still: StillConfig | None = None,
        *,
        n_processes: int = 0,
        n_iterations: int = ACCURATE,
    ) -> None:
        import_pybullet()
        self.robot = robot
        self.still = robot.scale.fit(still or StillConfig())
        self._model = describe_robot(robot.model, robot.name)
        self._n_processes = n_processes or n_cpus()
        self._n_iterations = n_iterations
        self._here: _Settler | None = None
        self._pool: ProcessPoolExecutor | None = None

    @property
    def batch_size(self) -> int:
        """Simulations to pass in one call to keep the processes busy."""
        return _TASKS_PER_PROCESS * _ROWS_PER_TASK * self._n_processes

    @property
    def _settings(self) -> tuple[BulletModel, StillConfig, int]:
        return self._model, self.still, self._n_iterations

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
        limit = round(time_limit / self.robot.timestep)
        starts = range(0, len(qpos), _ROWS_PER_TASK)
        rows = [slice(start, start + _ROWS_PER_TASK) for start in starts]
        tasks = [(qpos[r], motion[r], limit) for r in rows]
        parts = []
        for part in self._run(tasks):
            parts.append(part)
            if progress:
                progress(sum(len(part.time) for part in parts), len(qpos))
        return Settled(
            qpos=np.concatenate([qpos[:0], *(part.qpos for part in parts)]),
            time=np.concatenate([np.zeros(0), *(part.time for part in parts)]),
            diverged=np.concatenate(
                [np.zeros(0, bool), *(part.diverged for part in parts)]
            ),
        )

    def _run(self, tasks: list[_Task]) -> Iterator[Settled]:
        """Run tasks, and yield their results in order."""
        if self._n_processes > 1 and len(tasks) > 1:
            yield from self._run_in_processes(tasks)
            return
        self._here = self._here or _Settler(*self._settings)
        for task in tasks:
            yield self._here.settle(*task)

    def _run_in_processes(self, tasks: list[_Task]) -> Iterator[Settled]:
        """Run tasks in several processes, and yield their results in order."""
        if self._pool is None:
            self._pool = ProcessPoolExecutor(
                self._n_processes,
                get_context("spawn"),
                initializer=_start_worker,
                initargs=self._settings,
            )
        pool, done = self._pool, False
        try:
            with isolate_workers():  # the first tasks start the processes
                futures = [pool.submit(_settle_in_worker, *task) for task in tasks]
            for future in futures:
                yield future.result()
            done = True
        finally:
            if not done:  # interrupted: tasks in progress end within a second or two
                self._pool = None
                pool.shutdown(cancel_futures=True)


class _Settler:
    """Simulates robots one after the other, in one world."""

    def __init__(
        self, model: BulletModel, still: StillConfig, n_iterations: int
    ) -> None:
        self.model = model
        self.still = still
        self.world = World(model, n_iterations)
        self.window = round(still.window / model.timestep)

    def settle(self, qpos: Array, motion: Motion, limit: int) -> Settled:
        """Simulate each row for at most `limit` steps after its motion."""
        settled = Settled(
            qpos=np.array(qpos, dtype=np.float64),
            time=np.full(len(qpos), np.inf),
            diverged=np.zeros(len(qpos), bool),
        )
        for row in range(len(qpos)):
            settled.qpos[row], settled.time[row], settled.diverged[row] = (
                self._settle_one(settled.qpos[row].copy(), motion[row : row + 1], limit)
            )
        return settled

    def _settle_one(
        self, qpos: Array, motion: Motion, limit: int
    ) -> tuple[Array, float, bool]:
        """Return the final state, the time of rest, and whether it diverged."""
        qvel: Array = np.zeros(len(qpos) - 1)
        quiet = 1  # it starts at rest
        moving = int(motion.count_steps(self.model.timestep)[0])
        self.world.reset(qpos)
        for step in range(1, limit + moving + 1):
            if step == 1 or (step <= moving and (step - 1) % TARGET_STEPS == 0):
                at = (step - 1 + TARGET_STEPS) * self.model.timestep
                targets = motion.at(_FIRST, np.array([at]))[0]
            self.world.step(self.model.compute_force(targets, qpos[7:], qvel[6:]))
            previous, (qpos, qvel) = qpos, self.world.read_state()
            if has_diverged(qpos, qvel):
                return previous, np.inf, True
            still = step > moving and is_quiet(qvel, self.still)
            quiet = quiet + 1 if still else 0
            if quiet > self.window:
                return qpos, (step - self.window) * self.model.timestep, False
        return qpos, np.inf, False


def has_diverged(qpos: Array, qvel: Array) -> bool:
    """Return whether a state has values that are NaN or far too large."""
    plausible = (np.abs(qpos) < _LARGEST_POSITION).all()
    return not (plausible and (np.abs(qvel) < _LARGEST_SPEED).all())


_settler: _Settler | None = None  # in a worker process


def _start_worker(model: BulletModel, still: StillConfig, n_iterations: int) -> None:
    """Create a worker's world, and make it end with its parent process."""
    global _settler
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    threading.Thread(target=exit_with_parent, daemon=True).start()
    _settler = _Settler(model, still, n_iterations)


def exit_with_parent() -> None:
    """End this process when its parent ends; for a thread of its own."""
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def _settle_in_worker(qpos: Array, motion: Motion, limit: int) -> Settled:
    assert _settler is not None
    return _settler.settle(qpos, motion, limit)


@contextmanager
def isolate_workers() -> Iterator[None]:
    """Make new processes ignore Ctrl-C, and not import the running script."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    if hasattr(signal, "pthread_sigmask"):  # workers inherit it; here Ctrl-C waits
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
