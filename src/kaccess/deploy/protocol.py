"""OpenCat's messages: bytes to send, and lines that come back.

A message is a token, its data and a terminator. Lower-case tokens have text data and
end with a newline; upper-case tokens have one signed byte per number and end with `~`.
The firmware takes the last byte that has arrived for the terminator, so no number may
be 126, the code of `~`. (Sources: io.h of OpenCat and moduleManager.h of OpenCatEsp32,
`read_serial`; see `boards` for the commits.)

If several messages `I` wait in the buffer, the firmware reads them as one. Each of ours
has pairs of bytes, and `~I` in between is a pair too, with an index that no joint has.
So the last of them wins, and a late board is never behind by more than one move.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kaccess.base.errors import InputError

__all__ = [
    "FARTHEST",
    "LEGS",
    "N_JOINTS",
    "TERMINATOR",
    "Attitude",
    "Commanded",
    "Echo",
    "Joints",
    "Line",
    "Lines",
    "LowPower",
    "Note",
    "Voltage",
    "decode_bytes",
    "decode_numbers",
    "describe_message",
    "encode_list",
    "encode_move",
    "encode_skill",
    "encode_text",
    "encode_text_move",
    "parse_line",
]

N_JOINTS = 16
"""Joints of the firmware; Bittle has 0 (head) and 8 to 15 (legs)."""
LEGS = range(8, 16)
"""Indices of the leg joints."""
FARTHEST = 125
"""Largest angle in a message [deg]; larger ones are halved, or cannot be sent."""
TERMINATOR = 126  # `~`

_POSTURE_HEADER, _BEHAVIOUR_HEADER = 4, 7
_FRAME = 20  # numbers in a frame of a behaviour
_RATIO = 3  # place of the angle ratio in the header


def encode_text(token: str, *numbers: int) -> bytes:
    """Return a message of text, such as `ksit` or `i8 30 9 30`."""
    return f"{token}{' '.join(map(str, numbers))}\n".encode("ascii")


def encode_text_move(angles: Mapping[int, int]) -> bytes:
    """Return `i`: move joints to angles [deg], all at once, as text."""
    return encode_text("i", *_list_pairs(angles))


def encode_move(angles: Mapping[int, int]) -> bytes:
    """Return `I`: move joints to angles [deg], all at once, as bytes."""
    return b"I" + _pack(_list_pairs(angles)) + b"~"


def encode_list(angles: Sequence[int]) -> bytes:
    """Return `L`: move all 16 joints to angles [deg], as bytes."""
    if len(angles) != N_JOINTS:
        raise InputError(f"`angles` must have {N_JOINTS} numbers, got {len(angles)}.")
    return b"L" + _pack(angles) + b"~"


def encode_skill(array: Sequence[int]) -> bytes:
    """Return `K`: load a skill and perform it, as bytes.

    Args:
        array: The skill as in OpenCat's files, angles in degrees. If one of them is
            beyond 125 degrees, all are halved, and the header says so.
    """
    numbers, (first, size) = list(array), _measure_skill(array)
    rows = range(first, len(numbers), size)
    places = [row + joint for row in rows for joint in range(N_JOINTS)]
    if any(abs(numbers[place]) > FARTHEST for place in places):
        numbers[_RATIO] = 2
        for place in places:
            numbers[place] = round(numbers[place] / 2)
    return b"K" + _pack(numbers) + b"~"


def _measure_skill(array: Sequence[int]) -> tuple[int, int]:
    """Return the length of a skill's header and of its frames."""
    period = array[0]
    first = _POSTURE_HEADER if period > 0 else _BEHAVIOUR_HEADER
    size = N_JOINTS if period > 0 else _FRAME
    if period > 1 or period == 0 or len(array) != first + abs(period) * size:
        raise InputError(
            f"A skill must be a posture or a behaviour, with as many frames as its "
            f"first number says, got {len(array)} numbers and {period}."
        )
    return first, size


def _list_pairs(angles: Mapping[int, int]) -> list[int]:
    wrong = [joint for joint in angles if not 0 <= joint < N_JOINTS]
    if wrong:
        raise InputError(f"Joints must be 0 to {N_JOINTS - 1}, got {wrong[0]}.")
    return [number for pair in sorted(angles.items()) for number in pair]


def _pack(numbers: Sequence[int]) -> bytes:
    for number in numbers:
        if not -128 <= number <= FARTHEST:
            raise InputError(
                f"A number in a message must lie in -128 to {FARTHEST}, got {number}: "
                "it takes one byte, and 126 ends the message."
            )
    return bytes(number & 0xFF for number in numbers)


def decode_bytes(data: bytes) -> list[int]:
    """Return the signed numbers in the data of an upper-case token."""
    return [byte - 256 if byte > 127 else byte for byte in data]


def decode_numbers(data: bytes) -> list[int]:
    """Return the numbers in the data of a lower-case token; others count as 0."""
    words = data.decode("ascii", "replace").replace(",", " ").split()
    return [_read_integer(word) for word in words]


def _read_integer(word: str) -> int:
    found = re.match(r"[+-]?\d+", word)
    return int(found[0]) if found else 0


def describe_message(message: bytes) -> str:
    """Return a message as text that a person can read."""
    token, data = message[:1].decode("ascii", "replace"), message[1:]
    if token.isupper() and data.endswith(b"~"):
        return " ".join([token, *map(str, decode_bytes(data[:-1]))])
    return message.decode("ascii", "replace").strip()


@dataclass(frozen=True)
class Attitude:
    """How the body lies, in OpenCat's angles [deg]: nose down, left side down."""

    pitch: float
    roll: float
    yaw: float | None = None


@dataclass(frozen=True)
class Voltage:
    """Voltage of the battery [V]."""

    volts: float


@dataclass(frozen=True)
class LowPower:
    """The board says that the battery is low; it may refuse to move."""

    text: str


@dataclass(frozen=True)
class Joints:
    """Angles of the leg joints 8 to 15, measured by the servos [deg]."""

    degrees: tuple[float, ...]


@dataclass(frozen=True)
class Commanded:
    """Angles of all 16 joints that the board believes to hold [deg]."""

    degrees: tuple[int, ...]


@dataclass(frozen=True)
class Echo:
    """The token of a message that was carried out."""

    token: str


@dataclass(frozen=True)
class Note:
    """Any other line."""

    text: str


Line = Attitude | Voltage | LowPower | Joints | Commanded | Echo | Note

_NUMBER = re.compile(r"-?\d+\.\d+")
# [biboard] imu.h, print6Axis: "ICM:%6.2f%6.2f%6.2f%7.1f%7.1f%7.1f\t", "MCU:..."; with
# both chips on one line, the first is taken. Numbers may touch one another.
_CHIP = re.compile(r"(?:ICM|MCU):?(?P<numbers>[-\d. ]+)")
# [nyboard] imu.h, print6Axis: pitch, tab, roll, with five decimals.
_PITCH_ROLL = re.compile(r"(-?\d+\.\d{5})\t(-?\d+\.\d{5})")
_VOLTAGE = re.compile(r"Voltage: *(\d+(?:\.\d+)?) *V")  # [biboard] reaction.h
_LOW_POWER = re.compile(r"Low power: *\d")  # [nyboard] and [biboard] reaction.h
# [biboard] espServo.h, servoFeedback: one decimal each, tabs, the head first.
# [biboard] reaction.h, T_JOINTS, after a line with the indices 0 to 15.
_COMMANDED = re.compile(r"(?:-?\d+,?[ \t]+){16}")
_INDICES = tuple(range(N_JOINTS))
_FEEDBACK = re.compile(r"(?:-?\d+\.\d\t){8,9}")


def parse_line(line: str) -> Line:
    """Return what a line of the firmware says."""
    text = line.strip("\r\n")
    if found := _CHIP.search(text):
        numbers = [float(each) for each in _NUMBER.findall(found["numbers"])]
        if len(numbers) in (3, 6):
            yaw, pitch, roll = numbers[-3:]
            return Attitude(pitch, roll, yaw)
    if found := _PITCH_ROLL.fullmatch(text.strip(" ")):
        return Attitude(float(found[1]), float(found[2]))
    if found := _VOLTAGE.search(text):
        return Voltage(float(found[1]))
    if _LOW_POWER.search(text):
        return LowPower(text.strip())
    if _FEEDBACK.fullmatch(text):
        return Joints(tuple(float(each) for each in text.split()[-len(LEGS) :]))
    if _COMMANDED.fullmatch(f"{text.strip()}\t"):
        angles = tuple(decode_numbers(text.encode()))
        if angles != _INDICES:
            return Commanded(angles)
    text = text.strip()
    return Echo(text) if len(text) == 1 else Note(text)


class Lines:
    """Cuts a stream of bytes into lines; the end of a line may still be missing."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Line]:
        """Yield the lines that are complete now, without empty ones."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            if line.strip():
                yield parse_line(line.decode("ascii", "replace"))
