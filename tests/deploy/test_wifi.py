"""Wi-Fi: tasks in JSON, one at a time, as the board's WebSocket takes them."""

import base64
import json
import threading

import pytest
from websockets.sync.server import serve

from kaccess.base.errors import InputError
from kaccess.config import SimulateConfig
from kaccess.deploy.link import LinkLostError
from kaccess.deploy.protocol import Attitude, Lines, Note, encode_move
from kaccess.deploy.simulated import SimulatedBittle
from kaccess.deploy.wifi import WifiLink


@pytest.fixture
def board(real):
    """A board on a free port: it answers tasks with what a simulated robot prints."""
    bittle = SimulatedBittle(SimulateConfig(latency=0.0, imu_interval=0.0), robot=real)

    def answer(socket):
        socket.send(json.dumps({"type": "connected", "clientId": "0"}))
        for text in socket:
            task = json.loads(text)
            socket.send(json.dumps(reply(task, "running")))
            results = [run(bittle, each) for each in task["commands"]]
            socket.send(json.dumps(reply(task, "completed") | {"results": results}))

    with serve(answer, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield bittle, server.socket.getsockname()[1]
        server.shutdown()
        thread.join()


def reply(task, status):
    return {"type": "response", "taskId": task["taskId"], "status": status}


def run(bittle, command):
    """Carry out a command; the board adds the end that was left out."""
    message = command.encode()
    if command.startswith("b64:"):
        message = base64.b64decode(command[4:])
    bittle.receive(message + (b"~" if message[:1].isupper() else b"\n"))
    bittle.advance(bittle.now + 0.3)
    return bittle.collect().decode()


def hear(link, wanted):
    heard, lines = [], Lines()
    while not any(isinstance(line, wanted) for line in heard):
        link.wait(link.now() + 0.01)
        heard += lines.feed(link.read())
    return heard


def test_messages_and_stream_over_wifi(board):
    bittle, port = board
    link = WifiLink("127.0.0.1", port)
    link.write(b"?\n")
    assert Note("Bittle X") in hear(link, Note)
    link.write(b"gP\n")
    assert hear(link, Attitude)
    link.read()
    link.write(encode_move({8: -20}))
    while round(bittle.read_joints()[0]) > -15:
        link.wait(link.now() + 0.01)
    link.close()
    with pytest.raises(LinkLostError, match="Wi-Fi connection is gone"):
        for _ in range(100):  # answers that had arrived before come first
            link.write(b"?\n")
            link.wait(link.now() + 0.01)


def test_only_the_newest_target_waits(board):
    link = WifiLink("127.0.0.1", board[1])
    link._busy, link._sent_at = True, link.now()
    for angle in (1, 2, 3):
        link.write(encode_move({8: angle}))
    assert list(link._waiting) == [encode_move({8: 3})]
    link.close()


def test_nobody_there_is_explained():
    with pytest.raises(InputError, match=r"No robot answers at 127.0.0.1:1 .*w%NAME"):
        WifiLink("127.0.0.1", 1)
