"""The `warp` engine: MuJoCo Warp on an NVIDIA GPU, thousands of robots at a time.

All simulations of a call wait on the device. After every physics step one kernel looks
at each world: one whose robot is at rest, out of time or broken down notes its result
and takes the next simulation that waits. So no world stands idle while work is left,
and no state travels to the host. Step and look are one CUDA graph; the host launches
it, and now and then reads how many simulations are done. When the last ones are in
flight they move together into fewer worlds.

It is the model of the `mujoco` engine in single precision: the two agree until a
contact is touch and go. On a GPU contacts come in another order in each run, so sums
round differently and a run does not repeat to the bit (`docs/engines.md` has figures);
MuJoCo Warp's deterministic mode does not take this many worlds.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import partial

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array, IntArray, Progress
from kaccess.config import StillConfig
from kaccess.engines.engine import Settled
from kaccess.engines.warp.buffers import MOST_DOUBLINGS, Buffers, make_overflow_error
from kaccess.robots import Robot

try:
    import mujoco_warp as mjw
    import warp as wp

    from kaccess.engines.warp.kernels import AT_REST, DIVERGED, OVERFLOWED, look, move
except ImportError as error:
    raise ImportError(
        "The 'warp' engine needs MuJoCo Warp, which is not installed. Run "
        "`pip install 'kaccess[gpu]'`, or choose the 'mujoco' engine."
    ) from error

__all__ = ["WarpEngine", "find_device", "put_model", "reduce_model"]

logger = logging.getLogger(__name__)

_MOST_WORLDS = 65536  # an H200 is busy with these; more only lengthen the tail
_WORLDS_ON_CPU = 64
_FEWEST_WORLDS = 64
_SHRINK = 4  # worlds are left for a fraction of them, when these are enough
_WAITING_PER_WORLD = 16  # simulations a call should bring: then its tail is short
_MEMORY_SHARE = 0.25  # of what is free: the solver's scratch comes on top
_LAUNCHES = 16  # of the graph, between two looks from the host


class WarpEngine:
    """Settles robots on a GPU.

    Args:
        robot: The robot to simulate.
        still: When it counts as static.
        device: A device of Warp, such as `cuda:1` or `cpu`; by default the first GPU.
        n_worlds: Simulations in flight; by default what GPU and memory can take.
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
        self.still = still or StillConfig()
        self._device = find_device(device)
        self._model = reduce_model(robot.model)
        self._buffers = Buffers.of(self._model)
        with wp.ScopedDevice(self._device):
            self._warp_model = put_model(robot, self._model)
            self._worlds: dict[int, _Worlds] = {}
            self.n_worlds = _FEWEST_WORLDS
            self._make_kernels()
            self.n_worlds = n_worlds or self._most_worlds()

    @property
    def batch_size(self) -> int:
        """Simulations that one call should bring to keep the GPU busy."""
        return _WAITING_PER_WORLD * self.n_worlds

    def settle(
        self,
        qpos: Array,
        targets: Array,
        *,
        time_limit: float,
        progress: Progress | None = None,
    ) -> Settled:
        """Hold `targets` from rest at `qpos` until static or out of time."""
        settled = Settled(
            qpos=np.array(qpos, dtype=np.float64),
            time=np.full(len(qpos), np.inf),
            diverged=np.zeros(len(qpos), bool),
        )
        limit = round(time_limit / self.robot.timestep)
        todo: IntArray = np.arange(len(qpos))
        with wp.ScopedDevice(self._device):
            for _ in range(MOST_DOUBLINGS + 1):
                if not len(todo):
                    return settled
                queue = _Queue(qpos[todo], targets[todo])
                self._work_off(queue, limit, n=len(qpos), progress=progress)
                todo = self._note(settled, todo, queue)
                if len(todo):
                    self._grow_buffers(len(todo))
        raise make_overflow_error(self.robot, self._buffers)

    def _work_off(
        self, queue: "_Queue", limit: int, *, n: int, progress: Progress | None
    ) -> None:
        """Simulate all of a queue, the last of `n` simulations."""
        worlds = self._worlds_for(len(queue))
        worlds.row.fill_(-1)
        look_around, advance = self._prepare(worlds, queue, limit)
        look_around()  # at empty worlds: they take their first simulations
        while left := len(queue) - queue.n_done:
            if progress:
                progress(n - left, n)
            fewer = self._worlds_for(left)
            if fewer.n < worlds.n:  # then none is waiting any more
                worlds.move_into(fewer)
                worlds = fewer
                _, advance = self._prepare(worlds, queue, limit)
            for _ in range(_LAUNCHES):
                advance()
        if progress:
            progress(n, n)

    def _prepare(
        self, worlds: "_Worlds", queue: "_Queue", limit: int
    ) -> tuple[Callable[[], None], Callable[[], None]]:
        """Return what looks at all worlds, and what advances them by a step."""
        still, data = self.still, worlds.data
        inputs = [
            *(len(queue), limit, round(still.window / self.robot.timestep)),
            *(still.linear_velocity, still.angular_velocity, still.joint_velocity),
            *(queue.start, queue.targets),
            *(data.qpos, data.qvel, data.ctrl, data.qacc_warmstart, data.overflow),
            *(worlds.row, worlds.steps, worlds.quiet),
            *(queue.end, queue.end_steps, queue.status, queue.counters),
        ]

        def look_around() -> None:
            wp.launch(look, dim=worlds.n, inputs=inputs)

        def step() -> None:
            mjw.step(self._warp_model, data)
            look_around()

        if not self._device.is_cuda:
            return look_around, step
        with wp.ScopedCapture() as capture:
            step()
        return look_around, partial(wp.capture_launch, capture.graph)

    def _worlds_for(self, n: int) -> "_Worlds":
        """Return worlds for `n` simulations, at most as many as shall be in flight."""
        n_worlds = self.n_worlds
        while n_worlds // _SHRINK >= max(n, _FEWEST_WORLDS):
            n_worlds //= _SHRINK
        if n_worlds not in self._worlds:
            worlds = _Worlds(self._model, n_worlds, self._buffers)
            mjw.step(self._warp_model, worlds.data)  # kernels load outside of a capture
            self._worlds[n_worlds] = worlds
        return self._worlds[n_worlds]

    def _note(self, settled: Settled, rows: IntArray, queue: "_Queue") -> IntArray:
        """Note the results of a queue of `rows`; return those to be done again."""
        status = queue.status.numpy()
        found = status == AT_REST
        settled.qpos[rows] = queue.end.numpy()
        begin = queue.end_steps.numpy()[found] * self.robot.timestep
        settled.time[rows[found]] = begin
        settled.diverged[rows] = status == DIVERGED
        return np.asarray(rows[status == OVERFLOWED])

    def _grow_buffers(self, n_overflowed: int) -> None:
        self._buffers = self._buffers.double()
        self._worlds.clear()
        logger.warning(
            "%d simulations had more contacts than there was room for: they are run "
            "again, with %s.",
            n_overflowed,
            self._buffers,
        )

    def _make_kernels(self) -> None:
        """Compile all kernels, or load them if they were compiled before."""
        start = time.perf_counter()
        worlds = self._worlds_for(1)
        nothing = _Queue(
            self.robot.standing[None, :][:0], np.empty((0, self._model.nu))
        )
        look_around, _ = self._prepare(worlds, nothing, 0)
        look_around()
        wp.synchronize_device()
        logger.info(
            "Kernels of MuJoCo Warp are ready after %.1f s (compiled once, then kept "
            "in %s).",
            time.perf_counter() - start,
            wp.config.kernel_cache_dir,
        )

    def _most_worlds(self) -> int:
        """Return how many worlds the device has the memory and the cores for."""
        if not self._device.is_cuda:
            return _WORLDS_ON_CPU
        worlds = self._worlds_for(1)
        room = _MEMORY_SHARE * self._device.free_memory * worlds.n / worlds.n_bytes
        return max(_FEWEST_WORLDS, min(_MOST_WORLDS, int(room)))


class _Worlds:
    """Worlds that advance together, and which simulation is in each.

    Args:
        model: The model.
        n: Number of worlds.
        buffers: Room for their contacts.

    Attributes:
        row: (n,) row of the queue that is in a world; -1 if none is.
        steps: (n,) steps it has made.
        quiet: (n,) states in a row that were quiet, the last one included.
    """

    def __init__(self, model: mujoco.MjModel, n: int, buffers: Buffers) -> None:
        self.n = n
        self.data = mjw.make_data(
            model, nworld=n, nconmax=buffers.n_contacts, njmax=buffers.n_rows
        )
        self.row = wp.full(n, -1, dtype=int)
        self.steps = wp.zeros(n, dtype=int)
        self.quiet = wp.zeros(n, dtype=int)

    @property
    def n_bytes(self) -> int:
        """Memory that they take."""
        return _n_bytes(self.data)

    def move_into(self, others: "_Worlds") -> None:
        """Move all simulations into other worlds, of which there must be enough."""
        others.row.fill_(-1)
        wp.launch(
            move,
            dim=self.n,
            inputs=[*self._arrays(), *others._arrays(), wp.zeros(1, dtype=int)],
        )

    def _arrays(self) -> tuple[wp.array, ...]:
        data = self.data
        state = (data.qpos, data.qvel, data.ctrl, data.qacc_warmstart, data.overflow)
        return (*state, self.row, self.steps, self.quiet)


class _Queue:
    """Simulations that wait on the device, and their results.

    Args:
        qpos: (b, nq) states to start from.
        targets: (b, nu) joint targets.

    Attributes:
        end: (b, nq) states in which they ended.
        end_steps: (b,) steps until the quiet window of those that came to rest.
        status: (b,) how they ended.
        counters: (2,) how many were started, and how many are done.
    """

    def __init__(self, qpos: Array, targets: Array) -> None:
        self.start = wp.array(qpos, dtype=float, shape=qpos.shape)
        self.targets = wp.array(targets, dtype=float, shape=targets.shape)
        self.end = wp.zeros_like(self.start)
        self.end_steps = wp.zeros(len(qpos), dtype=int)
        self.status = wp.zeros(len(qpos), dtype=int)
        self.counters = wp.zeros(2, dtype=int)

    def __len__(self) -> int:
        return int(self.start.shape[0])

    @property
    def n_done(self) -> int:
        """Simulations that are done."""
        return int(self.counters.numpy()[1])


def find_device(name: str | None) -> wp.Device:
    """Return a device of Warp, by default the first GPU."""
    wp.config.log_level = wp.LOG_ERROR  # what counts is raised below
    wp.init()
    if name is None and not wp.is_cuda_available():
        raise InputError(
            "The 'warp' engine needs an NVIDIA GPU, and CUDA finds none on this "
            "machine. Choose the 'mujoco' engine."
        )
    try:
        return wp.get_device(name or "cuda:0")
    except ValueError as error:
        known = ", ".join(str(device) for device in wp.get_devices())
        raise InputError(f"`device` must be one of {known}, got {name!r}.") from error


def reduce_model(model: mujoco.MjModel) -> mujoco.MjModel:
    """Return a model that moves like `model` and computes no more than that."""
    model = model.__copy__()
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_SENSOR
    # A sensor of distances would still make contacts of what is far apart.
    model.sensor_type[:] = mujoco.mjtSensor.mjSENS_CLOCK
    if model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC:
        # The same numbers, but 8 % faster for Bittle: no loop over all contacts.
        model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    # In MuJoCo Warp this means no more than: boxes collide as they do in MuJoCo.
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_NATIVECCD
    return model


def put_model(robot: Robot, model: mujoco.MjModel) -> mjw.Model:
    """Copy a model to the device, or say what MuJoCo Warp cannot simulate of it."""
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
    warp_model.opt.warn_overflow = 0  # noted world by world, not printed
    return warp_model


def _n_bytes(arrays: object) -> int:
    """Return the memory of the Warp arrays in a dataclass, at any depth."""
    if isinstance(arrays, wp.array):
        return int(arrays.capacity)
    if is_dataclass(arrays):
        return sum(_n_bytes(getattr(arrays, field.name)) for field in fields(arrays))
    return 0
