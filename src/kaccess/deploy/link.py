"""Links to a robot: bytes there and back, and the clock that goes with them."""

import errno
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from kaccess.base.errors import InputError
from kaccess.deploy.boards import BAUD_RATE

if TYPE_CHECKING:
    from serial import Serial

__all__ = ["Link", "LinkLostError", "SerialLink"]

_SLICE = 0.002  # [s], between two looks for bytes
_MODES = {
    errno.EACCES: "you have no permission to use it",
    errno.EPERM: "you have no permission to use it",
    errno.EBUSY: "another program uses it",
    errno.EAGAIN: "another program uses it",
    errno.ENOENT: "there is no such port",
}


class LinkLostError(Exception):
    """The link has broken, such as by a pulled cable."""


class Link(Protocol):
    """Bytes to and from a robot, and time."""

    def write(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            LinkLostError: If the link has broken.
        """

    def read(self) -> bytes:
        """Return the bytes that have arrived; empty if there are none."""

    def now(self) -> float:
        """Return the time [s], from an arbitrary start."""

    def wait(self, until: float) -> None:
        """Return at a time, or at once if it is past."""

    def close(self) -> None:
        """End the link."""


class SerialLink:
    """A link over a serial port: a USB cable, or a pseudo-terminal.

    Args:
        port: The port, such as /dev/ttyUSB0 or COM3.

    Raises:
        InputError: If it cannot be opened; the message says why and what to do.
        ImportError: If pyserial is not installed.
    """

    def __init__(self, port: str) -> None:
        self._serial = _open(port)

    def write(self, data: bytes) -> None:
        """Send bytes."""
        import serial

        try:
            self._serial.write(data)
        except (serial.SerialException, OSError) as error:
            raise LinkLostError(f"the serial port is gone ({error})") from error

    def read(self) -> bytes:
        """Return the bytes that have arrived."""
        import serial

        try:
            return bytes(self._serial.read(self._serial.in_waiting or 0))
        except (serial.SerialException, OSError) as error:
            raise LinkLostError(f"the serial port is gone ({error})") from error

    def now(self) -> float:
        """Return the time of the computer."""
        return time.monotonic()

    def wait(self, until: float) -> None:
        """Sleep until a time."""
        time.sleep(max(0.0, until - self.now()))

    def close(self) -> None:
        """Close the port."""
        self._serial.close()


def _open(port: str) -> "Serial":
    try:
        import serial
    except ImportError as error:
        raise ImportError(
            "A serial port needs pyserial, which is not installed. Run "
            "`pip install 'kaccess[deploy]'`."
        ) from error
    try:
        return serial.Serial(
            port, BAUD_RATE, timeout=0, write_timeout=1, exclusive=True
        )
    except (serial.SerialException, OSError, ValueError) as error:
        raise InputError(_explain(port, error)) from error


def _explain(port: str, error: Exception) -> str:
    """Return why a port cannot be opened, and what to do."""
    number = getattr(error, "errno", None)
    reason = _MODES.get(number or 0, str(error))
    return f"The port {port!r} cannot be opened: {reason}. {_advise(port, number)}"


def _advise(port: str, number: int | None) -> str:
    if number in (errno.EACCES, errno.EPERM):
        group = _name_group(port)
        return (
            f"Join its group with `sudo usermod -aG {group} $USER`, and log in again."
        )
    if number in (errno.EBUSY, errno.EAGAIN):
        return "Close Petoi's app, the serial monitor and other programs."
    found = ", ".join(_list_ports()) or "none"
    return f"Plug the robot in and switch it on. Ports there are: {found}."


def _name_group(port: str) -> str:
    """Return the group that may use a port; on most systems it is dialout."""
    try:
        return Path(port).group()
    except (OSError, KeyError, NotImplementedError):
        return "dialout"


def _list_ports() -> list[str]:
    from serial.tools import list_ports

    return sorted(each.device for each in list_ports.comports())
