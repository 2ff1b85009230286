"""A motion in the browser: its clock, and the whole viewer in Chromium."""

import http.client
import io
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from kaccess.report.play.viewer import Playback
from tests.report.browsers import chromium, needs_chromium

COMMAND = [sys.executable, "-m", "kaccess", "play"]
WIDTH, HEIGHT = 480, 400  # [pixels]
BUTTON, BEGIN = (40, 34), (70, 34)  # [pixels], positions in the panel
PANEL_BOTTOM = 130  # [pixels]


def test_playback_stops_at_the_end_and_starts_again():
    playback = Playback(2.0)
    playback.advance(0.5)
    assert (playback.time, playback.playing) == (0.5, True)
    playback.advance(5.0)
    assert (playback.time, playback.playing) == (2.0, False)
    playback.press()
    assert (playback.time, playback.playing) == (0.0, True)


def test_playback_pauses_and_goes_on():
    playback = Playback(2.0, time=0.5)
    playback.press()
    playback.advance(1.0)
    assert (playback.time, playback.playing) == (0.5, False)
    playback.press()
    playback.advance(1.0)
    assert playback.time == 1.5


def test_scrubbing_pauses_at_that_time():
    playback = Playback(2.0)
    playback.scrub(1.25)
    playback.advance(1.0)
    assert (playback.time, playback.playing) == (1.25, False)
    playback.scrub(3.0)
    assert playback.time == 2.0


def test_slow_motion_takes_longer():
    playback = Playback(2.0, speed=0.25)
    playback.advance(1.0)
    assert playback.time == 0.25


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def server():
    """The command on a machine without OpenGL: process, port and output."""
    port = free_port()
    process = subprocess.Popen(
        [
            *COMMAND,
            "bittle",
            "--poses",
            "10",
            "--seconds",
            "2",
            "--viewer",
            "--port",
            str(port),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "MUJOCO_GL": "off", "PYTHONUNBUFFERED": "1"},
        text=True,
    )
    output = wait_for_line(process, f"http://localhost:{port}/?token=")
    yield process, port, output
    process.kill()
    process.communicate()


def find_url(output):
    return re.search(r"http://\S+", output)[0]


def wait_for_line(process, text, timeout=60):
    output, until = "", time.monotonic() + timeout
    while text not in output:
        assert select.select([process.stdout], [], [], until - time.monotonic())[0]
        line = process.stdout.readline()
        assert line, output
        output += line
    return output


def look(tab):
    """Return a screenshot of the part below the panel."""
    shot = Image.open(io.BytesIO(tab.screenshot())).convert("L")
    return np.asarray(shot, float)[PANEL_BOTTOM : HEIGHT - 40]


def look_until(tab, condition, timeout=60):
    """Return the screenshot once it meets the condition and no longer changes."""
    until, before = time.monotonic() + timeout, look(tab)
    while True:
        time.sleep(0.7)
        image = look(tab)
        if condition(image) and alike(image, before):
            return image
        assert time.monotonic() < until
        before = image


def alike(one, other):
    """Return whether two screenshots are equal, except for noise of rendering."""
    return np.mean(np.abs(one - other) > 25) < 0.003


def press(tab, place):
    """Click slowly: without a GPU, Chromium draws only a few frames per second."""
    tab.mouse.move(*place)
    time.sleep(0.5)
    tab.mouse.down()
    time.sleep(0.5)
    tab.mouse.up()


@needs_chromium
@pytest.mark.slow
def test_a_browser_plays_pauses_and_scrubs(server):
    process, port, output = server
    assert "It has succeeded in fall-recovery, after" in output
    errors, requests = [], []
    with chromium("--use-angle=swiftshader", "--enable-unsafe-swiftshader") as browser:
        tab = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.on(
            "console",
            lambda message: (
                errors.append(message.text) if message.type == "error" else None
            ),
        )
        tab.on("request", lambda request: requests.append(request.url))
        with tab.expect_console_message(
            lambda message: "First remote draw frame applied" in message.text
        ):
            tab.goto(find_url(output))
        end = look_until(tab, lambda image: image.std() > 5)
        press(tab, BEGIN)
        look_until(tab, lambda image: not alike(image, end))  # and it stays there
        press(tab, BUTTON)
        look_until(tab, lambda image: alike(image, end))
    assert errors == []
    assert {url.split("/")[2] for url in requests} == {f"localhost:{port}"}
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="127.0.0.2 exists on Linux only")
def test_the_viewer_listens_on_this_machine_only(server):
    _, port, _ = server
    with pytest.raises(ConnectionRefusedError):  # another address of this machine
        socket.create_connection(("127.0.0.2", port), timeout=5)


def ask(port, path="/model", upgrade=False, **headers):
    """Return the status and the headers of the answer to a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    names.setdefault("Host", f"localhost:{port}")
    if upgrade:
        names |= {
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        }
    connection.request("GET", path, headers=names)
    answer = connection.getresponse()
    connection.close()
    return answer.status, answer.headers


def test_the_viewer_answers_only_its_own_page(server):
    process, port, output = server
    page = urlsplit(find_url(output))
    status, headers = ask(port, f"/?{page.query}", Sec_Fetch_Site="cross-site")
    assert status == 200  # from a link on any page
    cookie = headers["Set-Cookie"].split(";")[0]
    assert "HttpOnly" in headers["Set-Cookie"]
    assert "SameSite=Strict" in headers["Set-Cookie"]
    own = {"Cookie": cookie, "Origin": f"http://localhost:{port}"}
    status, headers = ask(port, **own)
    assert status == 200
    assert "Access-Control-Allow-Origin" not in headers
    assert ask(port, "/state", upgrade=True, **own)[0] == 101
    assert ask(port, "/drop", upgrade=True, **own)[0] == 403  # no uploads
    for wrong in (
        {"Cookie": ""},
        {"Cookie": f"kaccess-{port}=guess"},
        {"Host": f"evil.example:{port}"},
        {"Host": "localhost"},
        {"Origin": "https://evil.example"},
        {"Origin": f"http://localhost:{port + 1}"},
        {"Origin": "null"},
        {"Sec_Fetch_Site": "cross-site"},
    ):
        for path, upgrade in (("/model", False), ("/ui", True), ("/state", True)):
            assert ask(port, path, upgrade, **own | wrong)[0] == 403, (path, wrong)
    assert ask(port, "/?token=guess")[0] == 403
    process.send_signal(signal.SIGINT)
    assert "Traceback" not in process.stdout.read()
    assert process.wait(20) == 0


def test_a_viewer_that_cannot_be_guarded_does_not_start(clustered):
    """As with a MuJoCo whose server is built in another way."""
    script = (
        "from kaccess.report.play.guard import Guard\n"
        "from kaccess.cli import main\n"
        "Guard.refuse = lambda *_: ''\n"
        f"main(['play', {str(clustered)!r}, '--transition', '0', '1', '--viewer'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "cannot be protected" in done.stderr and "http://" not in done.stdout


def test_a_port_in_use_is_refused(clustered):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = subprocess.run(
            [
                *COMMAND,
                clustered,
                "--transition",
                "0",
                "1",
                "--viewer",
                *("--port", str(port)),
            ],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 2
    assert f"kaccess: Port {port} is already in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mujoco_without_web_viewer_is_explained(clustered):
    script = (
        "import sys; sys.modules['mujoco.studio.web_viewer'] = None\n"
        "from kaccess.cli import main\n"
        f"main(['play', {str(clustered)!r}, '--transition', '0', '1', '--viewer'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("kaccess: This MuJoCo has no web viewer (")
    assert done.stderr.endswith("Write a video instead, with --video.\n")
