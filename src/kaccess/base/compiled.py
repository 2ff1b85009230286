"""Loops that Numba compiles to machine code on first use.

NumPy's array operations would be slower. Re-centring stops reading a row at the first
entry that rules it out. Scoring a swap visits only the poses that change their cluster.
Rewards of a few robots would take a hundred array operations of 1 us each. The machine
code is cached on disk, so only the very first call compiles it.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from pickle import PickleError
from typing import Any, TypeVar, cast

import numba

from kaccess.base.damage import DAMAGE

__all__ = ["compiled", "inlined"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_DAMAGE: tuple[type[Exception], ...] = (*DAMAGE, PickleError)
_FILES: dict[int, frozenset[Path]] = {}  # source files of each compiled function


def compiled(function: _Function) -> _Function:
    """Compile `function`; cache the code on disk and release the interpreter lock."""
    made = numba.njit(cache=True, nogil=True)(function)
    used = (_FILES.get(id(value)) for value in function.__globals__.values())
    own = frozenset([Path(function.__code__.co_filename)])
    _FILES[id(made)] = own.union(*(files for files in used if files))
    _depend_on(made, _FILES[id(made)])
    return cast(_Function, made)


def inlined(function: _Function) -> _Function:
    """Compile `function` into those that call it: for the innermost of long loops.

    A call would count the references to each array in its arguments.
    """
    return cast(_Function, numba.njit(inline="always", nogil=True)(function))


def _depend_on(made: Any, files: frozenset[Path]) -> None:  # noqa: ANN401
    """Make Numba discard cached code if any of these source files has changed.

    By default Numba checks only the file of the function itself. But functions that it
    calls from other files are compiled into it, such as reward kernels.
    """
    index: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
    stats = [(str(file), file.stat()) for file in sorted(files) if file.is_file()]
    if hasattr(index, "_source_stamp"):
        index._source_stamp = [(f, stat.st_mtime_ns, stat.st_size) for f, stat in stats]
        _discard_damage(index)


def _discard_damage(index: Any) -> None:  # noqa: ANN401
    """Make Numba compile again if its files are damaged or of another version.

    By default it fails, for example if a type in them does not exist any more.
    """
    load_index, load_data = index._load_index, index._load_data

    def load_index_or_none() -> dict[Any, str]:
        with suppress(*_DAMAGE):
            return cast(dict[Any, str], load_index())
        return {}

    def load_data_or_none(name: str) -> Any:  # noqa: ANN401
        try:
            return load_data(name)
        except _DAMAGE as error:
            raise OSError(f"{name} is damaged") from error  # Numba then compiles again

    index._load_index, index._load_data = load_index_or_none, load_data_or_none
