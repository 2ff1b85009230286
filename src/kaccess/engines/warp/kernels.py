# mypy: ignore-errors
"""What the `warp` engine does on the device beside the physics: see `warp.py`.

Warp compiles these functions; a number that changes in a loop is made with `int()`.
"""

import mujoco_warp as mjw
import warp as wp

__all__ = ["AT_REST", "DIVERGED", "OVERFLOWED", "RESTLESS", "look", "move"]

AT_REST = wp.constant(1)
RESTLESS = wp.constant(2)
DIVERGED = wp.constant(3)
OVERFLOWED = wp.constant(4)
LARGEST = wp.constant(1.0e10)  # beyond it MuJoCo too calls a simulation broken down
# Running out of solver iterations is no overflow: MuJoCo goes on as well.
BUFFERS = wp.constant(
    int(
        mjw.OverflowType.ALL
        & ~(mjw.OverflowType.ITERATIONS | mjw.OverflowType.LS_ITERATIONS)
    )
)


@wp.kernel
def look(
    n_rows: int,
    limit: int,
    window: int,
    linear: float,
    angular: float,
    joint: float,
    start: wp.array2d[float],
    targets: wp.array2d[float],
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    ctrl: wp.array2d[float],
    warmstart: wp.array2d[float],
    overflow: wp.array[int],
    row: wp.array[int],
    steps: wp.array[int],
    quiet: wp.array[int],
    end: wp.array2d[float],
    end_steps: wp.array[int],
    status: wp.array[int],
    counters: wp.array[int],
):
    """Note the result of a simulation that is done, and start the next in its world."""
    world = wp.tid()
    current = row[world]
    if current >= 0:
        step = steps[world] + 1
        steps[world] = step
        calm = 0
        if _is_quiet(qvel, world, linear, angular, joint):
            calm = quiet[world] + 1
        quiet[world] = calm

        result = 0
        if overflow[world] & BUFFERS:
            result = OVERFLOWED
        elif _is_broken(qpos, qvel, world):
            result = DIVERGED
        elif calm > window and step <= limit:
            result = AT_REST
        elif step >= limit:
            result = RESTLESS
        if result == 0:
            return
        for i in range(qpos.shape[1]):
            end[current, i] = qpos[world, i]
        end_steps[current] = step - window
        status[current] = result
        row[world] = -1
        wp.atomic_add(counters, 1, 1)
        if result == DIVERGED:  # a broken world would keep the solver busy
            _load(0, world, start, targets, qpos, qvel, ctrl, warmstart, overflow)

    if counters[0] < n_rows:
        waiting = wp.atomic_add(counters, 0, 1)
        if waiting < n_rows:
            row[world] = waiting
            steps[world] = 0
            quiet[world] = 1  # it starts from rest
            _load(waiting, world, start, targets, qpos, qvel, ctrl, warmstart, overflow)


@wp.func
def _is_quiet(
    qvel: wp.array2d[float], world: int, linear: float, angular: float, joint: float
) -> bool:
    """Return whether the velocities in a world are those of a robot at rest."""
    v = wp.vec3(qvel[world, 0], qvel[world, 1], qvel[world, 2])
    w = wp.vec3(qvel[world, 3], qvel[world, 4], qvel[world, 5])
    calm = wp.dot(v, v) < linear * linear and wp.dot(w, w) < angular * angular
    for i in range(6, qvel.shape[1]):
        calm = calm and wp.abs(qvel[world, i]) < joint
    return calm


@wp.func
def _is_broken(qpos: wp.array2d[float], qvel: wp.array2d[float], world: int) -> bool:
    """Return whether a world has numbers that no simulation should have, or NaN."""
    sound = True
    for i in range(qpos.shape[1]):
        sound = sound and wp.abs(qpos[world, i]) < LARGEST
    for i in range(qvel.shape[1]):
        sound = sound and wp.abs(qvel[world, i]) < LARGEST
    return not sound


@wp.func
def _load(
    index: int,
    world: int,
    start: wp.array2d[float],
    targets: wp.array2d[float],
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    ctrl: wp.array2d[float],
    warmstart: wp.array2d[float],
    overflow: wp.array[int],
):
    """Put a simulation of the queue into a world."""
    for i in range(qpos.shape[1]):
        qpos[world, i] = start[index, i]
    for i in range(qvel.shape[1]):
        qvel[world, i] = 0.0
        warmstart[world, i] = 0.0
    for i in range(ctrl.shape[1]):
        ctrl[world, i] = targets[index, i]
    overflow[world] = 0


@wp.kernel
def move(
    qpos: wp.array2d[float],
    qvel: wp.array2d[float],
    ctrl: wp.array2d[float],
    warmstart: wp.array2d[float],
    overflow: wp.array[int],
    row: wp.array[int],
    steps: wp.array[int],
    quiet: wp.array[int],
    to_qpos: wp.array2d[float],
    to_qvel: wp.array2d[float],
    to_ctrl: wp.array2d[float],
    to_warmstart: wp.array2d[float],
    to_overflow: wp.array[int],
    to_row: wp.array[int],
    to_steps: wp.array[int],
    to_quiet: wp.array[int],
    n_moved: wp.array[int],
):
    """Move the simulation of a world, if there is one, into the next free other."""
    world = wp.tid()
    if row[world] >= 0:
        other = wp.atomic_add(n_moved, 0, 1)
        for i in range(qpos.shape[1]):
            to_qpos[other, i] = qpos[world, i]
        for i in range(qvel.shape[1]):
            to_qvel[other, i] = qvel[world, i]
            to_warmstart[other, i] = warmstart[world, i]
        for i in range(ctrl.shape[1]):
            to_ctrl[other, i] = ctrl[world, i]
        to_overflow[other] = overflow[world]
        to_row[other] = row[world]
        to_steps[other] = steps[world]
        to_quiet[other] = quiet[world]
