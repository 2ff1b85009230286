"""Loops that NumPy cannot express well, compiled to machine code on first use.

Numba, because these loops cannot be written as array operations without giving up what
makes them fast: re-centring stops reading a row at the first entry that rules the row
out, scoring a swap touches only the poses that change hands, and the rewards of a few
robots are a hundred array operations of a microsecond each, or one loop. The machine
code is cached on disk, so only the very first call waits.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

__all__ = ["compiled"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(function: _Function) -> _Function:
    """Compile `function`, cached on disk and free of the interpreter lock."""
    return cast(_Function, numba.njit(cache=True, nogil=True)(function))
