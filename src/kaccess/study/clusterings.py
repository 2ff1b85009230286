"""Clusterings as a study stores them, `clusters/<method>.json`.

Those of the poses that a task can start from are `clusters/<method>@<task>.json`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.config import ClusterConfig
from kaccess.study.access_parts import AccessMatrix, as_matrix

if TYPE_CHECKING:  # scikit-learn and Numba take seconds to load
    from kaccess.cluster.methods import Fit
    from kaccess.cluster.quality import Quality

__all__ = ["StoredClustering", "check_clustering", "cut"]


@dataclass(frozen=True, eq=False)
class StoredClustering:
    """Clusters of a study's poses, with their quality, which is computed once.

    Args:
        access: (n, n) accessibility matrix of the study.
        centroids: (k,) pose index of each centroid.
        labels: (n,) cluster of each pose; -1 if the task cannot start from it.
        alpha: Penalty of the index for each cluster of one pose.
        curve: Index, coverage and singletons over k, if the index chose k.
        stored: Everything else in the file.
    """

    access: AccessMatrix
    centroids: IntArray
    labels: IntArray
    alpha: float
    curve: Mapping[str, Sequence[float]] | None
    stored: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, access: Array, config: ClusterConfig, fit: "Fit", members: IntArray
    ) -> "StoredClustering":
        """Return a clustering of some poses, (m,), that was just fitted."""
        labels = np.full(len(access), -1)
        labels[members] = fit.model.labels_
        return cls(
            as_matrix(access),
            members[fit.model.centroid_indices_],
            labels,
            config.alpha,
            None if fit.curve is None else vars(fit.curve),
            {"settings": asdict(config), "stability": fit.stability},
        )

    @classmethod
    def read(
        cls,
        access: Array | AccessMatrix,
        content: Mapping[str, Any],
        *,
        whole: bool = True,
    ) -> "StoredClustering":
        """Return the clustering that a file holds.

        Args:
            access: (n, n) accessibility matrix of the study.
            content: Content of the file.
            whole: Whether each pose has a cluster.

        Raises:
            ValueError: If it is not one of these poses.
        """
        check_clustering(content, len(access), whole=whole)
        return cls(
            as_matrix(access),
            np.array(content["centroids"]),
            np.array(content["labels"]),
            float(content["settings"].get("alpha", 1.0)),
            content.get("curve"),
            content,
        )

    def content(self) -> dict[str, Any]:
        """Return what the file holds."""
        quality = self.quality
        return {
            "settings": self.stored["settings"],
            "k": len(self.centroids),
            "index": quality.index,
            "coverage": quality.coverage,
            "centroids": self.centroids,
            "labels": self.labels,
            "uncovered": quality.uncovered,
            "curve": self.curve,
            "stability": self.stored["stability"],
        }

    @cached_property
    def quality(self) -> "Quality":
        """Index, coverage and sizes."""
        from kaccess.cluster.matrix import check_access_from, check_labels
        from kaccess.cluster.quality import measure_parts

        poses = self.members
        centroids = np.searchsorted(poses, self.centroids)
        quality = measure_parts(
            check_access_from(self.access.get_rows(self.centroids)[:, poses]),
            check_access_from(self.access.get_columns(self.centroids)[poses].T).T,
            centroids,
            check_labels(self.labels[poses], centroids, len(poses)),
            alpha=self.alpha,
        )
        return replace(
            quality,
            singletons=poses[quality.singletons],
            uncovered=poses[quality.uncovered],
        )

    @cached_property
    def members(self) -> IntArray:
        """(m,) poses that were clustered, ascending."""
        return np.flatnonzero(self.labels >= 0)

    def quality_with(self, alpha: float) -> "Quality":
        """Return the quality with another penalty, to compare clusterings by it."""
        quality = self.quality
        shift = (self.alpha - alpha) * len(quality.singletons)
        return replace(quality, index=quality.index + shift)

    @cached_property
    def unreachable(self) -> float:
        """Share of ordered pairs within clusters that are not reached."""
        from kaccess.cluster.quality import measure_unreachable

        return measure_unreachable(self.access.iterate(), self.labels)

    @cached_property
    def by_size(self) -> IntArray:
        """(k,) the clusters, largest first."""
        return np.argsort(-self.quality.sizes, kind="stable")


def check_clustering(content: Mapping[str, Any], n: int, *, whole: bool = True) -> None:
    """Raise `ValueError` if the content of a file is no clustering of n poses.

    Args:
        content: Content of the file.
        n: Number of poses.
        whole: Whether each pose has a cluster.
    """
    centroids, labels = np.array(content["centroids"]), np.array(content["labels"])
    least, k = 0 if whole else -1, len(centroids)
    if len(labels) != n or not _are_between(least, labels, k):
        raise ValueError(f"`labels` must be {n} numbers from {least} to {k - 1}")
    if len(set(content["centroids"])) < k or not _are_between(0, centroids, n):
        raise ValueError(f"`centroids` must be different poses below {n}")
    if len({len(each) for each in (content.get("curve") or {}).values()}) > 1:
        raise ValueError("the lists of `curve` must have the same length")


def cut(access: Array, poses: IntArray) -> Array:
    """Return the matrix, (n, n), of only some poses, (m,); itself if of all."""
    return access if len(poses) == len(access) else access[np.ix_(poses, poses)]


def _are_between(least: int, values: IntArray, end: int) -> bool:
    """Return whether there are values, and all are from `least` to `end` - 1."""
    return bool(len(values) and ((values >= least) & (values < end)).all())
