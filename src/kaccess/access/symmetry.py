"""Mirrored poses: are transitions of mirror images really mirror images?

They are in exact arithmetic. In floating point the two simulations differ in the last
bit and, where a fall is decided on an edge, may end apart; how often is measured, not
assumed.
"""

from dataclasses import dataclass

import numpy as np

from kaccess.access.estimate import Outcome, estimate_pairs
from kaccess.base.errors import InputError
from kaccess.config import AccessConfig
from kaccess.engines import Engine
from kaccess.poses import Poses

__all__ = ["MirrorCheck", "check_mirror"]

_LEAST_AGREEMENT = 0.95


@dataclass(frozen=True)
class MirrorCheck:
    """How well transitions agree with their simulated mirror images.

    Args:
        pairs: Transitions simulated both ways round.
        agreeing: Those that were reached both times, or neither time.
        largest_difference: Largest difference of the times of those reached [s].
    """

    pairs: int
    agreeing: int
    largest_difference: float


def check_mirror(
    poses: Poses, config: AccessConfig, *, engine: Engine, n_pairs: int = 512
) -> MirrorCheck:
    """Simulate some transitions of mirrored poses, and their mirror images.

    Args:
        poses: n poses, of which 2i + 1 mirrors 2i.
        config: Time limit and tolerances of the arrival test.
        engine: Simulator.
        n_pairs: How many transitions to try, drawn at random.

    Raises:
        InputError: If too few agree for one half to stand for the other.
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
    if agreeing < _LEAST_AGREEMENT * n_pairs:
        raise InputError(
            f"Mirror images of transitions of {poses.robot.name} often end otherwise: "
            f"only {agreeing} of {n_pairs} agree. Sample without `mirror`."
        )
    return MirrorCheck(
        pairs=n_pairs,
        agreeing=agreeing,
        largest_difference=float(difference.max(initial=0.0)),
    )
