"""Clustering of accessibility matrices: arrays in, arrays out, no robot needed."""

from kaccess.cluster.comparison import (
    ComparisonRow,
    Labelling,
    compare,
    format_comparison,
)
from kaccess.cluster.coverage import Coverage, measure_coverage
from kaccess.cluster.graphs import DirectedSpectral, Infomap, Louvain
from kaccess.cluster.k_access import KAccess
from kaccess.cluster.k_means import DunnKMeans, dunn_index, make_features
from kaccess.cluster.matrix import FLOOR
from kaccess.cluster.quality import Quality, accessibility_index, assess
from kaccess.cluster.selection import Curve, Selection, select_k
from kaccess.cluster.stability import Stability
from kaccess.cluster.validation import Clustering

__all__ = [
    "FLOOR",
    "KAccess",
    "accessibility_index",
    "assess",
    "Quality",
    "select_k",
    "Selection",
    "Curve",
    "Stability",
    "measure_coverage",
    "Coverage",
    "DunnKMeans",
    "dunn_index",
    "make_features",
    "Louvain",
    "Infomap",
    "DirectedSpectral",
    "Clustering",
    "compare",
    "ComparisonRow",
    "Labelling",
    "format_comparison",
]
