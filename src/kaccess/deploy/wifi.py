"""A link over Wi-Fi: the WebSocket of BiBoard's firmware.

It takes tasks in JSON, one at a time, and returns what the board printed meanwhile. It
does not stream: to read the IMU, each task also asks for one line of it. (Source:
webServer.h of OpenCatEsp32; see `boards` for the commit.)
"""

import base64
import json
import time
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from kaccess.base.errors import InputError
from kaccess.deploy.link import LinkLostError

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

__all__ = ["WifiLink"]

_PORT = 81
_PATIENCE = 5.0  # [s], to connect
_STREAM_ON, _STREAM_OFF = b"gP\n", b"gp\n"
_ASK = "gp"  # one line of the IMU
_LOST = 2.0  # [s] without an answer, after which a task counts as lost


class WifiLink:
    """A link to a robot in the Wi-Fi network.

    Args:
        host: Its address, such as 192.168.1.20.
        port: Port of its WebSocket.

    Raises:
        InputError: If nobody answers there.
        ImportError: If websockets is not installed.
    """

    def __init__(self, host: str, port: int = _PORT) -> None:
        self._ends = ExitStack()
        self._socket = _connect(host, port, self._ends)
        self._waiting: deque[bytes] = deque()
        self._received = bytearray()
        self._streams, self._task, self._sent_at = False, 0, -_LOST
        self._busy = False

    def write(self, data: bytes) -> None:
        """Send a message, as soon as the board has finished the last one."""
        if data in (_STREAM_ON, _STREAM_OFF):
            self._streams = data == _STREAM_ON
        if data[:1] == b"I" and self._waiting and self._waiting[-1][:1] == b"I":
            self._waiting.pop()  # the newest target wins
        self._waiting.append(data)
        self._pump(0.0)

    def read(self) -> bytes:
        """Return what has arrived."""
        self._pump(0.0)
        data = bytes(self._received)
        self._received.clear()
        return data

    def now(self) -> float:
        """Return the time of the computer."""
        return time.monotonic()

    def wait(self, until: float) -> None:
        """Exchange messages until a time."""
        while (left := until - self.now()) > 0:
            self._pump(left)

    def close(self) -> None:
        """End the connection."""
        self._ends.close()

    def _pump(self, seconds: float) -> None:
        """Send what waits, and take one answer, within some time [s]."""
        import websockets

        try:
            self._send_next()
            answer = json.loads(self._socket.recv(timeout=seconds))
            self._take(answer)
            self._send_next()
        except TimeoutError:
            return
        except ValueError:
            return  # no JSON: not for us
        except (websockets.ConnectionClosed, OSError) as error:
            raise LinkLostError(f"the Wi-Fi connection is gone ({error})") from error

    def _send_next(self) -> None:
        if self._busy and self.now() - self._sent_at < _LOST:
            return
        commands = [_encode(self._waiting.popleft())] if self._waiting else []
        if self._streams:
            commands.append(_ASK)
        self._busy = bool(commands)
        if not commands:
            return
        self._task += 1
        self._sent_at = self.now()
        task = {"type": "command", "taskId": str(self._task), "commands": commands}
        self._socket.send(json.dumps(task))

    def _take(self, answer: dict[str, Any]) -> None:
        """Take in an answer; a task is over when it is completed or refused."""
        if answer.get("type") != "response" or answer.get("status") == "running":
            return
        if answer.get("taskId") == str(self._task):
            self._busy = False
        for result in answer.get("results", ()):
            self._received += str(result).encode()
            if not self._received.endswith(b"\n"):
                self._received += b"\n"


def _encode(message: bytes) -> str:
    """Return a message without its end, as the board's WebSocket takes it."""
    return "b64:" + base64.b64encode(message[:-1]).decode("ascii")


def _connect(host: str, port: int, ends: ExitStack) -> "ClientConnection":
    try:
        from websockets.exceptions import WebSocketException
        from websockets.sync.client import connect
    except ImportError as error:
        raise ImportError(
            "Wi-Fi needs websockets, which is not installed. Run "
            "`pip install 'kaccess[deploy]'`."
        ) from error
    try:
        made = connect(f"ws://{host}:{port}", open_timeout=_PATIENCE)
        return ends.enter_context(made)
    except (OSError, TimeoutError, WebSocketException) as error:
        raise InputError(
            f"No robot answers at {host}:{port} ({error}). Send it the name of your "
            "network once over the cable, w%NAME%PASSWORD, and take the address that "
            "it prints."
        ) from error
