"""Stability of a clustering when the poses are resampled."""

from dataclasses import dataclass

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.cluster.k_access import KAccess

__all__ = ["Stability", "compare_resamples", "draw_resamples"]


@dataclass(frozen=True)
class Stability:
    """Variation of k and of the clusters over b bootstrap resamples of the poses.

    Args:
        k: (b,) number of clusters with the highest index on each resample.
        jaccard: (b, k) Jaccard index of each cluster of all poses with the most similar
            cluster of the resample: shared poses / poses in either, both among the
            poses drawn. NaN if none of its members was drawn.
        centroid_access: (b, k) access to each centroid of all poses from the best
            centroid of the resample; 1 if it is a centroid there too.
    """

    k: IntArray
    jaccard: Array
    centroid_access: Array


def draw_resamples(
    n_poses: int, n_resamples: int, rng: np.random.Generator
) -> list[IntArray]:
    """Return the distinct poses of each resample of n draws with replacement.

    A resample has about 63 % of the poses. A pose drawn twice counts once,
    because it would reach its copy in no time.
    """
    draws = rng.integers(n_poses, size=(n_resamples, n_poses))
    return [np.unique(draw) for draw in draws]


def compare_resamples(
    access: Array, model: KAccess, resamples: list[IntArray], others: list[KAccess]
) -> Stability:
    """Return how similar `model` is to the models of the resamples.

    Args:
        access: (n, n) accessibility matrix.
        model: Model fitted to all poses.
        resamples: Pose indices of each resample.
        others: Model with the best index on each resample.
    """
    pairs = list(zip(resamples, others, strict=True))
    reach = [
        access[np.ix_(poses[other.centroid_indices_], model.centroid_indices_)]
        for poses, other in pairs
    ]
    return Stability(
        k=np.array([other.n_clusters for other in others]),
        jaccard=np.array(
            [_measure_jaccard(model, poses, other) for poses, other in pairs]
        ),
        centroid_access=np.array([rows.max(axis=0) for rows in reach]),
    )


def _measure_jaccard(model: KAccess, poses: IntArray, other: KAccess) -> Array:
    """Return the Jaccard index of each cluster with the most similar one, (k,)."""
    shared = np.zeros((len(model.centroid_indices_), len(other.centroid_indices_)))
    np.add.at(shared, (model.labels_[poses], other.labels_), 1.0)
    either = shared.sum(axis=1)[:, None] + shared.sum(axis=0) - shared
    best = (shared / either).max(axis=1)
    return np.where(shared.any(axis=1), best, np.nan)
