"""Loops that NumPy cannot express well, compiled to machine code on first use.

Numba, because these loops cannot be written as array operations without giving up what
makes them fast: re-centring stops reading a row at the first entry that rules the row
out, scoring a swap touches only the poses that change hands, and the rewards of a few
robots are a hundred array operations of a microsecond each, or one loop. The machine
code is cached on disk, so only the very first call waits.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_FILES: dict[int, frozenset[Path]] = {}  # what the code of a function was made from


def compiled(function: _Function) -> _Function:
    """Compile `function`, cached on disk and free of the interpreter lock."""
    made = numba.njit(cache=True, nogil=True)(function)
    used = (_FILES.get(id(value)) for value in function.__globals__.values())
    own = frozenset([Path(function.__code__.co_filename)])
    _FILES[id(made)] = own.union(*(files for files in used if files))
    _depend_on(made, _FILES[id(made)])
    return cast(_Function, made)


def _depend_on(made: Any, files: frozenset[Path]) -> None:  # noqa: ANN401
    """Have cached code discarded when any of the files it was made from has changed.

    Numba looks at the file of the function alone, though the functions that it calls
    from other files are compiled into it: an edited reward kernel would go unnoticed.
    """
    index: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
    stats = [(str(file), file.stat()) for file in sorted(files) if file.is_file()]
    if hasattr(index, "_source_stamp"):
        index._source_stamp = [(f, stat.st_mtime_ns, stat.st_size) for f, stat in stats]
