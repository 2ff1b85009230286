"""K-Access as a scikit-learn estimator."""

import warnings
from typing import get_args

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from kaccess.base.errors import ArrayError
from kaccess.base.types import Array, IntArray
from kaccess.cluster.alternate import Alternation, assign
from kaccess.cluster.matrix import check_access_from, check_n_clusters
from kaccess.cluster.objectives import ObjectiveName, make_objective
from kaccess.cluster.prepared import Prepared
from kaccess.cluster.quality import measure_quality
from kaccess.cluster.solver import SolverName, solve
from kaccess.cluster.validation import validate_access

__all__ = ["KAccess"]


class KAccess(ClusterMixin, BaseEstimator):  # type: ignore[misc]  # untyped bases
    """Cluster poses by how accessible they are from one another.

    A pose that several centroids reach equally well goes to the first of them in
    `centroid_indices_`, and a centroid is always a member of its own cluster. So poses
    that no centroid reaches get the label 0; `uncovered_` lists them.

    Args:
        n_clusters: Number of clusters, k.
        solver: "alternate" is Algorithm 1 of the paper, to the letter with `n_init=1`.
            "swap" goes on: it swaps a centroid for another pose until no swap helps.
        objective: Score that chooses the best restart and that swaps raise: "index",
            the paper's index I, or "access", the mean access from the best centroid.
        alpha: Penalty of the index for each cluster with only one pose.
        n_init: Number of restarts of Algorithm 1, each with a different first centroid.
        n_kicks: Number of kicks of "swap". A kick replaces some centroids at random and
            swaps again; the better result is kept. By default 0 for the index and 400
            for the mean access, whose swaps are a hundred times faster.
        first: First centroid of the first restart; by default drawn at random.
        max_iter: Maximum number of rounds of Algorithm 1.
        random_state: Seed of the first centroids and of the kicks.

    Attributes:
        centroid_indices_: (k,) pose index of each centroid. "alternate" has them in the
            order of the list of Algorithm 1, "swap" in ascending order, unless
            Algorithm 1 itself has found the best result.
        labels_: (n,) cluster of each pose: `access[centroid_indices_].argmax(axis=0)`,
            except that a centroid belongs to its own cluster.
        index_: The paper's index I.
        intra_: (k,) worst access from each centroid to its members.
        inter_: (k, k) mean access from the members of one cluster to each centroid.
        coverage_: Share of poses that a centroid other than the pose itself reaches.
        uncovered_: Indices of the poses that no centroid reaches.
        singletons_: Pose indices of the centroids that are alone in their cluster.
        n_iter_: Number of rounds of Algorithm 1, plus number of swaps.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        solver: SolverName = "swap",
        objective: ObjectiveName = "index",
        alpha: float = 1.0,
        n_init: int = 30,
        n_kicks: int | None = None,
        first: int | None = None,
        max_iter: int = 300,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.objective = objective
        self.alpha = alpha
        self.n_init = n_init
        self.n_kicks = n_kicks
        self.first = first
        self.max_iter = max_iter
        self.random_state = random_state

    @classmethod
    def restore(cls, centroid_indices: IntArray) -> "KAccess":
        """Return a fitted model from its stored centroids, ready for `predict`."""
        model = cls(len(centroid_indices))
        model.centroid_indices_ = np.asarray(centroid_indices)
        return model

    def fit(self, access: Array, y: None = None) -> "KAccess":
        """Cluster the n poses of `access`, (n, n), from row to column."""
        return self.fit_prepared(
            Prepared(validate_access(self, access), self.n_clusters)
        )

    def fit_prepared(self, prepared: Prepared) -> "KAccess":
        """Cluster the poses of a checked matrix; several fits can share it."""
        self.n_features_in_ = len(prepared.access)
        self._check_settings(self.n_features_in_)
        solution = self._solve(prepared)
        if not solution.converged:
            warnings.warn(
                f"K-Access with {self.n_clusters} clusters did not converge within "
                f"{solution.n_iter} rounds: the centroids repeat in a cycle, or "
                f"max_iter={self.max_iter} is too small. Use another `first`, a larger "
                "`n_init` or `solver='swap'`.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._store(prepared.access, solution)

    def predict(self, access_from_centroids: Array) -> IntArray:
        """Return the centroid that reaches each unseen pose best, (m,).

        Centroids are numbered 0 ... k - 1; a pose that none of them reaches gets 0.

        Args:
            access_from_centroids: (k, m) access from each centroid to m unseen poses.
        """
        check_is_fitted(self)
        k = len(self.centroid_indices_)
        access = check_access_from(access_from_centroids, n_rows=k)
        return np.asarray(access.argmax(axis=0))

    def _solve(self, prepared: Prepared) -> Alternation:
        """Return the best centroids of `n_init` restarts."""
        rng = np.random.default_rng(_draw_seed(self.random_state))
        firsts = rng.permutation(len(prepared.access))
        if self.first is not None:
            firsts = np.append(self.first, firsts[firsts != self.first])
        firsts = firsts[: self.n_init]
        objective = make_objective(self.objective, prepared, alpha=self.alpha)
        return solve(
            objective,
            [prepared.get_seeds(first, self.n_clusters) for first in firsts],
            solver=self.solver,
            max_iter=self.max_iter,
            n_kicks=objective.n_kicks if self.n_kicks is None else self.n_kicks,
            rng=rng,
        )

    def _store(self, access: Array, solution: Alternation) -> "KAccess":
        """Set the fitted attributes."""
        self.centroid_indices_, self.n_iter_ = solution.centroids, solution.n_iter
        self.labels_, _ = assign(access, solution.centroids)
        quality = measure_quality(
            access, solution.centroids, self.labels_, alpha=self.alpha
        )
        self.index_, self.coverage_ = quality.index, quality.coverage
        self.intra_, self.inter_ = quality.intra, quality.inter
        self.singletons_, self.uncovered_ = quality.singletons, quality.uncovered
        return self

    def _check_settings(self, n_poses: int) -> None:
        """Raise `ArrayError` for settings that cannot work on `n_poses` poses."""
        check_n_clusters(self.n_clusters, n_poses)
        if self.solver not in get_args(SolverName):
            raise ArrayError(
                f"`solver` must be 'swap' or 'alternate', got {self.solver!r}."
            )
        if self.first is not None and not 0 <= self.first < n_poses:
            raise ArrayError(
                f"`first` must be a pose index in [0, {n_poses - 1}], got {self.first}."
            )
        for name, least in (("n_init", 1), ("max_iter", 1), ("n_kicks", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise ArrayError(f"`{name}` must be at least {least}, got {value}.")

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn that rows and columns of the input are the same poses."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


def _draw_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed for NumPy's generators from a `random_state` of scikit-learn."""
    return int(check_random_state(random_state).randint(2**31 - 1))
