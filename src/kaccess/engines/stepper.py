"""Short motions from any state, moving robots included, on CPU threads.

Engines begin and end at rest. An exploration goes on from states in the middle of a
motion, so it needs velocities too.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from mujoco.batch import Batch

from kaccess.base.machine import n_cpus
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.engines.motion import TARGET_STEPS
from kaccess.engines.mujoco import make_lean_model
from kaccess.robots import Robot
from kaccess.robots.hold import silence_warnings

__all__ = ["Moment", "Stepper"]

_FIELDS = ("qpos", "qvel", "ctrl", "qacc_warmstart")


@dataclass(frozen=True)
class Moment:
    """b robots at one moment of their motions.

    Args:
        states: (b, s) all that the next step depends on.
        qpos: (b, nq) positions.
        centre: (b, 3) centres of mass [m].
        feet: (b, 3) mean positions of the feet [m].
        speed: (b,) mean speed over all degrees of freedom [m/s, rad/s].
        sound: (b,) whether the simulation is finite.
    """

    states: Array
    qpos: Array
    centre: Array
    feet: Array
    speed: Array
    sound: BoolArray

    def __len__(self) -> int:
        return len(self.states)


class Stepper:
    """Simulates robots for short times, from any state.

    Args:
        robot: Robot.
        n_threads: Number of CPU threads; 0 takes all.
    """

    def __init__(self, robot: Robot, *, n_threads: int = 0) -> None:
        self.robot = robot
        self.interval = TARGET_STEPS * robot.timestep
        self._model, self._n_threads = make_lean_model(robot), n_threads or n_cpus()
        self._feet = list(robot.feet)

    def rest(self, qpos: Array) -> Moment:
        """Return robots at rest, (b, nq), that hold their joints."""
        batch = self._make_batch(len(qpos))
        batch.bind("qpos")[:] = qpos
        batch.bind("ctrl")[:] = self.robot.get_joints(qpos)
        return self._look(batch)

    def move(self, states: Array, goals: Array, n_intervals: IntArray) -> Moment:
        """Move joint targets in a straight line, and return what comes of it.

        Args:
            states: (b, s) states to start from, of a `Moment`.
            goals: (b, nu) joint targets at the end.
            n_intervals: (b,) times of the motions, in intervals of this stepper.
        """
        batch = self._make_batch(len(states))
        self._write(batch, states)
        ctrl = batch.bind("ctrl")
        begin = np.array(ctrl)
        with silence_warnings():
            for number in range(int(n_intervals.max(initial=0))):
                busy = np.flatnonzero(n_intervals > number)
                share = ((number + 1) / n_intervals[busy])[:, None]
                between = begin[busy] + share * (goals[busy] - begin[busy])
                ctrl[busy] = np.where(share == 1, goals[busy], between)  # no rounding
                batch.step(nstep=TARGET_STEPS, ids=busy)
            return self._look(batch)

    def get_targets(self, states: Array) -> Array:
        """Return the joint targets, (b, nu), in states of a `Moment`."""
        begin = self._model.nq + self._model.nv
        return states[:, begin : begin + self._model.nu]

    def _make_batch(self, n: int) -> Batch:
        batch = Batch(self._model, n, min(n, self._n_threads))
        batch.reset(stage=mujoco.mjtStage.mjSTAGE_NONE)
        return batch

    def _write(self, batch: Batch, states: Array) -> None:
        begin = 0
        for field in _FIELDS:
            values = batch.bind(field)
            values[:] = states[:, begin : begin + values.shape[1]]
            begin += values.shape[1]

    def _look(self, batch: Batch) -> Moment:
        states = np.concatenate([batch.bind(field) for field in _FIELDS], axis=1)
        failed = np.asarray(batch.warning[:, :, 1].any(axis=1))
        centre, places = batch.bind("subtree_com"), batch.bind("geom_xpos")
        batch.forward(stage=mujoco.mjtStage.mjSTAGE_POS)
        return Moment(
            states=states,
            qpos=np.array(batch.bind("qpos")),
            centre=np.array(centre[:, 0]),
            feet=np.array(places[:, self._feet].mean(axis=1)),
            speed=np.abs(batch.bind("qvel")).mean(axis=1),
            sound=~failed & np.isfinite(states).all(axis=1),
        )
