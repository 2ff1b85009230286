"""Simulates robots that hold joint targets, to see which postures stand."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco.batch import Batch

from kaccess.base.machine import n_cpus
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array, BoolArray

__all__ = ["Held", "hold", "silence_warnings"]

_N_LOOKS = 8  # times at which robots are looked at
_FALLEN = 0.5  # [-], of the first height and of upright: below, a robot has fallen


@dataclass(frozen=True)
class Held:
    """Robots that have held joint targets for a while.

    Args:
        qpos: (b, nq) states at the end; where the simulation diverged, at the start.
        qvel: (b, nv) velocities at the end.
        upright: (b,) mean over time of height times uprightness, 1 at best [-].
        failed: (b,) whether they fell, or the simulation diverged.
    """

    qpos: Array
    qvel: Array
    upright: Array
    failed: BoolArray


def hold(
    model: mujoco.MjModel, qpos: Array, targets: Array, *, seconds: float, floor: float
) -> Held:
    """Hold joint targets from rest. A robot that has fallen is not simulated further.

    Args:
        model: Model of the robot.
        qpos: (b, nq) states to start from.
        targets: (b, nu) joint targets.
        seconds: Time to hold them [s].
        floor: Height of the floor [m].
    """
    n, n_steps = len(qpos), max(1, round(seconds / model.opt.timestep / _N_LOOKS))
    batch = Batch(model, n, min(n, n_cpus()))
    batch.reset(np.arange(n), stage=mujoco.mjtStage.mjSTAGE_NONE)
    batch.bind("qpos")[:], batch.bind("ctrl")[:] = qpos, targets
    upright, failed = np.zeros(n), np.zeros(n, bool)
    with silence_warnings():
        for _ in range(_N_LOOKS):
            busy = np.flatnonzero(~failed)
            if len(busy):
                batch.step(nstep=n_steps, ids=busy)
            now, diverged = np.array(batch.bind("qpos")), _has_diverged(batch)
            now[diverged] = qpos[diverged]  # no numbers any more
            share = ((now[:, 2] - floor) / (qpos[:, 2] - floor)).clip(0.0, 1.0)
            share *= -gravity_in_body(now[:, 3:7])[:, 2]
            failed |= diverged | ~(share > _FALLEN)
            upright[~failed] += share[~failed] / _N_LOOKS
    return Held(now, np.array(batch.bind("qvel")), upright, failed)


def _has_diverged(batch: Batch) -> BoolArray:
    """Return which simulations MuJoCo has warned of, (b,)."""
    return np.asarray(batch.warning[:, :, 1].any(axis=1))


@contextmanager
def silence_warnings() -> Iterator[None]:
    """Stop MuJoCo from printing and logging warnings; it still counts them."""
    previous = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(previous)
