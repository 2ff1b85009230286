"""What Petoi's boards do with messages, as far as their public sources say it.

Sources, named in brackets beside each fact:

    [nyboard]  PetoiCamp/OpenCat, commit 54da7b7 (2025-06-23), src/
    [biboard]  PetoiCamp/OpenCatEsp32-Quadruped-Robot, 5022fb0 (2026-07-17), src/
    [older]    PetoiCamp/OpenCatEsp32, commit 9cac32e (2025-07-12), src/
    [docs]     PetoiCamp/docs, commit 8fa9293 (2026-07-18), en/

None of it was tried on a robot by us.
"""

from dataclasses import dataclass

from kaccess.base.errors import InputError

__all__ = ["BAUD_RATE", "BOARDS", "NEVER_ASK", "Board", "find_board"]

# [nyboard] OpenCat.h, NyBoard V1; [biboard] OpenCatEsp32.ino, `setup`.
BAUD_RATE = 115_200

# Tokens that this package never sends: they change what is stored on the board.
# [biboard] OpenCat.h: save and abort calibration, calibrate, reset, name, modules.
NEVER_ASK = frozenset("sac!nX")


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board with its stock firmware."""

    name: str
    """Name in messages."""
    version: str
    """How the version that it reports begins."""
    stream_on: bytes
    """Message that starts the stream of the IMU."""
    stream_off: bytes
    """Message that ends it."""
    balance_off: bytes
    """Message that stops the firmware's own reactions to falls."""
    streams_without_balance: bool
    """Whether the IMU is still read after `balance_off`."""
    step_time: float | None
    """Time of a step of an interpolated move [s]; None: not in the sources."""
    step_angle: float
    """Largest angle of such a step after `I` or `i` [deg]."""
    skill_divisor: float
    """Speed of a frame of a skill, divided by this, is its angle per step [deg]."""
    trigger_timeout: float | None
    """Time after which a frame waits no more for its trigger [s]; None: it waits for
    ever."""
    interrupts_flipped: bool
    """Whether a skill sent with `K` ends at once if the robot lies on its back."""
    reports_voltage: bool
    """Whether `P` returns the voltage of the battery."""
    has_feedback: bool
    """Whether `f` returns joint angles, with servos that have feedback."""
    has_wifi: bool
    """Whether the board itself can join a Wi-Fi network."""

    @property
    def speed(self) -> float | None:
        """Fastest speed of a joint after `I` [deg/s], averaged; None if unknown."""
        return None if self.step_time is None else self.step_angle / self.step_time


_NYBOARD = Board(
    name="NyBoard V1",
    version="N_",  # OpenCat.h, SOFTWARE_VERSION
    stream_on=b"V~",  # OpenCat.h, T_VERBOSELY_PRINT_GYRO: a toggle
    stream_off=b"V~",
    balance_off=b"G~",  # OpenCat.h, T_GYRO_BALANCE: a toggle
    streams_without_balance=False,  # imu.h, readEnvironment: only `if (gyroBalanceQ`
    step_time=None,  # motion.h, transform: no delay, as fast as 16 writes over I2C
    step_angle=4.0,  # reaction.h: transform(targetFrame, 1, 4)
    skill_divisor=4.0,  # skill.h, perform
    trigger_timeout=None,  # skill.h, perform: while (1) without a limit
    interrupts_flipped=False,  # skill.h, perform: only if bytes arrive
    reports_voltage=False,  # OpenCat.h has no such token; reaction.h prints a warning
    has_feedback=False,  # [docs] apis/serial-protocol/feedback-servos.md
    has_wifi=False,  # [docs] an ESP8266 module, which takes text only
)


def _make_biboard(name: str, version: str, *, voltage: bool) -> Board:
    """Return a BiBoard; its versions share all that matters here but the voltage."""
    return Board(
        name=name,
        version=version,  # OpenCat.h, BOARD and DATE
        stream_on=b"gP\n",  # OpenCat.h, T_GYRO and C_PRINT
        stream_off=b"gp\n",
        balance_off=b"gb\n",  # C_GYRO_BALANCE_OFF
        streams_without_balance=True,  # moduleManager.h, readEnvironment
        step_time=0.008,  # motion.h, transform: delay((DOF - offset) / 2)
        step_angle=2.0,  # OpenCat.h: transformSpeed = 2
        skill_divisor=8.0,  # skill.h, perform
        trigger_timeout=2.0,  # skill.h, perform
        # skill.h, perform: it turns balancing on for skills named `tmp`, as those of
        # `K` are, and interrupts all skills but `rc` if the roll exceeds 85 deg.
        interrupts_flipped=True,
        reports_voltage=voltage,  # OpenCat.h defines VOLTAGE for V1_0 only
        has_feedback=True,  # espServo.h, servoFeedback; servos made since March 2024
        has_wifi=True,  # webServer.h: a WebSocket on port 81, since 2025-07-15
    )


BOARDS: tuple[Board, ...] = (
    _NYBOARD,
    _make_biboard("BiBoard V0.1", "B01", voltage=False),
    _make_biboard("BiBoard V0.2", "B02", voltage=False),
    _make_biboard("BiBoard V1.0", "B10", voltage=True),
)
"""Every board that is known, by the version that its firmware reports."""


def find_board(model: str, version: str) -> Board:
    """Return the board that answered `?` with its model and version.

    Raises:
        InputError: If the robot is no Bittle, or its board is not known.
    """
    # [biboard] OpenCat.h, MODEL: "Bittle X", "Bittle X+Arm", "Nybble Q", "DoF16".
    if not model.startswith("Bittle") or "+" in model or "RN" in model:
        raise InputError(
            f"The robot must be a Bittle or Bittle X without an arm, but says that it "
            f"is {model!r}: its legs or its weight are others, and these moves were "
            "measured for Bittle's."
        )
    for board in BOARDS:
        if version.startswith(board.version):
            return board
    known = ", ".join(f"{board.version}* ({board.name})" for board in BOARDS)
    raise InputError(
        f"The firmware {version!r} is not known; known are {known}. Upload OpenCat's "
        "current firmware, see docs/hardware.md."
    )
