"""Input checks that the estimators share, and the protocol of a fitted clustering."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import validate_data

from kaccess.base.types import Array, IntArray
from kaccess.cluster.matrix import check_access

__all__ = ["Clustering", "validate_access"]


class Clustering(Protocol):
    """A fitted clustering of n poses, by any method."""

    @property
    def labels_(self) -> IntArray:
        """(n,) cluster of each pose."""

    @property
    def centroid_indices_(self) -> IntArray:
        """(k,) pose index of the centroid of each cluster."""


def validate_access(estimator: Any, access: ArrayLike) -> Array:  # noqa: ANN401
    """Return a checked accessibility matrix, (n, n), and set `n_features_in_`.

    scikit-learn converts it to floats. `check_access` checks shape and values, because
    its errors say more.
    """
    floats = validate_data(
        estimator,
        access,
        dtype=(np.float64, np.float32),
        ensure_all_finite=False,
        ensure_min_samples=0,
        ensure_min_features=0,
    )
    return check_access(floats)
