"""The interface of all engines: command joints until the robot is at rest."""

from dataclasses import dataclass
from typing import Protocol

from kaccess.base.types import Array, BoolArray, Progress
from kaccess.engines.motion import Motion

__all__ = ["Engine", "Settled"]


@dataclass(frozen=True)
class Settled:
    """Where and when robots came to rest.

    Args:
        qpos: (b, nq) states at the end of the quiet window, else of the simulation.
        time: (b,) start of the quiet window [s]; inf if there is none.
        diverged: (b,) whether the simulation diverged; `time` is inf there.
    """

    qpos: Array
    time: Array
    diverged: BoolArray


class Engine(Protocol):
    """A simulator."""

    @property
    def batch_size(self) -> int:
        """Simulations to pass in one call to keep the hardware busy."""
        ...

    def settle(
        self,
        qpos: Array,
        targets: Array | Motion,
        *,
        time_limit: float,
        progress: Progress | None = None,
    ) -> Settled:
        """Command `targets`, starting at rest at `qpos`, until static or out of time.

        Args:
            qpos: (b, nq) states to start from, with zero velocity.
            targets: (b, nu) joint targets to hold, or a motion of the targets. A robot
                counts as static only after its motion.
            time_limit: Simulated time after the motion within which the quiet window
                must end [s].
            progress: Called with (simulations done, b) from time to time.

        Returns:
            One result per row. It depends on that row only.
        """
        ...
