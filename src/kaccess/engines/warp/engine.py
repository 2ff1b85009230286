"""The `warp` engine: MuJoCo Warp on an NVIDIA GPU, thousands of robots in parallel.

All simulations of a call wait in a queue on the device. After every physics step, one
kernel checks each world: if its robot is at rest, out of time or diverged, the kernel
records the result and starts the next simulation of the queue in that world. So no
world is idle while simulations wait, and no state is copied to the host. A step and its
check are one CUDA graph; the host launches it, and reads every few launches how many
simulations are done. When few are left, they move to a smaller set of worlds.

The model is that of the `mujoco` engine in single precision: both agree except where
a contact only just happens, or only just does not. On a GPU the order of contacts
varies between runs, so sums round differently and results are not the same to the bit
(`docs/engines.md` has numbers). MuJoCo Warp's deterministic mode does not support this
many worlds.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import fields, is_dataclass

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, IntArray, Progress
from kaccess.config import StillConfig
from kaccess.engines.engine import Settled
from kaccess.engines.motion import Motion, as_motion
from kaccess.engines.warp.buffers import MOST_DOUBLINGS, Buffers, make_overflow_error
from kaccess.robots import Robot

try:
    import mujoco_warp as mjw
    import warp as wp

    from kaccess.engines.warp.graphs import record_graph
    from kaccess.engines.warp.kernels import (
        AT_REST,
        DIVERGED,
        OVERFLOWED,
        Limits,
        QueueArrays,
        WorldArrays,
        move_simulations,
        update_worlds,
    )
except ImportError as error:
    raise ImportError(
        "The 'warp' engine needs MuJoCo Warp, which is not installed. Run "
        "`pip install 'kaccess[gpu]'`, or choose the 'mujoco' engine."
    ) from error

__all__ = ["WarpEngine", "find_device", "put_model", "reduce_model"]

logger = logging.getLogger(__name__)

_MOST_WORLDS = 65536  # enough to keep an H200 busy; with more, many are idle at the end
_WORLDS_ON_CPU = 64
_FEWEST_WORLDS = 64
_SHRINK = 4  # the next smaller set of worlds has 1 / _SHRINK as many
_QUEUE_PER_WORLD = 16  # simulations per world in a call: few are idle at the end
_MEMORY_SHARE = 0.25  # of the free memory, since the solver needs scratch space too
_LAUNCHES = 16  # launches of the graph between two reads of the counters


class WarpEngine:
    """Simulates robots on a GPU until they are at rest.

    Args:
        robot: Robot to simulate.
        still: When it counts as static.
        device: Device of Warp, such as `cuda:1` or `cpu`; by default the first GPU.
        n_worlds: Simulations in parallel; by default as many as GPU and memory allow.
    """

    def __init__(
        self,
        robot: Robot,
        still: StillConfig | None = None,
        *,
        device: str | None = None,
        n_worlds: int = 0,
    ) -> None:
        self.robot = robot
        self.still = robot.scale.fit(still or StillConfig())
        self._device = find_device(device)
        self._model = reduce_model(robot.model)
        self._buffers = Buffers.of(self._model)
        with wp.ScopedDevice(self._device):
            self._warp_model = put_model(robot, self._model)
            self._worlds: dict[int, _Worlds] = {}
            self.n_worlds = _FEWEST_WORLDS
            self._load_kernels()
            self.n_worlds = n_worlds or self._choose_n_worlds()

    @property
    def batch_size(self) -> int:
        """Simulations to pass in one call to keep the GPU busy."""
        return _QUEUE_PER_WORLD * self.n_worlds

    def settle(
        self,
        qpos: Array,
        targets: Array | Motion,
        *,
        time_limit: float,
        progress: Progress | None = None,
    ) -> Settled:
        """Command `targets` from rest at `qpos`, until static or out of time."""
        motion, timestep = as_motion(targets), self.robot.timestep
        settled = Settled(
            qpos=np.array(qpos, dtype=np.float64),
            time=np.full(len(qpos), np.inf),
            diverged=np.zeros(len(qpos), bool),
        )
        limit = round(time_limit / timestep)
        todo: IntArray = np.arange(len(qpos))
        with wp.ScopedDevice(self._device):
            for _ in range(MOST_DOUBLINGS + 1):
                if not len(todo):
                    return settled
                queue = _Queue(qpos[todo], motion[todo], timestep)
                self._run(queue, limit, n=len(qpos), progress=progress)
                todo = self._collect(settled, todo, queue)
                if len(todo):
                    self._grow_buffers(len(todo))
        raise make_overflow_error(self.robot, self._buffers)

    def _run(
        self, queue: "_Queue", limit: int, *, n: int, progress: Progress | None
    ) -> None:
        """Run all simulations of a queue; `progress` counts them as the last of `n`."""
        worlds = self._get_worlds(len(queue))
        worlds.arrays.row.fill_(-1)
        update, advance = self._prepare(worlds, queue, limit)
        update()  # all worlds are free: this starts their first simulations
        while left := len(queue) - queue.n_done:
            if progress:
                progress(n - left, n)
            fewer = self._get_worlds(left)
            if fewer.n < worlds.n:  # no simulation waits any more
                worlds.move_to(fewer)
                worlds = fewer
                _, advance = self._prepare(worlds, queue, limit)
            for _ in range(_LAUNCHES):
                advance()
        if progress:
            progress(n, n)

    def _prepare(
        self, worlds: "_Worlds", queue: "_Queue", limit: int
    ) -> tuple[Callable[[], None], Callable[[], None]]:
        """Return two functions: update all worlds; step all worlds and update them."""
        limits = self._make_limits(limit)

        def update() -> None:
            wp.launch(
                update_worlds,
                dim=worlds.n,
                inputs=[worlds.arrays, queue.arrays, limits],
            )

        def step() -> None:
            mjw.step(self._warp_model, worlds.data)
            update()

        return update, record_graph(step, self._device)

    def _make_limits(self, n_steps: int) -> Limits:
        limits = Limits()
        limits.steps = n_steps
        limits.window = round(self.still.window / self.robot.timestep)
        limits.linear = self.still.linear_velocity
        limits.angular = self.still.angular_velocity
        limits.joint = self.still.joint_velocity
        return limits

    def _get_worlds(self, n: int) -> "_Worlds":
        """Return a set of worlds for `n` simulations: the smallest that is enough.

        If none is, return the largest; the other simulations wait in the queue.
        """
        n_worlds = self.n_worlds
        while n_worlds // _SHRINK >= max(n, _FEWEST_WORLDS):
            n_worlds //= _SHRINK
        if n_worlds not in self._worlds:
            worlds = _Worlds(self._model, n_worlds, self._buffers)
            mjw.step(
                self._warp_model, worlds.data
            )  # loads the kernels before a capture
            self._worlds[n_worlds] = worlds
        return self._worlds[n_worlds]

    def _collect(self, settled: Settled, rows: IntArray, queue: "_Queue") -> IntArray:
        """Copy the results of a queue to `rows`; return the rows to run again."""
        status = queue.arrays.status.numpy()
        found = status == AT_REST
        settled.qpos[rows] = queue.arrays.end.numpy()
        begin = queue.arrays.end_steps.numpy()[found] * self.robot.timestep
        settled.time[rows[found]] = begin
        settled.diverged[rows] = status == DIVERGED
        return np.asarray(rows[status == OVERFLOWED])

    def _grow_buffers(self, n_overflowed: int) -> None:
        self._buffers = self._buffers.double()
        self._worlds.clear()
        logger.warning(
            "%d simulations had more contacts than the buffers hold. They run again, "
            "with room for %s.",
            n_overflowed,
            self._buffers,
        )

    def _load_kernels(self) -> None:
        """Compile all kernels, or load them from the cache."""
        start = time.perf_counter()
        worlds = self._get_worlds(1)
        nothing = as_motion(np.empty((0, self._model.nu)))
        empty = _Queue(np.empty((0, self._model.nq)), nothing, self.robot.timestep)
        update, _ = self._prepare(worlds, empty, 0)
        update()
        wp.synchronize_device()
        logger.info(
            "The kernels of MuJoCo Warp are ready after %.1f s (compiled once, then "
            "cached in %s).",
            time.perf_counter() - start,
            wp.config.kernel_cache_dir,
        )

    def _choose_n_worlds(self) -> int:
        """Return how many worlds the device has memory and cores for."""
        if not self._device.is_cuda:
            return _WORLDS_ON_CPU
        worlds = self._get_worlds(1)
        room = _MEMORY_SHARE * self._device.free_memory * worlds.n / worlds.n_bytes
        return max(_FEWEST_WORLDS, min(_MOST_WORLDS, int(room)))


class _Worlds:
    """Worlds that advance together.

    Args:
        model: Model to simulate.
        n: Number of worlds.
        buffers: Room for their contacts.

    Attributes:
        data: Data of MuJoCo Warp.
        arrays: Parts of `data` that the kernels use, and the simulation in each world.
    """

    def __init__(self, model: mujoco.MjModel, n: int, buffers: Buffers) -> None:
        self.n = n
        self.data = mjw.make_data(
            model, nworld=n, nconmax=buffers.n_contacts, njmax=buffers.n_rows
        )
        self.arrays = WorldArrays()
        self.arrays.qpos, self.arrays.qvel = self.data.qpos, self.data.qvel
        self.arrays.ctrl = self.data.ctrl
        self.arrays.warmstart = self.data.qacc_warmstart
        self.arrays.overflow = self.data.overflow
        self.arrays.row = wp.full(n, -1, dtype=int)
        self.arrays.steps = wp.zeros(n, dtype=int)
        self.arrays.quiet = wp.zeros(n, dtype=int)

    @property
    def n_bytes(self) -> int:
        """Memory of the data."""
        return _count_bytes(self.data)

    def move_to(self, others: "_Worlds") -> None:
        """Move all simulations to `others`, which must have enough worlds for them."""
        others.arrays.row.fill_(-1)
        n_moved = wp.zeros(1, dtype=int)
        inputs = [self.arrays, others.arrays, n_moved]
        wp.launch(move_simulations, dim=self.n, inputs=inputs)


class _Queue:
    """Simulations that wait on the device, and their results.

    Args:
        qpos: (b, nq) states to start from.
        motion: Motion of the joint targets.
        timestep: Physics step [s].
    """

    def __init__(self, qpos: Array, motion: Motion, timestep: float) -> None:
        self.arrays = QueueArrays()
        self.arrays.n = len(qpos)
        self.arrays.start = wp.array(qpos, dtype=float, shape=qpos.shape)
        points, steps = motion.points, motion.times / timestep
        self.arrays.points = wp.array(points, dtype=float, shape=points.shape)
        self.arrays.steps = wp.array(steps, dtype=float, shape=steps.shape)
        self.arrays.moving = wp.array(motion.count_steps(timestep), dtype=int)
        self.arrays.end = wp.zeros_like(self.arrays.start)
        self.arrays.end_steps = wp.zeros(len(qpos), dtype=int)
        self.arrays.status = wp.zeros(len(qpos), dtype=int)
        self.arrays.counters = wp.zeros(2, dtype=int)

    def __len__(self) -> int:
        return int(self.arrays.n)

    @property
    def n_done(self) -> int:
        """Number of simulations that are done."""
        return int(self.arrays.counters.numpy()[1])


def find_device(name: str | None) -> wp.Device:
    """Return a device of Warp, by default the first GPU."""
    wp.config.log_level = wp.LOG_ERROR  # errors that matter are raised below
    wp.init()
    if name is None and not wp.is_cuda_available():
        raise InputError(
            "The 'warp' engine needs an NVIDIA GPU, but CUDA finds none on this "
            "machine. Choose the 'mujoco' engine."
        )
    try:
        return wp.get_device(name or "cuda:0")
    except ValueError as error:
        known = ", ".join(str(device) for device in wp.get_devices())
        raise InputError(f"`device` must be one of {known}, got {name!r}.") from error


def reduce_model(model: mujoco.MjModel) -> mujoco.MjModel:
    """Return a copy of a model without computations that do not affect motion."""
    model = model.__copy__()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR
    # A distance sensor would still create contacts between geoms far apart.
    model.sensor_type[:] = mujoco.mjtSensor.mjSENS_CLOCK
    if model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC:
        # Same results, 8 % faster for Bittle: no loop over all contacts.
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    # In MuJoCo Warp this flag only makes boxes collide as they do in MuJoCo.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_NATIVECCD
    return model


def put_model(robot: Robot, model: mujoco.MjModel) -> mjw.Model:
    """Copy a model to the device.

    Raises:
        InputError: If MuJoCo Warp does not support a feature of the model.
    """
    known = [int(kind) for kind in mjw.GeomType]
    for geom in np.flatnonzero(~np.isin(model.geom_type, known)):
        name = model.geom(geom).name or f"number {geom}"
        kind = mujoco.mjtGeom(model.geom_type[geom]).name
        raise InputError(
            f"MuJoCo Warp cannot simulate {robot.name}: its geom {name!r} is of type "
            f"{kind}. Choose the 'mujoco' engine."
        )
    try:
        warp_model = mjw.put_model(model)
    except (NotImplementedError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise InputError(
            f"MuJoCo Warp cannot simulate {robot.name}: {reason}. "
            "Choose the 'mujoco' engine."
        ) from error
    warp_model.opt.warn_overflow = 0  # flagged in each world, not printed
    return warp_model


def _count_bytes(arrays: object) -> int:
    """Return the memory of all Warp arrays in a nested dataclass."""
    if isinstance(arrays, wp.array):
        return int(arrays.capacity)
    if is_dataclass(arrays):
        return sum(
            _count_bytes(getattr(arrays, field.name)) for field in fields(arrays)
        )
    return 0
