"""What is done to the files of a study, and what each command must then do."""

import io
import json
from contextlib import contextmanager

import numpy as np

from kaccess.base.json_files import CHECKSUM
from kaccess.base.tensors import read_tensors, write_tensors
from kaccess.cli import main

VALUES = (None, True, -1, 10**9, 0.5, "x", [], {}, [[]], ["x"])


def chunk_files(folder):
    """Return the files of all chunks below a folder."""
    return sorted(folder.rglob("c.*"))


@contextmanager
def replace_content(file, content):
    """Give a file another content within this block."""
    before = file.read_bytes()
    file.write_bytes(content)
    try:
        yield
    finally:
        file.write_bytes(before)


def flip_bit(file, rng):
    """Flip a random bit of a file within a block."""
    return replace_content(file, flip(file.read_bytes(), rng))


def flip(content, rng):
    damaged = bytearray(content)
    damaged[rng.integers(len(damaged))] ^= 1 << rng.integers(8)
    return bytes(damaged)


def damage(file, rng, n):
    """Yield the name of an attack and the damaged content: n of those with chance."""
    content = file.read_bytes()
    yield "empty", b""
    yield "half", content[: len(content) // 2]
    yield "one byte less", content[:-1]
    yield "junk", rng.bytes(len(content))
    for _ in range(n):
        yield "flip", flip(content, rng)
    other = {
        ".json": change_json,
        ".npz": change_npz,
        ".csv": change_csv,
        ".safetensors": change_tensors,
    }.get(file.suffix)
    if other:
        yield from other(file, rng, n)


def change_json(file, rng, n):
    content = json.loads(file.read_text())
    content.pop(CHECKSUM, None)  # else nothing but the checksum would be looked at
    places = list(list_places(content))
    yield "list", b"[]"
    for _ in range(n):
        place = places[rng.integers(len(places))]
        value = VALUES[rng.integers(len(VALUES))]
        yield f"{place} = {value}", json.dumps(put(content, place, value)).encode()
        yield f"{place} removed", json.dumps(put(content, place)).encode()


def list_places(content, place=()):
    """Yield the place of every value in a nested content."""
    if place:
        yield place
    entries = content.items() if isinstance(content, dict) else ()
    if isinstance(content, list):
        entries = enumerate(content[:3])
    for key, value in entries:
        yield from list_places(value, (*place, key))


def put(content, place, *value):
    """Return a copy of a content with another value somewhere, or without it."""
    copy = json.loads(json.dumps(content))
    inside = copy
    for key in place[:-1]:
        inside = inside[key]
    if value:
        inside[place[-1]] = value[0]
    else:
        del inside[place[-1]]
    return copy


def change_arrays(arrays):
    """Yield arrays with one that is missing, or of another shape or type."""
    for name, array in arrays.items():
        rest = {key: each for key, each in arrays.items() if key != name}
        yield f"{name} removed", rest
        if array.dtype.kind in "fiu" and array.size:
            yield f"{name} shorter", rest | {name: array[:-1]}
            yield f"{name} flat", rest | {name: array.ravel()}
            yield f"{name} NaN", rest | {name: np.full(array.shape, np.nan)}
            yield f"{name} huge", rest | {name: np.full(array.shape, 10**6)}


def change_npz(file, rng, n):
    with np.load(file) as stored:
        arrays = dict(stored)
    for name, changed in change_arrays(arrays):
        page = io.BytesIO()
        np.savez(page, **changed)
        yield name, page.getvalue()


def change_tensors(file, rng, n):
    header, arrays = read_tensors(file)
    kind = json.loads(_read_header(file))["kind"]
    draft = file.with_name("changed.tensors")
    for name, changed in [*change_arrays(arrays)][: 3 * n]:
        write_tensors(draft, kind, header, changed)
        yield name, draft.read_bytes()
    for key in header:
        write_tensors(draft, kind, header | {key: "x"}, arrays)
        yield f"{key} = x", draft.read_bytes()
    draft.unlink(missing_ok=True)


def _read_header(file):
    from safetensors import safe_open

    with safe_open(file, framework="numpy") as content:
        return content.metadata()["kaccess"]


def change_csv(file, rng, n):
    lines = file.read_text().splitlines()
    yield "head only", (lines[0] + "\n").encode()
    yield "no head", "\n".join(lines[1:]).encode()
    yield "a word", "\n".join([lines[0], lines[1].replace(",", ",x", 1)]).encode()
    yield "a cell more", "\n".join([lines[0], f"{lines[1]},1"]).encode()
    yield "other names", "\n".join([lines[0].replace("s", "z"), *lines[1:]]).encode()


def run(capsys, *args):
    """Run a command; return its exit code and all that it said."""
    code = 0
    try:
        main([str(arg) for arg in args])
    except SystemExit as error:
        code = error.code or 0
    said = capsys.readouterr()
    return code, said.out + said.err
