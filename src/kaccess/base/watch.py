"""Running a stage in front of somebody, or silently."""

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

__all__ = ["Watch", "run_silently"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


class Watch(Protocol):
    """Runs a stage with its arguments, shows its result, and returns it."""

    def __call__(
        self,
        stage: Callable[_Arguments, _Result],
        /,
        *args: _Arguments.args,
        **kwargs: _Arguments.kwargs,
    ) -> _Result:
        """Run a stage."""
        ...


def run_silently(
    stage: Callable[_Arguments, _Result],
    /,
    *args: _Arguments.args,
    **kwargs: _Arguments.kwargs,
) -> _Result:
    """Run a stage and show nothing."""
    return stage(*args, **kwargs)
