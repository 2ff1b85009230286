"""How much of a clustering comes back when the poses are resampled."""

from dataclasses import dataclass

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.cluster.k_access import KAccess

__all__ = ["Stability", "compare_resamples", "draw_resamples"]


@dataclass(frozen=True)
class Stability:
    """How the choice of k and of the centroids varies over b resamples of the poses.

    Args:
        k: (b,) number of clusters with the highest index on each resample.
        jaccard: (b, k) likeness of each chosen cluster, cut down to the resample, to
            the most similar cluster found there: shared poses / poses in either. NaN
            where none of its members was drawn.
        centroid_access: (b, k) access to each chosen centroid from the best centroid
            found on the resample; 1 where it was chosen again.
    """

    k: IntArray
    jaccard: Array
    centroid_access: Array


def draw_resamples(
    n_poses: int, n_resamples: int, rng: np.random.Generator
) -> list[IntArray]:
    """Return the distinct poses of n draws with replacement, about 63 % of them, each.

    A pose drawn twice counts once: its copy would be a cluster mate at no distance.
    """
    draws = rng.integers(n_poses, size=(n_resamples, n_poses))
    return [np.unique(draw) for draw in draws]


def compare_resamples(
    access: Array, model: KAccess, resamples: list[IntArray], others: list[KAccess]
) -> Stability:
    """Return how well `model` agrees with the models of the resamples.

    Args:
        access: (n, n) accessibility matrix.
        model: Fitted to all of it.
        resamples: Poses of each resample.
        others: The model with the best index on each resample.
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
    """Return the likeness of each cluster to the most similar other one, (k,)."""
    shared = np.zeros((len(model.centroid_indices_), len(other.centroid_indices_)))
    np.add.at(shared, (model.labels_[poses], other.labels_), 1.0)
    either = shared.sum(axis=1)[:, None] + shared.sum(axis=0) - shared
    best = (shared / either).max(axis=1)
    return np.where(shared.any(axis=1), best, np.nan)
