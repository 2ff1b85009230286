"""A table that compares clusterings by different methods."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import adjusted_mutual_info_score

from kaccess.base.tables import format_table
from kaccess.base.types import BoolArray, IntArray
from kaccess.cluster.matrix import check_access
from kaccess.cluster.quality import Quality, assess, measure_unreachable
from kaccess.cluster.regions import Regions
from kaccess.cluster.validation import Clustering

__all__ = [
    "ComparisonRow",
    "Labelling",
    "compare",
    "format_cells",
    "format_comparison",
    "make_row",
    "make_starts_row",
    "measure_contact",
    "name_regions",
]


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
    """Quality of the clustering by one method, or of starts that are no centroids.

    Args:
        name: Name of the method or of the starts.
        n_clusters: Number of clusters, or of starts.
        coverage: Share of poses that a centroid other than the pose itself reaches.
        n_uncovered: Number of poses that no centroid reaches; `sizes` includes them.
        index: The paper's index I. This and the next three are None without clusters.
        unreachable: Share of ordered pairs within clusters that are not reached.
        n_singletons: Number of clusters with only one pose.
        sizes: (k,) number of members of each cluster, largest first.
        landed: Share of poses at which some move from a centroid lands, whatever was
            commanded; None if it is not known where moves end.
        regions: Exploration regions of the centroids; None without times.
        contact: Adjusted mutual information of clusters and contact cases: 1 if they
            are the same partition, about 0 if they have nothing to do with each other.
            None if the contacts are not known.
    """

    name: str
    n_clusters: int
    coverage: float
    n_uncovered: int
    index: float | None = None
    unreachable: float | None = None
    n_singletons: int | None = None
    sizes: IntArray | None = None
    landed: float | None = None
    regions: Regions | None = None
    contact: float | None = None


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
        unreachable = measure_unreachable([(slice(None), matrix)], labels)
        rows.append(make_row(name, quality, unreachable))
    return rows


def make_row(name: str, quality: Quality, unreachable: float) -> ComparisonRow:
    """Return the row of one method, from its quality.

    Args:
        name: Name of the method.
        quality: Quality of its clustering.
        unreachable: Share of ordered pairs within clusters that are not reached.
    """
    return ComparisonRow(
        name=name,
        n_clusters=len(quality.sizes),
        coverage=quality.coverage,
        n_uncovered=len(quality.uncovered),
        index=quality.index,
        unreachable=unreachable,
        n_singletons=len(quality.singletons),
        sizes=np.sort(quality.sizes)[::-1],
    )


def make_starts_row(name: str, k: int, covered: BoolArray) -> ComparisonRow:
    """Return the row of starts that are no centroids.

    Args:
        name: Name of the starts.
        k: Number of the starts.
        covered: (n,) whether some start reaches each pose in one move.
    """
    return ComparisonRow(name, k, float(covered.mean()), int((~covered).sum()))


def measure_contact(labels: IntArray, contacts: BoolArray) -> float:
    """Return the adjusted mutual information of clusters and contact cases.

    Args:
        labels: (n,) cluster of each pose.
        contacts: (n, n_parts) which parts touch the ground in each pose.
    """
    cases = np.unique(contacts, axis=0, return_inverse=True)[1].ravel()
    return float(adjusted_mutual_info_score(cases, labels))


def format_comparison(rows: Sequence[ComparisonRow]) -> str:
    """Return a table with one row for each method."""
    head = ("method", "k", "index", "coverage", "landed", name_regions(rows))
    more = ("redundancy", "contact", "uncovered", "unreachable", "single")
    sizes = "sizes (max / median / min)"
    return format_table((*head, *more, sizes), map(format_cells, rows))


def name_regions(rows: Sequence[ComparisonRow]) -> str:
    """Return the name of the column of exploration regions, such as `within 0.5 s`."""
    known = [row.regions.t_0 for row in rows if row.regions]
    return f"within {known[0]:.2g} s" if known else "within t_0"


def format_cells(row: ComparisonRow) -> list[str]:
    """Return the cells of a row; what is not known is a dash."""
    regions, sizes = row.regions, row.sizes
    return [
        row.name,
        f"{row.n_clusters}",
        _format(row.index, ".2f"),
        f"{row.coverage:.1%}",
        _format(row.landed, ".1%"),
        _format(regions.share if regions else None, ".1%"),
        _format(regions.redundancy if regions else None, ".1f"),
        _format(row.contact, ".2f"),
        f"{row.n_uncovered}",
        _format(row.unreachable, ".1%"),
        _format(row.n_singletons, "d"),
        "-"
        if sizes is None
        else f"{sizes[0]} / {sizes[len(sizes) // 2]} / {sizes[-1]}",
    ]


def _format(value: float | None, style: str) -> str:
    return "-" if value is None else format(value, style)
