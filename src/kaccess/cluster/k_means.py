"""K-Means++ on gravity and joint angles, the paper's KM and WKM.

It does not use accessibility: poses are close if their gravity vectors in the body
frame and their joint angles are. The number of clusters is the one with the highest
generalized Dunn index nu43 (Bezdek and Pal, 1998): the smallest distance between two
means divided by the largest diameter. A diameter is twice the mean distance to the
mean.
"""

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import validate_data

from kaccess.base.errors import ArrayError
from kaccess.base.types import Array, IntArray
from kaccess.cluster.matrix import check_n_clusters

__all__ = ["DunnKMeans", "dunn_index", "make_features"]


def make_features(
    gravity: Array, joints: Array, *, gravity_weight: float = 1.0
) -> Array:
    """Return the features of poses for `DunnKMeans`, (n, 3 + nu).

    Args:
        gravity: (n, 3) unit gravity vector in the body frame.
        joints: (n, nu) joint angles [rad].
        gravity_weight: Factor on gravity: 1 for the paper's KM, 2 for its WKM.
    """
    if gravity.shape != (len(joints), 3):
        raise ArrayError(
            f"`gravity` must have shape ({len(joints)}, 3), one row for each row of "
            f"`joints`, got {gravity.shape}. Pass both for the same poses."
        )
    return np.hstack([gravity_weight * gravity, joints])


def dunn_index(features: Array, labels: IntArray) -> float:
    """Return the generalized Dunn index nu43; larger is better.

    Args:
        features: (n, d) samples.
        labels: (n,) cluster of each, 0 ... k - 1 with k >= 2; no cluster is empty.
    """
    k = labels.max() + 1
    means = np.array([features[labels == i].mean(axis=0) for i in range(k)])
    distances = np.linalg.norm(features - means[labels], axis=1)
    diameters = 2.0 * np.bincount(labels, distances) / np.bincount(labels)
    with np.errstate(divide="ignore"):  # inf if every sample is at its mean
        return float(pdist(means).min() / diameters.max())


class DunnKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """K-Means++ with the number of clusters chosen by the generalized Dunn index.

    Args:
        n_clusters: Number of clusters; by default the one with the highest index.
        max_clusters: Largest number of clusters to try.
        n_init: Number of restarts for each number of clusters.
        random_state: Seed.

    Attributes:
        labels_: (n,) cluster of each pose.
        centroid_indices_: (k,) index of the pose nearest to each mean.
        dunn_: Index nu43 of the chosen clustering; NaN for one cluster.
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        max_clusters: int = 60,
        n_init: int = 10,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, features: Array, y: None = None) -> "DunnKMeans":
        """Cluster poses by their features, (n, d)."""
        features = validate_data(self, features, dtype=np.float64)
        fits = [self._fit_one(features, k) for k in self._list_numbers(len(features))]
        self.dunn_, best = max(fits, key=lambda fit: fit[0])
        self.labels_ = best.labels_.astype(np.intp)
        self.centroid_indices_ = _find_nearest_members(
            features, self.labels_, best.cluster_centers_
        )
        return self

    def _list_numbers(self, n: int) -> list[int]:
        """Return the numbers of clusters to try."""
        if self.n_clusters is None:
            return list(range(2, min(self.max_clusters, n - 1) + 1)) or [1]
        check_n_clusters(self.n_clusters, n)
        return [self.n_clusters]

    def _fit_one(self, features: Array, k: int) -> tuple[float, KMeans]:
        """Return the Dunn index and the fitted K-Means with k clusters."""
        model = KMeans(k, n_init=self.n_init, random_state=self.random_state)
        model.fit(features)
        return (dunn_index(features, model.labels_) if k > 1 else np.nan), model


def _find_nearest_members(features: Array, labels: IntArray, means: Array) -> IntArray:
    """Return the member nearest to each mean, (k,); ties go to the lowest index."""
    distances = np.linalg.norm(features - means[labels], axis=1)
    order = np.lexsort((distances, labels))
    _, first = np.unique(labels[order], return_index=True)
    return np.asarray(order[first])
