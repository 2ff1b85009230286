"""The files that travel: they stand alone, and what they share is the same in each."""

import ast
import re
import sys
from pathlib import Path
from typing import get_args

import pytest

import kaccess.exports.files
from kaccess.config import FrameworkName

(FOLDER,) = kaccess.exports.files.__path__
NAMES = [*get_args(FrameworkName), "guide"]
# What each may import besides NumPy and the standard library.
NEEDS = {
    "gymnasium": {"gymnasium"},
    "playground": {"jax"},
    "mjlab": {"torch"},
    "isaaclab": {"torch"},
    "maniskill": {"torch", "gymnasium"},
}
SHARED = ["match_joints", "load_starts", "load_states", "load_tensors"]


def read(name):
    return Path(FOLDER, f"kaccess_{name}.py").read_text("utf-8")


def find_imports(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            yield node.module.split(".")[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_needs_little_and_not_kaccess(name):
    foreign = set(find_imports(read(name))) - set(sys.stdlib_module_names)
    assert foreign == {"numpy"} | NEEDS.get(name, set())


@pytest.mark.parametrize("function", SHARED)
def test_what_files_share_is_the_same_in_each(function):
    pattern = rf"(?:@cache\n)?def {function}\(.*?\n\n\n"
    texts = [re.search(pattern, read(name), re.DOTALL) for name in NAMES]
    copies = [found.group() for found in texts if found]
    assert len(copies) >= 3 and len(set(copies)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_file_begins_with_lines_to_paste(name):
    text = ast.get_docstring(ast.parse(read(name)))
    assert re.search(r"\n {4}\S", text) and "need not be installed" in " ".join(
        text.split()
    )
