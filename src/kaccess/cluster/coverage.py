"""Coverage: the share of poses that some centroid reaches, with its uncertainty."""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from kaccess.cluster.matrix import check_access_from, reached
from kaccess.errors import ArrayError
from kaccess.types import IntArray

__all__ = ["Coverage", "coverage"]


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


def coverage(
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
    hits = reached(check_access_from(access_from_centroids))
    if centroid_indices is not None:
        hits[np.arange(len(hits)), centroid_indices] = False
    n_reached, n_poses = int(hits.any(axis=0).sum()), hits.shape[1]
    low, high = _wilson(n_reached, n_poses, confidence)
    return Coverage(n_reached / n_poses, low, high, n_reached, n_poses)


def _wilson(n_hits: int, n: int, confidence: float) -> tuple[float, float]:
    """Return the Wilson score interval of a share."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2.0)
    share, shrink = n_hits / n, 1.0 / (1.0 + z**2 / n)
    centre = shrink * (share + z**2 / (2 * n))
    half = shrink * z * np.sqrt(share * (1.0 - share) / n + z**2 / (4 * n**2))
    return max(0.0, float(centre - half)), min(1.0, float(centre + half))
