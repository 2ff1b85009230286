"""Coverage: the share of poses that some centroid reaches, with its uncertainty."""

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
    """A share of poses, with the Wilson interval around it.

    Args:
        share: Poses reached / poses.
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

    On poses that the clustering has not seen, this estimates the share among all poses
    that can be drawn the same way, and the interval is honest. On the clustered poses
    themselves it is optimistic, since the centroids were chosen for them.

    Args:
        access_from_centroids: (k, m) access from each centroid to each of m poses.
        centroid_indices: (k,) which of the m poses are the centroids, if they are
            among them. That a centroid reaches itself does not count.
        confidence: Of the interval, in (0, 1).
    """
    if not 0.0 < confidence < 1.0:
        raise ArrayError(f"`confidence` must lie in (0, 1), got {confidence}.")
    hits = is_reached(check_access_from(access_from_centroids))
    if centroid_indices is not None:
        hits[np.arange(len(hits)), centroid_indices] = False
    n_reached, n_poses = int(hits.any(axis=0).sum()), hits.shape[1]
    share = wilson(n_reached, n_poses, confidence=confidence)
    return Coverage(share.value, share.low, share.high, n_reached, n_poses)
