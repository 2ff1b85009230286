"""One table for clusterings by different methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kaccess.cluster.matrix import check_access
from kaccess.cluster.quality import assess, unreachable_share
from kaccess.cluster.validation import Clustering
from kaccess.types import IntArray

__all__ = ["ComparisonRow", "Labelling", "compare", "format_comparison"]


@dataclass(frozen=True)
class Labelling:
    """A clustering that was stored.

    Args:
        labels_: (n,) cluster of each pose.
        centroid_indices_: (k,) pose index of the centroid of each cluster.
    """

    labels_: IntArray
    centroid_indices_: IntArray


@dataclass(frozen=True)
class ComparisonRow:
    """Figures of one method.

    Args:
        name: Of the method.
        n_clusters: Number of clusters.
        index: The paper's index I, for the labels of this method.
        coverage: Share of poses that a centroid other than themselves reaches.
        n_uncovered: Number of poses that no centroid reaches; they count as members.
        unreachable: Share of ordered pairs within clusters that are not reached.
        n_singletons: Number of clusters of one pose.
        sizes: (k,) number of members of each cluster, largest first.
    """

    name: str
    n_clusters: int
    index: float
    coverage: float
    n_uncovered: int
    unreachable: float
    n_singletons: int
    sizes: IntArray


def compare(
    access: ArrayLike, clusterings: Mapping[str, Clustering], *, alpha: float = 1.0
) -> list[ComparisonRow]:
    """Return the figures of several clusterings of the same poses.

    Args:
        access: (n, n) accessibilities in [0, 1], from row to column.
        clusterings: Fitted estimators, by the name of their method.
        alpha: Penalty of the index for each cluster of one pose.
    """
    matrix = check_access(access)
    rows = []
    for name, fitted in clusterings.items():
        labels = fitted.labels_
        quality = assess(matrix, fitted.centroid_indices_, labels, alpha=alpha)
        row = ComparisonRow(
            name=name,
            n_clusters=len(quality.sizes),
            index=quality.index,
            coverage=quality.coverage,
            n_uncovered=len(quality.uncovered),
            unreachable=unreachable_share(matrix, labels),
            n_singletons=len(quality.singletons),
            sizes=np.sort(quality.sizes)[::-1],
        )
        rows.append(row)
    return rows


def format_comparison(rows: Sequence[ComparisonRow]) -> str:
    """Return the figures as lines of text, one method each, under a heading."""
    width = max([len(row.name) for row in rows], default=6)
    heading = (
        f"{'method':{width}}    k    index  coverage  uncovered  unreachable  single"
        "  sizes (max / median / min)"
    )
    return "\n".join([heading, *(_format_row(row, width) for row in rows)])


def _format_row(row: ComparisonRow, width: int) -> str:
    """Return one line of the table."""
    sizes = row.sizes
    return (
        f"{row.name:{width}}  {row.n_clusters:3d}  {row.index:7.2f}"
        f"  {row.coverage:8.1%}  {row.n_uncovered:9d}  {row.unreachable:11.1%}"
        f"  {row.n_singletons:6d}  {sizes[0]} / {sizes[len(sizes) // 2]} / {sizes[-1]}"
    )
