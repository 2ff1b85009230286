"""Hostile texts as names, notes and paths: shown as text, refused, never executed."""

import os
import re
import string
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from kaccess import InputError
from kaccess.base.csv_files import read_csv, write_csv
from kaccess.base.json_files import read_json, write_json
from kaccess.report.page.parts import Missing, Section, Table
from kaccess.report.page.write import _render_html
from kaccess.study.names import check_name
from kaccess.study.settings_file import find_study

COMMAND = "touch PWNED"
ROOT = Path(__file__).parents[2]
SEEDS = [
    "<script>X</script>",
    "<img src=x onerror=X>",
    '"><svg onload=X>',
    "</script><script>X</script>",
    "javascript:X",
    "{{ X }}",
    "{% import os %}{{ os.system('X') }}",
    "{0.__class__.__init__.__globals__}",
    "${X}",
    "$(X)",
    "`X`",
    "; X;",
    "| X",
    "& X &",
    "\nX\n",
    "%n%s%p",
    "../../X",
    "/etc/X",
    "~/X",
    "-oX",
    "--help",
    "\x00X",
    "\x1b[2J\x1b]0;X\x07",
    "__import__('os').system('X')",
    "!!python/object/apply:os.system ['X']",
    "=cmd|'X'!A0",
    "' OR 1=1; DROP TABLE X",
    "\u202eX",
    "\U0001f600X",
    "CON",
    "." * 300,
]
N = 1000


def make_strings(n=N):
    """Return n hostile texts: the seeds with a command, then mixtures of them."""
    rng = np.random.default_rng(0)
    texts = [seed.replace("X", COMMAND) for seed in SEEDS]
    letters = string.printable
    while len(texts) < n:
        first, second = rng.choice(len(SEEDS), 2)
        noise = "".join(letters[i] for i in rng.integers(len(letters), size=3))
        text = f"{SEEDS[first]}{noise}{SEEDS[second]}".replace("X", COMMAND)
        texts.append(text)
    return texts


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, in which no command may leave a file."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not list(tmp_path.rglob("PWNED*"))


def test_names_are_letters_or_refused(folder):
    for text in make_strings():
        try:
            name = check_name(text, "a task")
        except InputError:
            continue
        assert re.fullmatch(r"\w[\w.-]*", name)


def test_files_return_texts_as_they_were(folder):
    texts = make_strings()
    plain = [text for text in texts if "\x00" not in text and "\r" not in text]
    write_json(folder / "x.json", {"texts": plain})
    assert read_json(folder / "x.json") == {"texts": plain}
    write_csv(folder / "x.csv", [{"text": text} for text in plain])
    assert [row["text"] for row in read_csv(folder / "x.csv", "")] == plain


class Elements(HTMLParser):
    """Counts the elements of a page by name and names of attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = Counter()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found[tag, tuple(name for name, _ in attrs)] += 1


def render(texts):
    """Return a page that shows each text in many places."""
    parts = [Table(text, (text,), [[text]], text) for text in texts]
    parts += [Missing(text, text) for text in texts]
    sections = [Section("x", texts[0], texts[1], parts)]
    robot, album = SimpleNamespace(name=texts[2]), SimpleNamespace(note=texts[3])
    contents = SimpleNamespace(
        poses=SimpleNamespace(robot=robot),
        summary=SimpleNamespace(n_poses=1),
        album=album,
    )
    return _render_html(contents, sections)


def test_the_page_shows_texts_as_texts(folder):
    texts = make_strings()
    plain = Elements(render(["x"] * len(texts))).found
    assert Elements(render(texts)).found == plain


def test_paths_are_paths(folder):
    """A study of that name is made nowhere else, and nothing is executed."""
    for text in make_strings():
        try:
            find_study(folder / "studies" / text.lstrip("/~"))
        except (InputError, ValueError):
            continue


SCRIPT = """
import sys
from kaccess.cli import main
from tests.hostile.test_strings import make_strings
for text in make_strings(250):
    if text.startswith("-"):
        continue
    try:
        main([*sys.argv[1:], text])
    except SystemExit as error:
        assert error.code == 2, (text, error.code)
    else:
        raise AssertionError(text)
"""
COMMANDS = [["info"], ["play"], ["export", "x", "--run"], ["evaluate", "x", "--task"]]


@pytest.mark.hostile
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_commands_refuse_texts(folder, command):
    """One process takes all of them: its start takes most of the time."""
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *command],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
