"""Random streams of n environments, and their states as plain arrays."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kaccess.base.errors import InputError

__all__ = ["get_streams", "make_streams", "set_streams"]

Seed = int | Sequence[int]
_LOW = (1 << 64) - 1


def make_streams(
    seed: int | Sequence[Seed] | None, n: int
) -> list[np.random.Generator]:
    """Return n independent generators.

    Args:
        seed: One seed for all (stream i is `default_rng([seed, i])`), one seed each, or
            None for a different seed in each run.
        n: Number of streams.
    """
    if seed is None:
        return [np.random.default_rng() for _ in range(n)]
    if isinstance(seed, int | np.integer):
        return [np.random.default_rng([int(seed), i]) for i in range(n)]
    if len(seed) != n:
        raise InputError(
            f"`seed` must be one number, or one for each of the {n} environments, got "
            f"{len(seed)}."
        )
    return [np.random.default_rng(each) for each in seed]


def get_streams(streams: Sequence[np.random.Generator]) -> NDArray[np.uint64]:
    """Return the states of PCG64 generators, (n, 6)."""
    rows = []
    for stream in streams:
        full = stream.bit_generator.state
        state, inc = full["state"]["state"], full["state"]["inc"]
        rest = [full["has_uint32"], full["uinteger"]]
        rows.append([state >> 64, state & _LOW, inc >> 64, inc & _LOW, *rest])
    return np.array(rows, np.uint64)


def set_streams(states: NDArray[np.uint64]) -> list[np.random.Generator]:
    """Return generators that continue from states that `get_streams` returned."""
    streams = []
    for state_high, state_low, inc_high, inc_low, has_uint32, uinteger in states:
        bits = np.random.PCG64()
        bits.state = {
            "bit_generator": "PCG64",
            "state": {
                "state": (int(state_high) << 64) | int(state_low),
                "inc": (int(inc_high) << 64) | int(inc_low),
            },
            "has_uint32": int(has_uint32),
            "uinteger": int(uinteger),
        }
        streams.append(np.random.Generator(bits))
    return streams
