"""Loops that Numba compiles to machine code on first use.

NumPy's array operations would be slower. Re-centring stops reading a row at the first
entry that rules it out. Scoring a swap visits only the poses that change their cluster.
Rewards of a few robots would take a hundred array operations of 1 us each. The machine
code is cached on disk, so only the very first call compiles it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_FILES: dict[int, frozenset[Path]] = {}  # source files of each compiled function


def compiled(function: _Function) -> _Function:
    """Compile `function`; cache the code on disk and release the interpreter lock."""
    made = numba.njit(cache=True, nogil=True)(function)
    used = (_FILES.get(id(value)) for value in function.__globals__.values())
    own = frozenset([Path(function.__code__.co_filename)])
    _FILES[id(made)] = own.union(*(files for files in used if files))
    _depend_on(made, _FILES[id(made)])
    return cast(_Function, made)


def _depend_on(made: Any, files: frozenset[Path]) -> None:  # noqa: ANN401
    """Make Numba discard cached code if any of these source files has changed.

    By default Numba checks only the file of the function itself. But functions that it
    calls from other files are compiled into it, such as reward kernels.
    """
    index: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
    stats = [(str(file), file.stat()) for file in sorted(files) if file.is_file()]
    if hasattr(index, "_source_stamp"):
        index._source_stamp = [(f, stat.st_mtime_ns, stat.st_size) for f, stat in stats]
