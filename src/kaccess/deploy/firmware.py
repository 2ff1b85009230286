"""The firmware of a simulated BiBoard: reads messages, moves servos, prints lines.

It behaves as OpenCatEsp32 does in what a program on a computer can notice: moves are
eased and block everything else, waiting messages are read as one, a skill is
interrupted by any byte, and by a robot on its back. `run` is a generator: it yields
the time that each piece of work takes [s], so that a simulation can pass meanwhile.
(Sources: reaction.h, motion.h, skill.h, moduleManager.h; see `boards` for the commits.)
"""

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

from kaccess.deploy.protocol import (
    LEGS,
    N_JOINTS,
    TERMINATOR,
    Attitude,
    decode_bytes,
    decode_numbers,
)

__all__ = ["Firmware", "Hardware"]

_STEP = 0.008  # [s], motion.h: delay((DOF - offset) / 2)
_LOOP = 0.001  # [s], reaction.h: delay(1)
_SPEED = 2.0  # [deg per step], OpenCat.h: transformSpeed
_SKILL_SPEED = 1.0  # [deg per step], skill.h: formatSkill
_READ = 0.001  # [s], read_serial: delay(1)
_TIMEOUT, _LONG_TIMEOUT = 0.010, 0.200  # [s], OpenCat.h: SERIAL_TIMEOUT
_FLIPPED = 85.0  # [deg], imu.h: getImuException
_LOW = 7.0  # [V], OpenCat.h: LOW_VOLTAGE
_CHECK_BATTERY = 1.0  # [s], OpenCat.h: CHECK_BATTERY_PERIOD
_DELAY = 0.05  # [s], skill.h: unit of the delay of a frame
_TRIGGER_TIMEOUT = 2.0  # [s], skill.h
_FEEDBACK = 0.025  # [s] per servo, espServo.h: delay(15) and three pulses
_LOWEST = [-120, -85, -120, -120, -90, -90, -90, -90, -200, -200, *[-80] * 6]
_HIGHEST = [120, 85, 120, 120, 60, 60, 90, 90, 80, 80, *[200] * 6]  # angleLimit

# Angles of the legs in postures, InstinctBittleESP.h [deg].
_POSTURES = {
    "up": [30] * 8,
    "balance": [30] * 8,
    "rest": [75] * 4 + [-55] * 4,
    "sit": [45, 45, 105, 105, 45, 45, -45, -45],
    "zero": [0] * 8,
    "calib": [0] * 8,
}


class Hardware(Protocol):
    """What the firmware reads and drives."""

    now: float
    arrived: bytearray
    model: str
    version: str
    imu_interval: float
    has_feedback: bool

    def drive(self, joint: int, degrees: float) -> None:
        """Send an angle to a servo."""

    def release(self) -> None:
        """Turn all servos off."""

    def read_attitude(self) -> Attitude:
        """Return what the IMU measures."""

    def read_joints(self) -> list[float]:
        """Return the angles of the legs that the servos measure [deg]."""

    def read_volts(self) -> float:
        """Return the voltage of the battery."""

    def print(self, text: str) -> None:
        """Send a line."""


class Firmware:
    """The program on the board.

    Args:
        hardware: What it reads and drives.
        angles: 16 angles that the servos hold at the start [deg].
    """

    def __init__(self, hardware: Hardware, angles: Sequence[int]) -> None:
        self.angles = list(angles)
        self._hardware = hardware
        self._balances = True
        self._streams = False
        self._low = False
        self._next_check = 0.0
        self._last_print = -math.inf
        self._after_rest = True  # the next command turns balancing on
        self._behaviour: list[list[int]] = []
        self._token = ""

    def run(self) -> Iterator[float]:
        """Run for ever; yield the time of each piece of work [s]."""
        while True:
            self._check_battery()
            self._print_stream()
            self._react_to_fall()
            if self._hardware.arrived:
                yield from self._obey()
            if self._behaviour:
                yield from self._perform()
            yield _LOOP

    def _obey(self) -> Iterator[float]:
        """Read a message and carry it out."""
        token = chr(self._hardware.arrived.pop(0))
        yield _READ
        data = bytearray()
        yield from self._receive(token, data)
        end = TERMINATOR if token.isupper() else ord("\n")
        if data and data[-1] == end:
            del data[-1]
        self._token = token
        if self._after_rest and token not in ("c", "d"):
            self._balances, self._after_rest = True, False
            self._hardware.print("G")
        yield from self._carry_out(token, bytes(data))

    def _receive(self, token: str, data: bytearray) -> Iterator[float]:
        """Read all bytes there are, until the last one ends a message."""
        end = TERMINATOR if token.isupper() else ord("\n")
        limit = _LONG_TIMEOUT if token in "KbB" else _TIMEOUT
        silent = 0.0
        while silent < limit:
            if self._hardware.arrived:
                data += self._hardware.arrived
                self._hardware.arrived.clear()
                silent = 0.0
            if data and data[-1] == end:
                return
            yield _LOOP
            silent += _LOOP

    def _carry_out(self, token: str, data: bytes) -> Iterator[float]:
        echo = token
        if token == "?":
            self._hardware.print(self._hardware.model)
            self._hardware.print(self._hardware.version)
        elif token == "g":
            echo = self._set_gyro(data.decode("ascii", "replace").strip())
        elif token == "P":
            self._hardware.print(f"Voltage: {self._hardware.read_volts():.2f} V")
        elif token == "j":
            self._print_joints()
        elif token == "f":
            yield from self._print_feedback()
        elif token in "iI":
            read = decode_numbers if token == "i" else decode_bytes
            yield from self._transform(self._place(read(data)), _SPEED)
        elif token == "L" and len(data) >= N_JOINTS:
            yield from self._transform(decode_bytes(data[:N_JOINTS]), _SPEED)
        elif token == "k":
            yield from self._take_posture(data.decode("ascii", "replace").strip())
        elif token == "K":
            yield from self._load(decode_bytes(data))
        elif token == "d":
            yield from self._rest()
        else:
            self._hardware.print("Undefined token!")
        self._hardware.print(echo)

    def _place(self, numbers: list[int]) -> list[int]:
        """Return the angles of all joints, with pairs of joint and angle put in."""
        target = list(self.angles)
        for joint, angle in zip(numbers[::2], numbers[1::2], strict=False):
            if 0 <= joint < N_JOINTS:
                target[joint] = angle
        return target

    def _transform(self, target: Sequence[float], speed: float) -> Iterator[float]:
        """Move all joints in eased steps; nothing else happens meanwhile."""
        start = list(self.angles)
        far = max(abs(a - b) for a, b in zip(start, target, strict=True))
        steps = round(far / speed) if speed > 0 else 0
        for step in range(steps + 1):
            self._print_stream()
            left = (1 + math.cos(math.pi * step / steps)) / 2 if steps else 0.0
            for joint in (0, *LEGS):
                angle = target[joint] + left * (start[joint] - target[joint])
                self._drive(joint, angle)
            yield _STEP

    def _drive(self, joint: int, angle: float) -> None:
        angle = max(_LOWEST[joint], min(_HIGHEST[joint], angle))
        self.angles[joint] = int(angle)
        if not self._low:
            self._hardware.drive(joint, angle)

    def _take_posture(self, name: str) -> Iterator[float]:
        if name in _POSTURES:
            yield from self._transform([0] * 8 + _POSTURES[name], _SKILL_SPEED)
        else:
            self._hardware.print(f"?{name}?")

    def _rest(self) -> Iterator[float]:
        self._balances = False
        self._hardware.print("g")
        yield from self._take_posture("rest")
        self._hardware.release()
        self._after_rest = True

    def _load(self, numbers: list[int]) -> Iterator[float]:
        """Take a skill, and move to its first frame."""
        period = numbers[0] if numbers else 0
        header, size = (4, N_JOINTS) if period == 1 else (7, N_JOINTS + 4)
        if period > 1 or not period or len(numbers) < header + abs(period) * size:
            return
        ratio, rows = numbers[3], []
        for row in range(abs(period)):
            frame = numbers[header + row * size : header + (row + 1) * size]
            angles = [ratio * angle for angle in frame[:N_JOINTS]]
            rows.append([*angles, *frame[N_JOINTS:]])
        yield from self._transform(rows[0][:N_JOINTS], _SKILL_SPEED)
        self._behaviour = rows if period < 0 else []

    def _perform(self) -> Iterator[float]:
        """Perform the frames of a skill, unless something interrupts it."""
        rows, self._behaviour = self._behaviour, []
        for row in rows:
            if self._hardware.arrived or self._is_flipped():
                self._hardware.print("Behavior interrupted")
                yield from self._take_posture("up")
                break
            speed, delay, axis, angle = row[N_JOINTS:]
            yield from self._transform(row[:N_JOINTS], speed / 8.0)
            if axis:
                yield from self._await(axis, angle)
            yield abs(delay) * _DELAY
        self._hardware.print(self._token)

    def _await(self, axis: int, angle: int) -> Iterator[float]:
        """Wait until the body turns past an angle, or for two seconds."""
        began, before = self._hardware.now, self._read_axis(axis)
        while self._hardware.now - began < _TRIGGER_TIMEOUT:
            self._print_stream()
            now = self._read_axis(axis)
            if abs(now) < 178 and axis * now > axis * angle > axis * before:
                break
            before = now
            yield _LOOP

    def _read_axis(self, axis: int) -> float:
        attitude = self._hardware.read_attitude()
        return attitude.pitch if abs(axis) == 1 else attitude.roll

    def _is_flipped(self) -> bool:
        return abs(self._hardware.read_attitude().roll) > _FLIPPED

    def _react_to_fall(self) -> None:
        if self._balances and not self._after_rest and self._is_flipped():
            self._hardware.print("EXCEPTION: Fall over")
            self._balances = False  # the real one performs `rc`, again and again

    def _set_gyro(self, letters: str) -> str:
        for letter in letters:
            if letter in "bB":
                self._balances = letter == "B"
            elif letter in "pP":
                self._streams = letter == "P"
                self._print_attitude()
        return "g" if letters else "G"

    def _print_stream(self) -> None:
        if self._streams:
            self._print_attitude()

    def _print_attitude(self) -> None:
        if self._hardware.now - self._last_print < self._hardware.imu_interval:
            return
        self._last_print = self._hardware.now
        now = self._hardware.read_attitude()
        self._hardware.print(
            f"ICM:{0.0:6.2f}{0.0:6.2f}{10.0:6.2f}{0.0:7.1f}{now.pitch:7.1f}"
            f"{now.roll:7.1f}\t"
        )

    def _print_joints(self) -> None:
        self._hardware.print("=")
        self._hardware.print("".join(f"{joint}\t" for joint in range(N_JOINTS)))
        self._hardware.print("".join(f"{angle},\t" for angle in self.angles))

    def _print_feedback(self) -> Iterator[float]:
        """Read one servo after the other, which takes a while."""
        yield _FEEDBACK * 9
        if self._hardware.has_feedback:
            legs = self._hardware.read_joints()
            self._hardware.print("".join(f"{angle:.1f}\t" for angle in (0.0, *legs)))

    def _check_battery(self) -> None:
        if self._hardware.now < self._next_check:
            return
        self._next_check = self._hardware.now + _CHECK_BATTERY
        volts = self._hardware.read_volts()
        if volts < _LOW and not self._low:
            self._low = True
            self._hardware.print(f"Low power: {volts:.2f}V. The robot won't move.")
