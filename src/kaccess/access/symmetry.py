"""Check that transitions between mirrored poses are mirror images.

In exact arithmetic they are. In floating point, the two simulations differ by rounding
and may end differently when a robot balances on an edge. This check measures how often.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.access.estimate import Outcome, estimate_pairs
from kaccess.base.errors import InputError
from kaccess.config import AccessConfig
from kaccess.engines import Engine
from kaccess.poses import Poses

__all__ = ["MirrorCheck", "check_mirror"]

_MIN_AGREEMENT = 0.95


@dataclass(frozen=True)
class MirrorCheck:
    """How well transitions agree with their mirror images.

    Args:
        pairs: Number of transitions simulated together with their mirror images.
        agreeing: Transitions where both or neither reached the goal.
        largest_difference: Largest difference in time where both reached it [s].
    """

    pairs: int
    agreeing: int
    largest_difference: float


def check_mirror(
    poses: Poses, config: AccessConfig, *, engine: Engine, n_pairs: int = 512
) -> MirrorCheck:
    """Simulate some transitions and their mirror images, and compare them.

    Args:
        poses: n poses; pose 2i + 1 mirrors pose 2i.
        config: Time limit, and tolerances within which a pose counts as reached.
        engine: Simulator.
        n_pairs: Number of random transitions.

    Raises:
        InputError: If less than 95 % agree.
    """
    rng = np.random.default_rng(0)
    n = len(poses)
    source = rng.integers(n, size=n_pairs)
    goal = (source + rng.integers(1, n, size=n_pairs)) % n  # another pose
    here = estimate_pairs(poses, source, goal, config, engine=engine)
    there = estimate_pairs(poses, source ^ 1, goal ^ 1, config, engine=engine)
    reached = [side.outcomes == Outcome.REACHED for side in (here, there)]
    both = reached[0] & reached[1]
    difference = np.abs(here.times[both] - there.times[both])
    agreeing = int((reached[0] == reached[1]).sum())
    if agreeing < _MIN_AGREEMENT * n_pairs:
        raise InputError(
            f"Transitions of {poses.robot.name} often end differently from their "
            f"mirror images: only {agreeing} of {n_pairs} agree. Sample without "
            "`mirror`."
        )
    return MirrorCheck(
        pairs=n_pairs,
        agreeing=agreeing,
        largest_difference=float(difference.max(initial=0.0)),
    )
