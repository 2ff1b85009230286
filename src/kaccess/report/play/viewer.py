"""A motion in the browser, with play, pause and a time slider.

MuJoCo's own web viewer draws it. Its server runs here and sends the page with its
fonts; the browser renders. So it needs no screen, no OpenGL and no network.
"""

import logging
import os
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mujoco

from kaccess.base.errors import InputError
from kaccess.envs.camera import AZIMUTH, ELEVATION, find_distance
from kaccess.report.play.clip import Clip

try:
    from mujoco.studio import launch_thread, messages, plugin, viewer_protocol
    from mujoco.studio import web_viewer as mujoco_viewer
    from mujoco.studio.dear_imgui import dear_imgui as imgui

    from kaccess.report.play.guard import Guard, guard_server, replace_attribute
except ImportError as error:
    raise ImportError(
        f"This MuJoCo has no web viewer ({error}). Write a video instead, with --video."
    ) from error

__all__ = ["Playback", "show"]

logger = logging.getLogger(__name__)

_UNGUARDED = (
    "The web viewer of this MuJoCo cannot be protected from other pages in the "
    "browser. Write a video instead, with --video."
)
_FRAME = 1 / 60  # [s] between states sent to the browser
_LONGEST_FRAME = 0.5  # [s]; a longer pause means that no browser was connected
_FARTHER = 1.7  # factor on the distance of MuJoCo's camera: the panel needs room


@dataclass
class Playback:
    """Clock of a motion.

    Args:
        length: Duration of the motion [s].
        time: Current time in the motion [s].
        playing: Whether the clock runs.
        speed: Speed of the clock; 1 is real time [-].
    """

    length: float
    time: float = 0.0
    playing: bool = True
    speed: float = 1.0

    def press(self) -> None:
        """Play or pause; at the end, play from the beginning."""
        if self.time >= self.length:
            self.time = 0.0
        self.playing = not self.playing

    def scrub(self, seconds: float) -> None:
        """Go to a time [s], and pause."""
        self.time, self.playing = min(max(seconds, 0.0), self.length), False

    def advance(self, seconds: float) -> None:
        """Advance the clock by some real time [s]."""
        if self.playing:
            self.time = min(self.time + self.speed * seconds, self.length)
            self.playing = self.time < self.length


def show(
    clip: Clip, *, port: int = 0, announce: Callable[[str], None] = logger.info
) -> None:
    """Show a motion to a browser on this machine until Ctrl-C.

    Args:
        clip: The motion.
        port: Port to listen on; 0 takes the first free port from 8080 on.
        announce: Called with the address to open. Nobody else should see it: it has a
            token, without which the viewer does not answer.

    Raises:
        InputError: If the port is taken.
    """
    playback = Playback(clip.length)
    data = mujoco.MjData(clip.robot.model)
    with _server(_Panel(playback, clip), port, announce) as handle:
        handle.set_model(clip.robot.model, data=data)
        while handle.is_running():
            data.qpos[:], data.time = clip.at(playback.time), playback.time
            handle.sync()
            time.sleep(_FRAME)


@contextmanager
def _server(
    panel: "_Panel", port: int, announce: Callable[[str], None]
) -> Iterator[Any]:
    config = viewer_protocol.ViewerConfig(
        title="kaccess", gfx="web", http_port=port, open_browser=False
    )

    def serve(endpoint: Any) -> None:  # noqa: ANN401  # MuJoCo has no types
        try:
            viewer = _make_viewer(config, endpoint, panel)
        except RuntimeError as error:  # the port is taken
            raise InputError(str(error)) from error
        announce(viewer.guard.url)
        _open_browser(viewer.guard.url)
        viewer_protocol.run_viewer_loop(viewer)

    try:
        with launch_thread.launch_thread(serve) as handle:
            yield handle
    except KeyboardInterrupt:
        pass  # the usual end


def _make_viewer(config: Any, endpoint: Any, panel: "_Panel") -> "_LocalViewer":  # noqa: ANN401
    """Start a viewer; MuJoCo's banner is not shown: its address has no token."""
    try:
        with replace_attribute(mujoco_viewer, "_print_url_banner", lambda *_: None):
            return _LocalViewer(config, endpoint, plugins=[panel])
    except AttributeError as error:
        raise InputError(_UNGUARDED) from error


def _open_browser(url: str) -> None:
    """Open the address, if there is a screen."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform != "linux" or any(map(os.environ.get, screens)):
        threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()


class _LocalViewer(mujoco_viewer.WebViewer):  # type: ignore[misc]  # no types
    """A viewer for this user only; MuJoCo's answers everybody, on all networks."""

    guard: Guard
    _host = property(lambda self: "127.0.0.1", lambda self, value: None)

    def _start_server(self) -> None:
        """Start the server behind a guard."""
        self.guard = Guard(self._http_port)
        with guard_server(self.guard):
            super()._start_server()
            if not self.guard.stands():
                self.close()
                raise InputError(_UNGUARDED)


class _Panel(plugin.ViewerPlugin):  # type: ignore[misc]  # MuJoCo has no types
    """Button and sliders on top of the picture."""

    def __init__(self, playback: Playback, clip: Clip) -> None:
        self._playback, self._clip = playback, clip
        self._last_frame: float | None = None  # time of the last frame [s]

    @messages.handler  # type: ignore[untyped-decorator]  # MuJoCo has no types
    def on_post_model(self, event: messages.PostModelEvent) -> None:
        """Place the camera so that the whole robot is visible."""
        camera, model = self.viewer.camera, event.model
        mujoco.mjv_defaultFreeCamera(model, camera)
        camera.lookat[:] = self._clip.qpos[:, :3].mean(axis=0)
        camera.azimuth, camera.elevation = AZIMUTH, ELEVATION
        camera.distance = _FARTHER * find_distance(model)

    @messages.handler  # type: ignore[untyped-decorator]  # MuJoCo has no types
    def on_gui(self, _: messages.BuildGuiEvent) -> None:
        """Draw the panel; MuJoCo calls this only while a browser is connected."""
        self._advance()
        playback = self._playback
        imgui.SetNextWindowPos(imgui.Vec2(16, 16), imgui.Cond.FirstUseEver.value)
        imgui.SetNextWindowSize(imgui.Vec2(440, 110), imgui.Cond.FirstUseEver.value)
        imgui.Begin("Motion", flags=imgui.WindowFlags.NoTitleBar.value)
        pressed = imgui.Button("Pause" if playback.playing else "Play")
        if pressed or imgui.IsKeyPressed(imgui.Key.Space, False):
            playback.press()
        imgui.SameLine()
        moved, seconds = imgui.SliderFloat(
            "time", playback.time, 0.0, playback.length, "%.2f s"
        )
        if moved:
            playback.scrub(seconds)
        _, playback.speed = imgui.SliderFloat(
            "speed", playback.speed, 0.1, 1.0, "%.2f x"
        )
        imgui.TextWrapped(self._clip.outcome)
        imgui.End()

    def _advance(self) -> None:
        now = time.monotonic()
        passed = 0.0 if self._last_frame is None else now - self._last_frame
        self._playback.advance(min(passed, _LONGEST_FRAME))
        self._last_frame = now
