"""The one physics primitive: hold joint targets until the robot lies still."""

from dataclasses import dataclass
from typing import Protocol

from kaccess.base.types import Array, BoolArray, Progress

__all__ = ["Engine", "Settled"]


@dataclass(frozen=True)
class Settled:
    """Where robots came to rest, and when.

    Args:
        qpos: (b, nq) state at the end of the quiet window, or at the time limit.
        time: (b,) start of the quiet window [s]; inf if there was none.
        diverged: (b,) whether the simulation broke down; `time` is inf there.
    """

    qpos: Array
    time: Array
    diverged: BoolArray


class Engine(Protocol):
    """A simulator that can bring a robot to rest."""

    @property
    def batch_size(self) -> int:
        """Simulations that one call should bring to keep the hardware busy."""
        ...

    def settle(
        self,
        qpos: Array,
        targets: Array,
        *,
        time_limit: float,
        progress: Progress | None = None,
    ) -> Settled:
        """Hold `targets` from rest at `qpos` until static or out of time.

        Args:
            qpos: (b, nq) states to start from, with zero velocity.
            targets: (b, nu) joint targets.
            time_limit: Simulated time by whose end the quiet window must be over [s].
            progress: Called with (simulations done, b) as work goes on.

        Returns:
            One result for each row, which depends on that row alone.
        """
        ...
