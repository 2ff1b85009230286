"""Clusterings as a study stores them, `clusters/<method>.json`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from kaccess.base.types import Array, IntArray
from kaccess.config import ClusterConfig

if TYPE_CHECKING:  # scikit-learn and Numba take seconds to load
    from kaccess.cluster.methods import Fit
    from kaccess.cluster.quality import Quality

__all__ = ["StoredClustering", "check_clustering"]


@dataclass(frozen=True, eq=False)
class StoredClustering:
    """Clusters of a study's poses, with their quality, which is computed once.

    Args:
        access: (n, n) accessibility matrix of the study.
        centroids: (k,) pose index of each centroid.
        labels: (n,) cluster of each pose.
        alpha: Penalty of the index for each cluster of one pose.
        curve: Index, coverage and singletons over k, if the index chose k.
        stored: Everything else in the file.
    """

    access: Array
    centroids: IntArray
    labels: IntArray
    alpha: float
    curve: Mapping[str, Sequence[float]] | None
    stored: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, access: Array, config: ClusterConfig, fit: "Fit") -> "StoredClustering":
        """Return a clustering that was just fitted, to be stored."""
        return cls(
            access,
            np.asarray(fit.model.centroid_indices_),
            np.asarray(fit.model.labels_),
            config.alpha,
            None if fit.curve is None else vars(fit.curve),
            {"settings": asdict(config), "stability": fit.stability},
        )

    @classmethod
    def read(cls, access: Array, content: Mapping[str, Any]) -> "StoredClustering":
        """Return the clustering that a file holds.

        Raises:
            ValueError: If it is not one of these poses.
        """
        check_clustering(content, len(access))
        return cls(
            access,
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
        from kaccess.cluster.quality import assess

        return assess(self.access, self.centroids, self.labels, alpha=self.alpha)

    def quality_with(self, alpha: float) -> "Quality":
        """Return the quality with another penalty, to compare clusterings by it."""
        quality = self.quality
        shift = (self.alpha - alpha) * len(quality.singletons)
        return replace(quality, index=quality.index + shift)

    @cached_property
    def unreachable(self) -> float:
        """Share of ordered pairs within clusters that are not reached."""
        from kaccess.cluster.quality import measure_unreachable

        return measure_unreachable(self.access, self.labels)

    @cached_property
    def by_size(self) -> IntArray:
        """(k,) the clusters, largest first."""
        return np.argsort(-self.quality.sizes, kind="stable")


def check_clustering(content: Mapping[str, Any], n: int) -> None:
    """Raise `ValueError` if the content of a file is no clustering of n poses."""
    centroids, labels = np.array(content["centroids"]), np.array(content["labels"])
    k = len(centroids)
    if len(labels) != n or not _are_indices(labels, k):
        raise ValueError(f"`labels` must be {n} numbers from 0 to {k - 1}")
    if len(set(content["centroids"])) < k or not _are_indices(centroids, n):
        raise ValueError(f"`centroids` must be different poses below {n}")
    if len({len(each) for each in (content.get("curve") or {}).values()}) > 1:
        raise ValueError("the lists of `curve` must have the same length")


def _are_indices(values: IntArray, end: int) -> bool:
    """Return whether there are values, and all are from 0 to `end` - 1."""
    return bool(len(values) and ((values >= 0) & (values < end)).all())
