"""Coverage: the share of poses that some centroid reaches, with its interval."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kaccess.base.errors import ArrayError
from kaccess.base.stats import wilson
from kaccess.base.types import IntArray
from kaccess.cluster.matrix import check_access_from, is_reached

__all__ = ["Coverage", "measure_coverage"]


@dataclass(frozen=True)
class Coverage:
    """The share of poses that are reached, with its Wilson interval.

    Args:
        share: Number of poses reached / number of poses.
        low: Lower end of the interval.
        high: Upper end of the interval.
        n_reached: Number of poses that some centroid reaches.
        n_poses: Number of poses.
    """

    share: float
    low: float
    high: float
    n_reached: int
    n_poses: int


def measure_coverage(
    access_from_centroids: ArrayLike,
    *,
    centroid_indices: IntArray | None = None,
    confidence: float = 0.95,
) -> Coverage:
    """Return the share of poses that some centroid reaches.

    For poses that were not clustered, this is an unbiased estimate of the share among
    all poses drawn in the same way. For the clustered poses it is too high, because
    the centroids were chosen to reach them.

    Args:
        access_from_centroids: (k, m) access from each centroid to each of m poses.
        centroid_indices: (k,) indices of the centroids among the m poses, if they are
            among them. Then a centroid does not count as reaching itself.
        confidence: Confidence level of the interval, in (0, 1).
    """
    if not 0.0 < confidence < 1.0:
        raise ArrayError(f"`confidence` must lie in (0, 1), got {confidence}.")
    hits = is_reached(check_access_from(access_from_centroids))
    if centroid_indices is not None:
        hits[np.arange(len(hits)), centroid_indices] = False
    n_reached, n_poses = int(hits.any(axis=0).sum()), hits.shape[1]
    share = wilson(n_reached, n_poses, confidence=confidence)
    return Coverage(share.value, share.low, share.high, n_reached, n_poses)
