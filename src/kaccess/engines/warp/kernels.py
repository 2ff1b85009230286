# mypy: ignore-errors
"""Code that the `warp` engine runs on the device besides the physics.

Warp compiles these functions. In them, a variable that changes in a branch or a loop
must start as `int()` or `bool()`. `engine.py` explains how they work together.
"""

import mujoco_warp as mjw
import warp as wp

from kaccess.engines.motion import TARGET_STEPS

__all__ = [
    "AT_REST",
    "BUFFERS",
    "DIVERGED",
    "LARGEST",
    "OVERFLOWED",
    "RESTLESS",
    "Limits",
    "QueueArrays",
    "WorldArrays",
    "move_simulations",
    "update_worlds",
]

MOVING = wp.constant(0)
AT_REST = wp.constant(1)
RESTLESS = wp.constant(2)
DIVERGED = wp.constant(3)
OVERFLOWED = wp.constant(4)
EVERY = wp.constant(TARGET_STEPS)
LARGEST = wp.constant(1.0e10)  # MuJoCo too calls larger states diverged
# Larger buffers do not help when the solver reaches its maximum number of iterations,
# or when the depth of a contact is not found. MuJoCo Warp then continues.
_NO_BUFFERS = (
    mjw.OverflowType.ITERATIONS
    | mjw.OverflowType.LS_ITERATIONS
    | mjw.OverflowType.EPA_HORIZON
)
BUFFERS = wp.constant(int(mjw.OverflowType.ALL & ~_NO_BUFFERS))


@wp.struct
class WorldArrays:
    """State of n worlds, and the simulation in each.

    Attributes:
        qpos: (n, nq) positions.
        qvel: (n, nv) velocities.
        ctrl: (n, nu) joint targets.
        warmstart: (n, nv) accelerations that the solver starts from.
        overflow: (n,) flags of the buffers that were too small.
        row: (n,) row of the queue that runs in a world; -1 if the world is free.
        steps: (n,) steps since the start of the simulation.
        quiet: (n,) number of quiet states in a row, up to the current one.
    """

    qpos: wp.array2d[float]
    qvel: wp.array2d[float]
    ctrl: wp.array2d[float]
    warmstart: wp.array2d[float]
    overflow: wp.array[int]
    row: wp.array[int]
    steps: wp.array[int]
    quiet: wp.array[int]


@wp.struct
class QueueArrays:
    """Simulations to run, and their results.

    Attributes:
        n: Number of simulations.
        start: (n, nq) states to start from.
        points: (n, k, nu) joint targets; those between two points lie on a line.
        steps: (n, k) steps after which each point is reached; the first 0.
        moving: (n,) steps for which the targets move.
        end: (n, nq) final states.
        end_steps: (n,) steps before the quiet window, for those that came to rest.
        status: (n,) `AT_REST`, `RESTLESS`, `DIVERGED` or `OVERFLOWED`.
        counters: (2,) number of simulations started, and number done.
    """

    n: int
    start: wp.array2d[float]
    points: wp.array3d[float]
    steps: wp.array2d[float]
    moving: wp.array[int]
    end: wp.array2d[float]
    end_steps: wp.array[int]
    status: wp.array[int]
    counters: wp.array[int]


@wp.struct
class Limits:
    """When a simulation is done.

    Attributes:
        steps: Maximum number of steps after the motion of the targets.
        window: Length of the quiet window in steps.
        linear: Speed of the base below which it is at rest [m/s].
        angular: Angular speed of the base below which it is at rest [rad/s].
        joint: Speed below which a joint is at rest [rad/s].
    """

    steps: int
    window: int
    linear: float
    angular: float
    joint: float


@wp.kernel
def update_worlds(worlds: WorldArrays, queue: QueueArrays, limits: Limits):
    """Record the simulation in a world if it is done, and start the next one."""
    world = wp.tid()
    if worlds.row[world] >= 0:
        status = _count_step(worlds, queue, limits, world)
        if status == MOVING:
            step = worlds.steps[world]
            row = worlds.row[world]
            if step < queue.moving[row] and step % EVERY == 0:
                _set_targets(worlds, queue, world, row, step + EVERY)
            return
        _record(worlds, queue, limits.window, world, status)
    _start_next(worlds, queue, world)


@wp.func
def _count_step(
    worlds: WorldArrays, queue: QueueArrays, limits: Limits, world: int
) -> int:
    """Count a step of a world, and return the status of its simulation."""
    step = worlds.steps[world] + 1
    worlds.steps[world] = step
    moving = queue.moving[worlds.row[world]]
    quiet = int(0)
    if step > moving and _is_quiet(worlds.qvel, limits, world):
        quiet = worlds.quiet[world] + 1
    worlds.quiet[world] = quiet

    status = int(MOVING)
    if worlds.overflow[world] & BUFFERS:
        status = OVERFLOWED
    elif _has_diverged(worlds, world):
        status = DIVERGED
    elif quiet > limits.window and step <= limits.steps + moving:
        status = AT_REST
    elif step >= limits.steps + moving:
        status = RESTLESS
    return status


@wp.func
def _is_quiet(qvel: wp.array2d[float], limits: Limits, world: int) -> bool:
    """Return whether all velocities in a world are below the limits."""
    v = wp.vec3(qvel[world, 0], qvel[world, 1], qvel[world, 2])
    w = wp.vec3(qvel[world, 3], qvel[world, 4], qvel[world, 5])
    quiet = (
        wp.dot(v, v) < limits.linear * limits.linear
        and wp.dot(w, w) < limits.angular * limits.angular
    )
    for i in range(6, qvel.shape[1]):
        quiet = quiet and wp.abs(qvel[world, i]) < limits.joint
    return quiet


@wp.func
def _has_diverged(worlds: WorldArrays, world: int) -> bool:
    """Return whether the state of a world has values that are NaN or far too large."""
    sound = bool(True)
    for i in range(worlds.qpos.shape[1]):
        sound = sound and wp.abs(worlds.qpos[world, i]) < LARGEST
    for i in range(worlds.qvel.shape[1]):
        sound = sound and wp.abs(worlds.qvel[world, i]) < LARGEST
    return not sound


@wp.func
def _record(
    worlds: WorldArrays, queue: QueueArrays, window: int, world: int, status: int
):
    """Write the result of the simulation in a world, and free the world."""
    row = worlds.row[world]
    for i in range(worlds.qpos.shape[1]):
        queue.end[row, i] = worlds.qpos[world, i]
    queue.end_steps[row] = worlds.steps[world] - window
    queue.status[row] = status
    worlds.row[world] = -1
    wp.atomic_add(queue.counters, 1, 1)
    if status == DIVERGED:  # a diverged state would keep the solver busy
        _load(worlds, queue, world, 0)


@wp.func
def _start_next(worlds: WorldArrays, queue: QueueArrays, world: int):
    """Start the next simulation of the queue, if there is one, in a free world."""
    if queue.counters[0] < queue.n:
        row = wp.atomic_add(queue.counters, 0, 1)
        if row < queue.n:
            worlds.row[world] = row
            worlds.steps[world] = 0
            worlds.quiet[world] = 1  # it starts at rest
            _load(worlds, queue, world, row)


@wp.func
def _load(worlds: WorldArrays, queue: QueueArrays, world: int, row: int):
    """Set a world to the start of a row of the queue."""
    for i in range(worlds.qpos.shape[1]):
        worlds.qpos[world, i] = queue.start[row, i]
    for i in range(worlds.qvel.shape[1]):
        worlds.qvel[world, i] = 0.0
        worlds.warmstart[world, i] = 0.0
    _set_targets(worlds, queue, world, row, EVERY)
    worlds.overflow[world] = 0


@wp.func
def _set_targets(
    worlds: WorldArrays, queue: QueueArrays, world: int, row: int, step: int
):
    """Command the targets that the motion of a row has after some steps."""
    n = queue.steps.shape[1]
    at = float(step)
    before = int(0)
    for i in range(1, n):
        if queue.steps[row, i] <= at:
            before = i
    after = wp.min(before + 1, n - 1)
    span = queue.steps[row, after] - queue.steps[row, before]
    share = float(0.0)
    if span > 0.0:
        share = (at - queue.steps[row, before]) / span
    for i in range(worlds.ctrl.shape[1]):
        low = queue.points[row, before, i]
        worlds.ctrl[world, i] = low + share * (queue.points[row, after, i] - low)


@wp.kernel
def move_simulations(worlds: WorldArrays, others: WorldArrays, n_moved: wp.array[int]):
    """Move the simulation of a world, if there is one, to the next free other world."""
    world = wp.tid()
    if worlds.row[world] >= 0:
        other = wp.atomic_add(n_moved, 0, 1)
        for i in range(worlds.qpos.shape[1]):
            others.qpos[other, i] = worlds.qpos[world, i]
        for i in range(worlds.qvel.shape[1]):
            others.qvel[other, i] = worlds.qvel[world, i]
            others.warmstart[other, i] = worlds.warmstart[world, i]
        for i in range(worlds.ctrl.shape[1]):
            others.ctrl[other, i] = worlds.ctrl[world, i]
        others.overflow[other] = worlds.overflow[world]
        others.row[other] = worlds.row[world]
        others.steps[other] = worlds.steps[world]
        others.quiet[other] = worlds.quiet[world]
