"""A session with a robot: who it is, how it lies, slow moves, and a safe end."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import Array
from kaccess.deploy.angles import Angles, find_gravity
from kaccess.deploy.boards import BOARDS, Board, find_board
from kaccess.deploy.link import Link, LinkLostError
from kaccess.deploy.protocol import (
    LEGS,
    Attitude,
    Commanded,
    Echo,
    Joints,
    Line,
    Lines,
    LowPower,
    Note,
    Voltage,
    describe_message,
    encode_move,
    encode_text,
)
from kaccess.deploy.record import Log
from kaccess.deploy.servo import Heat, ServoModel
from kaccess.deploy.watchdog import StopError, Watchdog
from kaccess.robots import Robot

__all__ = ["Session"]

_ANSWER = 2.0  # [s], longest wait for an answer; a board resets when a port opens
_N_TRIES = 4
_LOOK = 0.02  # [s], between two looks for lines
_SLOW = np.deg2rad(60.0)  # [rad/s], of first moves and of the safe end
_STEP = 0.05  # [s], between two commands of a slow move
_REACTION = 0.3  # [s], until a command shows in the attitude
_STILL = 1.0  # [deg], largest change of an attitude at rest
_STILL_TIME = 0.4  # [s], for which it does not change
_LONGEST_REST = 4.0  # [s], to come to rest
_BATTERY = 5.0  # [s], between two questions for the voltage

Show = Callable[[str], None]


class Session:
    """A conversation with one robot.

    Args:
        link: Bytes to and from it.
        robot: Model of the robot.
        log: What happens is added to it.
        watchdog: Says when to stop.
        show: Called with every message that is sent, as text; None shows nothing.

    Attributes:
        joints: (nu,) joint positions, as estimated [rad].
        target: (nu,) last command [rad].
        gravity: (3,) unit gravity in the body frame.
        rate: (3,) angular velocity in the body frame, without that about the vertical
            [rad/s].
    """

    def __init__(
        self,
        link: Link,
        robot: Robot,
        *,
        log: Log | None = None,
        watchdog: Watchdog | None = None,
        show: Show | None = None,
    ) -> None:
        self.link, self.robot, self.angles = link, robot, Angles(robot)
        self.log, self.watchdog = log or Log(), watchdog or Watchdog()
        self._show = show or (lambda _: None)
        self._lines = Lines()
        self._began = link.now()
        self._heat = Heat(robot.model.nu)
        self.target: Array = robot.standing_targets
        self._servos = ServoModel(self.target)
        self._servo_time = link.now()
        self.gravity: Array = np.array([0.0, 0.0, -1.0])
        self.rate: Array = np.zeros(3)
        self.attitude = Attitude(0.0, 0.0)
        self._seen: list[tuple[float, Array]] = []  # attitudes of the last moment
        self._last_line = -np.inf
        self._next_battery = np.inf
        self.measured: Joints | None = None
        self._commanded: Commanded | None = None
        self.board: Board = BOARDS[-1]

    @property
    def now(self) -> float:
        """Time since the session began [s]."""
        return self.link.now() - self._began

    @property
    def joints(self) -> Array:
        """Joint positions [rad], (nu,)."""
        return self._servos.joints.copy()

    # Begin.

    def connect(self) -> Board:
        """Find out who is there, stop its own reactions, and start the IMU's stream.

        Raises:
            InputError: If nobody answers, or no Bittle.
        """
        self.board = self._identify()
        if self.board.streams_without_balance:
            self.send(self.board.balance_off)
            self.pause(0.1)
        self._start_stream()
        self._find_start()
        if self.board.reports_voltage:
            self._next_battery = self.now
        self.note(f"connected to {self.board.name}")
        return self.board

    def _identify(self) -> Board:
        """Ask the robot who it is, several times if need be; bytes may get lost."""
        error = InputError(
            f"No answer from a Bittle within {_N_TRIES * _ANSWER:.0f} s. Is it on, "
            "with OpenCat's firmware at 115200 baud, and is this the right port?"
        )
        for _ in range(_N_TRIES):
            self.send(encode_text("?"))
            texts: list[str] = []
            end = self.now + _ANSWER
            while self.now < end and len(texts) < 2:
                heard = self.listen()
                texts += [each.text for each in heard if isinstance(each, Note)]
                self.link.wait(self.link.now() + _LOOK)
            for model, version in pairwise(texts):
                try:
                    return find_board(model, version)
                except InputError as refused:
                    error = refused
        raise error

    def _find_start(self) -> None:
        """Ask for the angles that the board holds: first moves begin there."""
        for _ in range(_N_TRIES):
            self.send(encode_text("j"))
            end = self.now + 0.5
            while self.now < end and self._commanded is None:
                self.pause(_LOOK)
            if self._commanded is not None:
                legs = np.array(self._commanded.degrees[LEGS.start :])
                self.target = self.angles.to_radians(legs)
                self.log.add(self.now, held=legs.tolist())
                break
        else:
            raise InputError(
                "The robot does not say which angles its servos hold (`j`), so its "
                "first move could be fast. Switch it off and on, or use a better cable."
            )
        speed = self.board.speed
        self._servos = ServoModel(self.target, np.deg2rad(speed) if speed else np.inf)

    def _start_stream(self) -> None:
        for _ in range(_N_TRIES):
            self.send(self.board.stream_on)
            end = self.now + 0.5
            while self.now < end:
                self.pause(_LOOK)
                if np.isfinite(self._last_line):
                    return
        raise InputError(
            "The robot answers, but its IMU sends nothing. Calibrate it as in "
            "docs/hardware.md, or switch the robot off and on."
        )

    # Send and listen.

    def send(self, message: bytes) -> None:
        """Send a message."""
        self.log.add(self.now, sent=message.hex())
        self._show(f"{self.now:8.3f} s  {describe_message(message)}")
        self.link.write(message)

    def note(self, text: str) -> None:
        """Add a remark to the log."""
        self.log.add(self.now, note=text)

    def listen(self) -> list[Line]:
        """Take in all lines that have arrived, and return them."""
        lines = list(self._lines.feed(self.link.read()))
        for line in lines:
            self._take(line)
        return lines

    def _take(self, line: Line) -> None:
        if isinstance(line, Attitude):
            self._take_attitude(line)
        elif isinstance(line, Voltage):
            self.log.add(self.now, volts=line.volts)
            self.watchdog.check_volts(line.volts)
        elif isinstance(line, LowPower):
            self.log.add(self.now, text=line.text)
            raise StopError(f"the battery is low: the board says {line.text!r}")
        elif isinstance(line, Joints):
            self.log.add(self.now, joints=list(line.degrees))
            self.measured = line
        elif isinstance(line, Commanded):
            self._commanded = line
        elif isinstance(line, Note):
            self.log.add(self.now, text=line.text)

    def _take_attitude(self, attitude: Attitude) -> None:
        now, gravity = self.now, find_gravity(attitude)
        self.log.add(now, pitch=attitude.pitch, roll=attitude.roll)
        self.attitude, self.gravity, self._last_line = attitude, gravity, now
        self._seen = [each for each in self._seen if now - each[0] < _STILL_TIME]
        self._seen.append((now, gravity))
        self.rate = _find_rate(self._seen)

    def pause(
        self, seconds: float, *, silent: float = 0.0, asks: bool = True
    ) -> list[Line]:
        """Wait, listen meanwhile, and stop if something is wrong.

        Args:
            seconds: Time to wait [s].
            silent: Time for which the IMU may be silent besides [s].
            asks: Whether the board may be asked for its voltage meanwhile.
        """
        self.link.wait(self.link.now() + seconds)
        heard = self.listen()
        self._follow_servos()
        if np.isfinite(self._last_line):
            self.watchdog.check_silence(self.now, self._last_line, silent)
        self.watchdog.check_heat(self._heat.seconds)
        if asks and self.now >= self._next_battery:
            self._next_battery = self.now + _BATTERY
            self.send(b"P~")
        return heard

    def _follow_servos(self) -> None:
        """Let the model of the servos catch up with the time."""
        now = self.link.now()
        passed, self._servo_time = now - self._servo_time, now
        before = self._servos.joints
        joints = self._servos.follow(self.target, passed)
        self._heat.add(self.target - (before + joints) / 2, passed)

    # Move.

    def command(self, target: Array) -> None:
        """Command joint positions [rad], within the measured limits."""
        self._follow_servos()
        degrees = self.angles.to_degrees(target)
        self.target = self.angles.to_radians(degrees)
        self.log.add(self.now, target=degrees.tolist())
        self.send(encode_move(dict(zip(LEGS, degrees.tolist(), strict=True))))

    def move_slowly(self, target: Array) -> None:
        """Move to joint positions [rad] at 60 deg/s."""
        start, goal = self.target, self.angles.limit(target)
        seconds = np.abs(goal - start).max() / _SLOW
        n = max(1, int(np.ceil(seconds / _STEP)))
        for step in range(1, n + 1):
            self.command(start + (goal - start) * step / n)
            self.pause(_STEP)

    def await_rest(self) -> bool:
        """Wait until the body is at rest; return whether it is, within 4 s."""
        end = self.now + _LONGEST_REST
        self.pause(_REACTION)
        self._seen = []
        while self.now < end:
            self.pause(_LOOK)
            span = self._seen[-1][0] - self._seen[0][0] if self._seen else 0.0
            if span > _STILL_TIME / 2 and self._find_spread() < np.deg2rad(_STILL):
                return True
        return False

    def _find_spread(self) -> float:
        """Return how far gravity has moved in the last moment [-]."""
        vectors = np.array([gravity for _, gravity in self._seen])
        return float(np.ptp(vectors, axis=0).max())

    def read_joints(self) -> bool:
        """Ask the servos for their angles, at rest; return whether they answer.

        It takes about a third of a second, in which the servos do not hold
        (espServo.h, readFeedback), so it is no use in a control loop.
        """
        if not self.board.has_feedback:
            return False
        self.measured = None
        self.send(encode_text("fp"))
        for _ in range(20):
            self.pause(0.05, silent=1.0)
            if self.measured is not None:
                joints = self.angles.to_radians(np.array(self.measured.degrees))
                self._servos.joints = joints
                return True
        return False

    # End.

    def end_safely(self) -> None:
        """Lie down slowly and turn the servos off, as far as the link still works."""
        try:
            self.send(encode_text("d"))
            self.send(self.board.stream_off)
        except LinkLostError:
            self.note("the link was gone: the robot was not told to rest")


def _find_rate(seen: list[tuple[float, Array]]) -> Array:
    """Return the angular velocity from gravity over time, (3,) [rad/s].

    Gravity is fixed in the world: in the body frame its derivative is g x w. The part
    of w along gravity leaves no trace and is taken for 0; the firmware's yaw drifts too
    much to be of use.
    """
    window = 0.045  # [s]: about one control step
    now, gravity = seen[-1]
    past = [each for each in seen[:-1] if now - each[0] <= window + 1e-9] or seen[-2:-1]
    if not past or now - past[0][0] <= 0:
        return np.zeros(3)
    before, old = past[0]
    return np.asarray(np.cross((gravity - old) / (now - before), gravity))


def echoed(lines: list[Line], token: str) -> bool:
    """Return whether a token was echoed in lines."""
    return any(isinstance(line, Echo) and line.token == token for line in lines)
