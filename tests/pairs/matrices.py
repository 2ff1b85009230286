"""Matrices of times with a known structure, and pairs that are asked from them."""

import numpy as np

from kaccess.pairs import LazyPairs, replay_pairs


def make_times(n, n_groups, seed=0):
    """Poses in groups: the first of each reaches its group, nothing reaches the first.

    The others reach half of the others, whatever their group.
    """
    rng = np.random.default_rng(seed)
    times = np.where(rng.random((n, n)) < 0.5, 0.5, np.inf)
    hubs = np.arange(n_groups)
    group = np.arange(n) % n_groups
    times[hubs] = np.where(group == hubs[:, None], 0.4, np.inf)
    times[:, hubs] = np.inf
    np.fill_diagonal(times, 0.0)
    return times.astype(np.float32)


def ask_from(times, budget, landings=None):
    return LazyPairs(len(times), replay_pairs(times, landings), budget)
