"""Compiled code is cached, and discarded when its source changes."""

import os
import subprocess
import sys
from pathlib import Path

import kaccess

CALLEE = """
from kaccess.base.compiled import compiled

@compiled
def f(x):
    return {}
"""
CALLER = """
from kaccess.base.compiled import compiled
from callee import f

@compiled
def g(x):
    return h(x)

@compiled
def h(x):
    return f(x) + 1

print(g(10), sum(g.stats.cache_hits.values()))
"""


def run(folder):
    """Return what `caller.py` prints: a result, and the number of cache hits."""
    source = str(Path(kaccess.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "caller.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_code_is_cached_until_a_function_it_calls_changes(tmp_path):
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "callee.py").write_text(CALLEE.format("x"))
    assert run(tmp_path) == ["11", "0"]
    assert run(tmp_path) == ["11", "1"]
    (tmp_path / "callee.py").write_text(CALLEE.format("x * 2"))
    assert run(tmp_path) == ["21", "0"]


def test_damaged_code_is_compiled_again(tmp_path):
    """As after an update, when a type in the cache does not exist any more."""
    (tmp_path / "caller.py").write_text(CALLER)
    (tmp_path / "callee.py").write_text(CALLEE.format("x"))
    run(tmp_path)
    for suffix in ("nbi", "nbc"):
        files = list((tmp_path / "__pycache__").glob(f"*.{suffix}"))
        assert files
        for file in files:
            file.write_bytes(file.read_bytes()[:-9])
        assert run(tmp_path) == ["11", "0"]
        assert run(tmp_path) == ["11", "1"]
