"""Coverage of given starts from few pairs: a sample of the poses, with an interval."""

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.stats import Interval, wilson
from kaccess.base.types import IntArray
from kaccess.pairs.lazy import LazyPairs

__all__ = ["estimate_coverage"]

_BATCH, _SHARE = 10, 0.02  # poses that are tried at once: so many, or this share


def estimate_coverage(
    pairs: LazyPairs,
    starts: IntArray,
    *,
    seed: int = 0,
    confidence: float = 0.95,
    half_width: float = 0.0,
) -> Interval:
    """Return the share of poses that some start reaches, with its Wilson interval.

    Poses are drawn at random. From each, the starts are tried one after the other, the
    most successful ones first, until one reaches it. A start does not reach itself.

    Args:
        pairs: Pairs to ask; only those from the starts are asked for.
        starts: (k,) pose numbers.
        seed: Seed of the draws.
        confidence: Confidence level of the interval, in (0, 1).
        half_width: Stop when the interval is no wider than twice this [-].
    """
    n, batch = len(pairs), max(_BATCH, int(_SHARE * len(pairs)))
    if pairs.room < batch * len(starts):
        raise InputError(
            f"The coverage of {len(starts)} starts needs {batch * len(starts)} pairs "
            f"or more, got {pairs.room}. Give more `pairs`."
        )
    order = np.random.default_rng([seed, n, 2]).permutation(n)
    hits, tried = np.zeros(len(starts), np.int64), np.zeros(len(starts), np.int64)
    n_reached = n_drawn = 0
    share = Interval(0.0, 0.0, 1.0)
    for at in range(0, n, batch):
        drawn = order[at : at + batch]
        reached = _try_starts(pairs, starts, drawn, hits, tried)
        if reached is None:  # the budget ended within this batch
            break
        n_reached, n_drawn = n_reached + reached, n_drawn + len(drawn)
        share = wilson(n_reached, n_drawn, confidence=confidence)
        if n_drawn == n:
            return Interval(share.value, share.value, share.value)
        if share.high - share.low <= 2 * half_width:
            break
    return share


def _try_starts(
    pairs: LazyPairs,
    starts: IntArray,
    drawn: IntArray,
    hits: IntArray,
    tried: IntArray,
) -> int | None:
    """Return how many of the drawn poses are reached; None if the budget ended."""
    left, n_reached = drawn, 0
    for start in np.argsort(-(hits + 1) / (tried + 4), kind="stable"):
        source = np.full(len(left), starts[start])
        if not pairs.ask(source, left):
            return None
        reached = np.isfinite(pairs.times[source, left]) & (left != starts[start])
        hits[start] += reached.sum()
        tried[start] += len(left)
        n_reached += int(reached.sum())
        left = left[~reached]
    return n_reached
