"""A table that compares clusterings by different methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from kaccess.base.tables import format_table
from kaccess.base.types import IntArray
from kaccess.cluster.matrix import check_access
from kaccess.cluster.quality import Quality, assess, measure_unreachable
from kaccess.cluster.validation import Clustering

__all__ = ["ComparisonRow", "Labelling", "compare", "format_comparison", "make_row"]


@dataclass(frozen=True)
class Labelling:
    """A clustering from elsewhere, given by its arrays, for `compare`.

    Args:
        labels_: (n,) cluster of each pose.
        centroid_indices_: (k,) pose index of the centroid of each cluster.
    """

    labels_: IntArray
    centroid_indices_: IntArray


@dataclass(frozen=True)
class ComparisonRow:
    """Quality of the clustering by one method.

    Args:
        name: Name of the method.
        n_clusters: Number of clusters.
        index: The paper's index I.
        coverage: Share of poses that a centroid other than the pose itself reaches.
        n_uncovered: Number of poses that no centroid reaches; `sizes` includes them.
        unreachable: Share of ordered pairs within clusters that are not reached.
        n_singletons: Number of clusters with only one pose.
        sizes: (k,) number of members of each cluster, largest first.
        landed: Share of poses at which some move from a centroid lands, whatever was
            commanded; None if it is not known where moves end.
    """

    name: str
    n_clusters: int
    index: float
    coverage: float
    n_uncovered: int
    unreachable: float
    n_singletons: int
    sizes: IntArray
    landed: float | None = None


def compare(
    access: ArrayLike, clusterings: Mapping[str, Clustering], *, alpha: float = 1.0
) -> list[ComparisonRow]:
    """Return the quality of several clusterings of the same poses, one row each.

    Args:
        access: (n, n) accessibilities in [0, 1], from row to column.
        clusterings: Fitted estimators by name of the method.
        alpha: Penalty of the index for each cluster with only one pose.
    """
    matrix = check_access(access)
    rows = []
    for name, fitted in clusterings.items():
        labels = fitted.labels_
        quality = assess(matrix, fitted.centroid_indices_, labels, alpha=alpha)
        rows.append(make_row(name, quality, measure_unreachable(matrix, labels)))
    return rows


def make_row(
    name: str, quality: Quality, unreachable: float, landed: float | None = None
) -> ComparisonRow:
    """Return the row of one method, from its quality.

    Args:
        name: Name of the method.
        quality: Quality of its clustering.
        unreachable: Share of ordered pairs within clusters that are not reached.
        landed: Share of poses at which some move from a centroid lands.
    """
    return ComparisonRow(
        name=name,
        n_clusters=len(quality.sizes),
        index=quality.index,
        coverage=quality.coverage,
        n_uncovered=len(quality.uncovered),
        unreachable=unreachable,
        n_singletons=len(quality.singletons),
        sizes=np.sort(quality.sizes)[::-1],
        landed=landed,
    )


def format_comparison(rows: Sequence[ComparisonRow]) -> str:
    """Return a table with one row for each method."""
    head = ("method", "k", "index", "coverage", "landed", "uncovered", "unreachable")
    more = ("single", "sizes (max / median / min)")
    return format_table((*head, *more), map(_format_cells, rows))


def _format_cells(row: ComparisonRow) -> list[str]:
    sizes = row.sizes
    return [
        row.name,
        f"{row.n_clusters}",
        f"{row.index:.2f}",
        f"{row.coverage:.1%}",
        "-" if row.landed is None else f"{row.landed:.1%}",
        f"{row.n_uncovered}",
        f"{row.unreachable:.1%}",
        f"{row.n_singletons}",
        f"{sizes[0]} / {sizes[len(sizes) // 2]} / {sizes[-1]}",
    ]
