"""A log of a deployment, beside a simulation that is sent the same messages."""

from pathlib import Path

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.rotations import gravity_in_body
from kaccess.base.types import Array
from kaccess.config import SimulateConfig
from kaccess.deploy.angles import MEASURED, Angles, find_gravity
from kaccess.deploy.placing import place
from kaccess.deploy.protocol import Attitude
from kaccess.deploy.record import Log, Track
from kaccess.deploy.simulated import SimulatedBittle
from kaccess.report.play.clip import Clip
from kaccess.robots import Robot, load_robot

__all__ = ["replay_log"]

_RATE = 25  # [Hz], of the states shown
_SETTLE = 1.0  # [s], of the simulated robot before it is sent anything


def replay_log(path: Path) -> tuple[Clip, Clip]:
    """Return the motions of a simulated robot and of the recorded one.

    The simulated robot is sent the messages of the log. The recorded one has the
    attitude of its IMU, and the joints of the simulated one.

    Raises:
        InputError: If the file is no log, or has no attitudes.
    """
    log, robot = Log.load(path), load_robot(MEASURED)
    track = log.follow()
    if not len(track.attitude_times):
        raise InputError(f"{path} has no attitudes: the robot's IMU said nothing.")
    held = next((event["held"] for event in log.events if "held" in event), None)
    bittle = _start(robot, track, held)
    seconds = np.arange(int(log.events[-1]["t"] * _RATE) + 1) / _RATE
    states = _play(bittle, log, seconds)
    recorded = _pose(robot, track, seconds, robot.get_joints(states))
    off = _compare(states, recorded)
    moved = seconds >= track.attitude_times[0]
    outcome = (
        f"Simulated and recorded attitude differ by {np.median(off[moved]):.1f} deg in "
        f"the median, by {off[-1]:.1f} deg at the end."
    )
    return (
        Clip(robot, seconds, states, outcome),
        Clip(robot, seconds, recorded, outcome),
    )


def _start(robot: Robot, track: Track, held: list[int] | None) -> SimulatedBittle:
    """Return a simulated robot that lies as the recorded one did at first."""
    angles = Angles(robot)
    degrees = angles.to_degrees(robot.standing_targets) if held is None else held
    gravity = find_gravity(Attitude(*track.attitudes[0]))
    qpos = place(robot, gravity[None], angles.to_radians(np.array(degrees))[None])[0]
    bittle = SimulatedBittle(SimulateConfig(latency=0.0), qpos, robot=robot)
    bittle.advance(_SETTLE)
    return bittle


def _play(bittle: SimulatedBittle, log: Log, seconds: Array) -> Array:
    """Return the states at some times, (t, nq), while messages are sent."""
    sent = [(e["t"], bytes.fromhex(e["sent"])) for e in log.events if "sent" in e]
    states = []
    for time in seconds.tolist():
        while sent and sent[0][0] <= time:
            at, message = sent.pop(0)
            bittle.advance(_SETTLE + at)
            bittle.receive(message)
        bittle.advance(_SETTLE + time)
        states.append(bittle.qpos)
    return np.array(states)


def _pose(robot: Robot, track: Track, seconds: Array, joints: Array) -> Array:
    """Return states with the attitude recorded last at each time, (t, nq)."""
    row = np.searchsorted(track.attitude_times, seconds, side="right") - 1
    attitudes = track.attitudes[row.clip(0)]
    gravity = np.array([find_gravity(Attitude(*each)) for each in attitudes])
    return place(robot, gravity, joints)


def _compare(states: Array, others: Array) -> Array:
    """Return the angles between the gravity vectors of states, (t,) [deg]."""
    a, b = gravity_in_body(states[:, 3:7]), gravity_in_body(others[:, 3:7])
    return np.asarray(np.rad2deg(np.arccos(np.clip((a * b).sum(axis=1), -1.0, 1.0))))
