"""Clustering of poses as nodes of a directed graph: alternatives that the paper names.

There is an edge from i to j if j is reached from i; its weight is the accessibility.
These methods have no centroids of their own. The centroid of a cluster is the member
with the best worst-case access to the others.
"""

import math
from importlib import import_module
from types import ModuleType

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import Tags

from kaccess.base.errors import ArrayError
from kaccess.base.types import Array, IntArray
from kaccess.cluster.alternate import recentre
from kaccess.cluster.matrix import check_n_clusters, is_reached
from kaccess.cluster.validation import validate_access

__all__ = ["DirectedSpectral", "Infomap", "Louvain"]


class _GraphClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # untyped
    """Base class of the methods: partition the graph, then find centroids."""

    def fit(self, access: Array, y: None = None) -> "_GraphClustering":
        """Cluster the n poses of `access`, (n, n), from row to column."""
        matrix = validate_access(self, access)
        weights = np.where(is_reached(matrix), matrix, 0.0).astype(np.float64)
        np.fill_diagonal(weights, 0.0)
        self.labels_: IntArray = _order_by_first_member(self._partition(weights))
        self.centroid_indices_: IntArray = recentre(matrix, self.labels_)
        return self

    def _partition(self, weights: Array) -> IntArray:
        """Return a label for each node, (n,), of a graph with these edges, (n, n)."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that rows and columns of the input are the same poses."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


class Louvain(_GraphClustering):
    """Directed Louvain: greedy modularity of Dugue and Perez (2015).

    Args:
        resolution: Larger values give more clusters.
    """

    def __init__(self, *, resolution: float = 1.0) -> None:
        self.resolution = resolution

    def _partition(self, weights: Array) -> IntArray:
        clustering = _import_extra("sknetwork.clustering", "scikit-network")
        model = clustering.Louvain(self.resolution, modularity="dugue")
        labels: IntArray = model.fit_predict(csr_matrix(weights))
        return labels


class Infomap(_GraphClustering):
    """Infomap: the partition that describes a random walk in the fewest bits.

    Args:
        n_trials: Number of independent searches.
        random_state: Seed.
    """

    def __init__(self, *, n_trials: int = 10, random_state: int = 0) -> None:
        self.n_trials = n_trials
        self.random_state = random_state

    def _partition(self, weights: Array) -> IntArray:
        infomap = _import_extra("infomap", "infomap")
        search = infomap.Infomap(
            directed=True,
            two_level=True,
            num_trials=self.n_trials,
            seed=self.random_state + 1,  # seeds of Infomap start at 1
            silent=True,
        )
        search.add_nodes(range(len(weights)))
        sources, targets = np.nonzero(weights)
        search.add_links(zip(sources, targets, weights[sources, targets], strict=True))
        modules = search.run().modules()
        return np.array([modules[node] for node in range(len(weights))])


class DirectedSpectral(_GraphClustering):
    """Spectral clustering with the Laplacian of a directed graph (Chung 2005).

    A random walk on the graph jumps to a random node now and then, which makes it
    irreducible (Gleich 2006). Its transition matrix is scaled by how often nodes are
    visited and made symmetric. K-Means then clusters the leading eigenvectors.

    Args:
        n_clusters: Number of clusters; by default the number of eigenvalues before the
            largest gap.
        max_clusters: Largest number of clusters to choose by default.
        teleport: Probability of a jump.
        random_state: Seed of K-Means.
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        max_clusters: int = 120,
        teleport: float = 0.05,
        random_state: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.teleport = teleport
        self.random_state = random_state

    def _partition(self, weights: Array) -> IntArray:
        if self.n_clusters is not None:
            check_n_clusters(self.n_clusters, len(weights))
        if not 0.0 < self.teleport < 1.0:
            raise ArrayError(f"`teleport` must lie in (0, 1), got {self.teleport}.")
        walk = _make_walk(weights, self.teleport)
        visits = _find_visits(walk, self.teleport)
        values, vectors = eigh(_symmetrize(walk, visits))
        k = self.n_clusters or _count_before_gap(values[::-1][: self.max_clusters + 1])
        embedding = vectors[:, ::-1][:, :k] / np.sqrt(visits)[:, None]
        model = KMeans(k, n_init=10, random_state=self.random_state)
        labels: IntArray = model.fit_predict(embedding)
        return labels


def _order_by_first_member(labels: IntArray) -> IntArray:
    """Return labels, (n,), renumbered by the first pose of each cluster."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])


def _make_walk(weights: Array, teleport: float) -> Array:
    """Return transition probabilities, (n, n); a dead end leads to any node."""
    n = len(weights)
    out = weights.sum(axis=1, keepdims=True)
    steps = np.divide(weights, out, out=np.full((n, n), 1.0 / n), where=out > 0.0)
    return np.asarray((1.0 - teleport) * steps + teleport / n)


def _find_visits(walk: Array, teleport: float, tolerance: float = 1e-12) -> Array:
    """Return how often a long walk visits each node, (n,).

    Each step multiplies the error by at most 1 - teleport. The number of steps brings
    it below the tolerance.
    """
    visits = np.full(len(walk), 1.0 / len(walk))
    for _ in range(math.ceil(math.log(tolerance) / math.log1p(-teleport))):
        visits = visits @ walk
    return np.asarray(visits / visits.sum())


def _symmetrize(walk: Array, visits: Array) -> Array:
    """Return the identity minus Chung's Laplacian, (n, n)."""
    root = np.sqrt(visits)
    scaled = root[:, None] * walk / root
    return np.asarray((scaled + scaled.T) / 2.0)


def _count_before_gap(values: Array) -> int:
    """Return the number of eigenvalues, at least 2, before the largest gap."""
    gaps = values[1:-1] - values[2:]
    return 2 + int(gaps.argmax()) if len(gaps) else len(values)


def _import_extra(module: str, package: str) -> ModuleType:
    """Import an optional module; if it is missing, say how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"This method needs {package}, which is not installed. "
            "Run `pip install 'kaccess[graph]'`."
        ) from error
