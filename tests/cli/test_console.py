import io
import sys

import pytest

from kaccess.cli import console
from kaccess.cli.console import progress_bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    return now


def test_plain_lines_tell_rate_and_time_left(capsys, clock):
    with progress_bar("Accessibility", "pairs") as update:
        update(1000, 10000)  # an earlier run did these
        for seconds in range(1, 31):
            clock[0] = seconds
            update(1000 + 100 * seconds, 10000)
        update(10000, 10000)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "Accessibility: 1,000 of 10,000 pairs",
        "Accessibility: 2,000 of 10,000 pairs, 100/s, 0:01:20 left",
        "Accessibility: 3,000 of 10,000 pairs, 100/s, 0:01:10 left",
        "Accessibility: 4,000 of 10,000 pairs, 100/s, 0:01:00 left",
        "Accessibility: 10,000 of 10,000 pairs, 300/s",
    ]


@pytest.mark.parametrize(("term", "bar"), [("xterm", True), ("dumb", False)])
def test_a_terminal_gets_a_bar_unless_it_is_dumb(monkeypatch, term, bar):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", term)
    with progress_bar("Sampling", "poses") as update:
        update(1, 4)
        update(4, 4)
    assert ("━" in screen.getvalue()) == bar
    assert "\x1b" in screen.getvalue() or not bar
    assert "poses" in screen.getvalue()
