"""The control loop of a policy: 25 times a second, observe, act, send.

Stock firmware eases every move, and does nothing else meanwhile: 2 degrees in 8 ms on
BiBoard. A command that is farther away than it can go in one control period makes it
late for all the following ones. So commands are paced: none is farther than that.
"""

import mujoco
import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.deploy.boards import BOARDS, Board
from kaccess.deploy.network import Network
from kaccess.deploy.routes import Outcome, is_up
from kaccess.deploy.session import Session
from kaccess.robots import Robot

__all__ = ["find_pace", "run_policy"]

_SLOW_START = 0.5  # [s], in which the speed of commands rises
_FIRST_SPEED = 60.0  # [deg/s], of the first command
_READING = 0.003  # [s], that a board needs to read a message
_HELD = 0.6  # [s], for which the robot must stand
_SHORT = 0.025  # [m], by which legs may reach less far than standing


def run_policy(
    session: Session, network: Network, *, seconds: float, pace: float | None = None
) -> Outcome:
    """Let a policy get the robot up.

    It begins with a slow move to the standing posture, so that the joints are known.

    Args:
        session: Session with the robot.
        network: The policy.
        seconds: Longest time [s].
        pace: Farthest way of a joint in a control step [deg]; by default what the board
            can do.

    Raises:
        InputError: If the board cannot stream its IMU while a policy moves it.
    """
    if not session.board.streams_without_balance:
        raise InputError(
            f"{session.board.name} cannot run a policy on its stock firmware: it reads "
            "its IMU only while its own reactions to falls are on, and these would "
            "fight the policy. Use --controller routes, or a BiBoard."
        )
    network.check_joints(session.robot)
    session.move_slowly(session.robot.standing_targets)
    session.await_rest()
    if network.needs_joints and session.read_joints():
        session.note("joints measured by the servos")
    network.begin()
    pace = pace or find_pace(session.board, 1.0 / network.rate)
    return _loop(session, network, seconds, pace)


def _loop(session: Session, network: Network, seconds: float, pace: float) -> Outcome:
    period, began = 1.0 / network.rate, session.now
    target, held, legs = session.target, 0.0, Legs(session.robot)
    first = min(pace, _FIRST_SPEED * period)
    for step in range(round(seconds * network.rate)):
        due = began + step * period
        session.pause(max(0.0, due - session.now))
        session.watchdog.check_step(session.now - due)
        values = {
            "gravity": session.gravity,
            "angular_velocity": session.rate,
            "joints": session.joints,
            "commands": target,
        }
        most = min(1.0, step * period / _SLOW_START) * (pace - first) + first
        goal = session.angles.limit(network.act(values, target))
        target = target + np.clip(goal - target, -np.deg2rad(most), np.deg2rad(most))
        session.command(target)
        held = held + period if _stands(session, legs) else 0.0
        if held > _HELD:
            taken = session.now - began
            return Outcome(True, f"The robot stands, {taken:.1f} s after the start.")
    return Outcome(False, f"The robot does not stand within {seconds:g} s.")


def find_pace(board: Board, period: float) -> float:
    """Return the farthest command that a board carries out in a control period [deg].

    A move of n steps takes the time of n + 1. Where the time of a step is unknown, the
    pace is that of BiBoard.
    """
    step = board.step_time or BOARDS[-1].step_time
    assert step is not None
    n_steps = int((period - _READING) / step) - 1
    return max(1, n_steps) * min(board.step_angle, BOARDS[-1].step_angle)


def _stands(session: Session, legs: "Legs") -> bool:
    return is_up(session) and legs.carry(session.joints)


class Legs:
    """How far the legs reach below the body, from joint positions."""

    def __init__(self, robot: Robot) -> None:
        self._robot, self._data = robot, mujoco.MjData(robot.model)
        self._feet = [
            geom.id
            for geom in map(robot.model.geom, range(robot.model.ngeom))
            if geom.name.endswith("_foot")
        ]
        self._standing = self._measure(robot.get_joints(robot.standing[None])[0])

    def carry(self, joints: Array) -> bool:
        """Return whether all legs reach as far down as those of a standing robot."""
        return bool((self._measure(joints) < self._standing + _SHORT).all())

    def _measure(self, joints: Array) -> Array:
        """Return the heights of the feet, of a level body at the origin, (4,) [m]."""
        self._data.qpos[:] = 0.0
        self._data.qpos[3] = 1.0
        self._data.qpos[self._robot.joint_adr] = joints
        mujoco.mj_kinematics(self._robot.model, self._data)
        return np.array(self._data.geom_xpos[self._feet, 2])
