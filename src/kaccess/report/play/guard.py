"""A guard for MuJoCo's web viewer, which answers everybody who reaches its port.

A page in the user's browser can reach it too. So each request must name this machine as
its host, come from the viewer's own page, and bring a secret token: in the address that
the user opens, then in a cookie. Files cannot be uploaded.
"""

import hmac
import http.client
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlsplit

from mujoco.studio.web import web_server
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

__all__ = ["Guard", "guard_server", "replace_attribute"]

_UPLOADS = "/drop"
_OWN_PAGE = ("same-origin", "none")  # `none`: the user has opened the address
_PATIENCE = 10.0  # [s], in which the server must answer

_Process = Callable[[Any, Request], Response | None]


class Guard:
    """Decides which requests a viewer answers.

    Args:
        port: Port of the viewer.

    Attributes:
        url: Address to open, with the token.
    """

    def __init__(self, port: int) -> None:
        self._port, self._token = port, secrets.token_urlsafe(16)
        self._cookie = f"kaccess-{port}"  # cookies do not tell ports apart
        self._hosts = {f"{name}:{port}" for name in ("localhost", "127.0.0.1")}
        self.url = f"http://localhost:{port}/?token={self._token}"

    def wrap(self, process: _Process) -> _Process:
        """Return the handler of requests with the guard before it."""

        def guarded(connection: Any, request: Request) -> Response | None:  # noqa: ANN401
            if refusal := self.refuse(request):
                return Response(403, "Forbidden", Headers(), f"{refusal}\n".encode())
            response = process(connection, request)
            if response is not None and "token" in _parse_query(request):
                response.headers["Set-Cookie"] = (
                    f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
                )
            return response

        return guarded

    def refuse(self, request: Request) -> str:
        """Return why a request is refused; empty if it is not."""
        headers = request.headers
        origins = {f"http://{host}" for host in self._hosts}
        if headers.get_all("Host") not in [[host] for host in self._hosts]:
            return "wrong host"
        if not set(headers.get_all("Origin")) <= origins:
            return "wrong origin"
        if self._is_token(*_parse_query(request).get("token", [])):
            pass  # the user has opened the address, from wherever
        elif not self._is_token(*self._find_cookies(request)):
            return "open the address that kaccess has printed, with its token"
        elif headers.get("Sec-Fetch-Site", "none") not in _OWN_PAGE:
            return "wrong site"
        if urlsplit(request.path).path == _UPLOADS:
            return "uploads are off"
        return ""

    def _is_token(self, *texts: str) -> bool:
        secret = self._token.encode()
        return any(hmac.compare_digest(text.encode(), secret) for text in texts)

    def _find_cookies(self, request: Request) -> list[str]:
        """Return the viewer's cookie, if there is one."""
        cookies: SimpleCookie = SimpleCookie()
        for line in request.headers.get_all("Cookie"):
            try:
                cookies.load(line)
            except CookieError:
                continue
        return [cookies[self._cookie].value] if self._cookie in cookies else []

    def stands(self) -> bool:
        """Return whether the server runs and refuses a request without token."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=1)
            try:
                connection.request("GET", "/model")
                return connection.getresponse().status == 403
            except OSError:  # it does not listen yet
                time.sleep(0.05)
            finally:
                connection.close()
        return False


@contextmanager
def guard_server(guard: Guard) -> Iterator[None]:
    """Put a guard before the server that MuJoCo starts within this block."""

    def serve(*args: Any, process_request: _Process, **kwargs: Any) -> Any:  # noqa: ANN401
        kwargs["process_request"] = guard.wrap(process_request)
        kwargs["process_response"] = _close_to_others  # MuJoCo opens it to all pages
        return original(*args, **kwargs)

    original = web_server.serve
    with replace_attribute(web_server, "serve", serve):
        yield


@contextmanager
def replace_attribute(owner: Any, name: str, value: object) -> Iterator[None]:  # noqa: ANN401
    """Replace something in a module of MuJoCo within this block."""
    original = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _parse_query(request: Request) -> dict[str, list[str]]:
    return parse_qs(urlsplit(request.path).query)


def _close_to_others(connection: Any, request: Request, response: Response) -> None:  # noqa: ANN401
    """Let no other page read a response."""
    wanted = {
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",  # MuJoCo's page needs threads
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
    }
    for name in ("Access-Control-Allow-Origin", *wanted):
        if name in response.headers:
            del response.headers[name]
    response.headers.update(wanted)
