"""Checks of the accessibility matrix, and the meaning of "reached".

`access[i, j]` in [0, 1] is how easily pose j is reached *from* pose i. Pairs that are
not reached have the value 1e-8 (`FLOOR`) instead of 0, so that logarithms stay finite.
"""

import warnings
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from kaccess.base.errors import ArrayError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import FLOOR

__all__ = [
    "FLOOR",
    "check_access",
    "check_access_from",
    "check_centroids",
    "check_labels",
    "check_n_clusters",
    "is_reached",
]

_ATOL_DIAGONAL = 1e-6


def is_reached(access: Array) -> BoolArray:
    """Return whether each pose is reached, in the shape of `access`."""
    return np.asarray(access > access.dtype.type(FLOOR))


def check_access(access: ArrayLike) -> Array:
    """Return a square accessibility matrix ready for use.

    Args:
        access: (n, n) accessibilities in [0, 1], from row to column.

    Returns:
        (n, n) C-contiguous float32 or float64 array with ones on its diagonal and no
        entry below `FLOOR`. It is `access` itself if nothing had to change.

    Raises:
        ArrayError: If it is not square, or is empty, has NaN or leaves [0, 1].
    """
    matrix = _convert_to_floats(access, "access")
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ArrayError(
            "`access` must be a square matrix of accessibilities from pose to pose, "
            f"got shape {matrix.shape}. Pass the matrix, not the poses."
        )
    return _set_unit_diagonal(_check_values(matrix, "access"))


def check_access_from(access: ArrayLike, n_rows: int | None = None) -> Array:
    """Return accessibilities from centroids (rows) to other poses, ready for use.

    Args:
        access: (k, m) accessibilities in [0, 1], from row to column.
        n_rows: Expected number of rows, if known.

    Raises:
        ArrayError: As for `check_access`, or if the number of rows differs.
    """
    matrix = _convert_to_floats(access, "access_from_centroids")
    if matrix.ndim != 2 or n_rows not in (None, len(matrix)):
        raise ArrayError(
            "`access_from_centroids` must have one row per centroid "
            f"({'k' if n_rows is None else n_rows}) and one column per pose, got shape "
            f"{matrix.shape}. Pass `access[centroid_indices]`."
        )
    return _check_values(matrix, "access_from_centroids")


def check_n_clusters(n_clusters: int, n_poses: int) -> None:
    """Raise `ArrayError` unless 1 <= n_clusters <= n_poses."""
    if not isinstance(n_clusters, Integral):
        raise ArrayError(
            f"`n_clusters` must be a whole number, got {n_clusters}. Pass an int."
        )
    if not 1 <= n_clusters <= n_poses:
        raise ArrayError(
            f"`n_clusters` must lie in [1, {n_poses}], the number of poses, got "
            f"{n_clusters}. Ask for fewer clusters or sample more poses."
        )


def check_centroids(centroid_indices: ArrayLike, n_poses: int) -> IntArray:
    """Return centroids as an array, (k,); raise `ArrayError` unless distinct poses."""
    centroids = np.asarray(centroid_indices)
    good = centroids.ndim == 1 and len(centroids) > 0 and centroids.dtype.kind in "iu"
    if not good or len(np.unique(centroids)) < len(centroids):
        raise ArrayError(
            "`centroid_indices` must be a list of distinct pose indices, got "
            f"{centroids}. Pass each pose index once."
        )
    if centroids.min() < 0 or centroids.max() >= n_poses:
        raise ArrayError(
            f"`centroid_indices` must lie in [0, {n_poses - 1}], got values from "
            f"{centroids.min()} to {centroids.max()}. Pass row indices."
        )
    return centroids


def check_labels(labels: ArrayLike, centroids: IntArray, n_poses: int) -> IntArray:
    """Return labels as an array, (n,); raise `ArrayError` if they do not fit."""
    array, k = np.asarray(labels), len(centroids)
    if array.shape != (n_poses,):
        raise ArrayError(
            f"`labels` must have shape ({n_poses},), one per pose, got {array.shape}. "
            "Pass the labels of all poses."
        )
    if array.min() < 0 or array.max() >= k or (array[centroids] != np.arange(k)).any():
        raise ArrayError(
            f"`labels` must lie in [0, {k - 1}] and put centroid i into cluster i, got "
            f"{array[centroids][:10]} for the centroids. Pass labels and centroids of "
            "the same clustering."
        )
    return array


def _convert_to_floats(access: ArrayLike, name: str) -> Array:
    """Return a C-contiguous float array; copy only if needed."""
    matrix = np.asarray(access)
    if matrix.dtype not in (np.float32, np.float64):
        if matrix.dtype.kind not in "buif":
            raise ArrayError(
                f"`{name}` must be real numbers, got {matrix.dtype}. Pass floats."
            )
        matrix = matrix.astype(np.float64)
    return np.ascontiguousarray(matrix)


def _check_values(matrix: Array, name: str) -> Array:
    """Return the matrix with no entry below `FLOOR`; raise `ArrayError` if bad."""
    if matrix.size == 0:
        raise ArrayError(
            f"`{name}` is empty, with shape {matrix.shape} and 0 sample(s). Sample "
            "poses and estimate their accessibility first."
        )
    low, high = matrix.min(), matrix.max()
    if np.isnan(low):
        missing = int(np.isnan(matrix).sum())
        raise ArrayError(
            f"`{name}` must not have NaN, got {missing} NaN of {matrix.size} pairs: "
            "the estimate is unfinished. Run `kaccess access` again to resume it."
        )
    if low < 0.0 or high > 1.0:
        raise ArrayError(
            f"`{name}` must lie in [0, 1], got values from {low:.3g} to {high:.3g}. "
            "Did you pass times? Pass `np.exp(-times)`, with time inf if not reached."
        )
    return np.maximum(matrix, matrix.dtype.type(FLOOR)) if low < FLOOR else matrix


def _set_unit_diagonal(matrix: Array) -> Array:
    """Return the matrix with ones on its diagonal; warn if it had other values."""
    diagonal = np.diagonal(matrix)
    wrong = int((np.abs(diagonal - 1.0) > _ATOL_DIAGONAL).sum())
    if wrong:
        warnings.warn(
            f"{wrong} of {len(matrix)} diagonal entries of `access` are not 1; they "
            "are taken as 1, because a pose reaches itself at once.",
            stacklevel=4,
        )
    if (diagonal != 1.0).any():
        matrix = matrix.copy()
        np.fill_diagonal(matrix, 1.0)
    return matrix
