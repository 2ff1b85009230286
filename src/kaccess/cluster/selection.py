"""Choice of the number of clusters by the highest index, and its stability."""

import itertools
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from sklearn.base import clone

from kaccess.base.errors import ArrayError
from kaccess.base.types import Array, IntArray, Progress
from kaccess.cluster.k_access import KAccess
from kaccess.cluster.matrix import check_access, check_n_clusters
from kaccess.cluster.prepared import Prepared
from kaccess.cluster.stability import Stability, compare_resamples, draw_resamples

__all__ = ["Curve", "Selection", "select_k"]


@dataclass(frozen=True)
class Curve:
    """Quality of the clusterings for each number of clusters tried, (m,) each.

    Args:
        k: Numbers of clusters, ascending.
        index: The paper's index I.
        singletons: Number of clusters with only one pose.
        coverage: Share of poses that a centroid other than the pose itself reaches.
    """

    k: IntArray
    index: Array
    singletons: IntArray
    coverage: Array


@dataclass(frozen=True)
class Selection:
    """The number of clusters with the highest index.

    Args:
        k: Number of clusters.
        model: K-Access fitted with k clusters.
        curve: Index and coverage for each number that was tried.
        stability: Stability of the choice; None without bootstrap.
    """

    k: int
    model: KAccess
    curve: Curve
    stability: Stability | None


def select_k(
    access: Array,
    n_clusters: Iterable[int],
    *,
    estimator: KAccess | None = None,
    random_state: int | None = None,
    n_bootstrap: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Fit K-Access for each number of clusters and keep the one with the best index.

    Args:
        access: (n, n) accessibilities in [0, 1], from row to column.
        n_clusters: Numbers to try; if several are equally good, the smallest is chosen.
        estimator: K-Access with the settings to use; by default `KAccess()`.
        random_state: Seed of all fits and resamples; overrides that of `estimator`.
        n_bootstrap: Number of resamples of the poses on which the choice is repeated.
        n_jobs: Number of threads; by default one per core. Results do not depend on it.
        progress: Called with (fits done, fits to do) after each fit.
    """
    matrix, ks = check_access(access), sorted(set(n_clusters))
    rng = np.random.default_rng(random_state)
    resamples = draw_resamples(len(matrix), n_bootstrap, rng)
    _check_ks(ks, min(len(poses) for poses in [matrix, *resamples]))
    models = [
        _copy_estimator(estimator, random_state).set_params(n_clusters=k) for k in ks
    ]
    cuts = itertools.chain(
        [matrix], (matrix[np.ix_(poses, poses)] for poses in resamples)
    )
    count = _count_fits(len(ks) * (1 + n_bootstrap), progress)
    rounds = [_fit_all(models, cut, n_jobs, count) for cut in cuts]
    best, *others = [max(fitted, key=lambda m: float(m.index_)) for fitted in rounds]
    stability = compare_resamples(matrix, best, resamples, others) if others else None
    return Selection(best.n_clusters, best, _make_curve(rounds[0]), stability)


def _check_ks(ks: list[int], n_poses: int) -> None:
    """Raise `ArrayError` if there are no numbers, or one does not suit `n_poses`."""
    if not ks:
        raise ArrayError(
            "`n_clusters` is empty. Pass numbers to try, such as `range(2, 121)`."
        )
    check_n_clusters(ks[0], n_poses)
    check_n_clusters(ks[-1], n_poses)


def _copy_estimator(estimator: KAccess | None, random_state: int | None) -> KAccess:
    """Return an unfitted copy of `estimator`, with this seed if it is given."""
    copy: KAccess = clone(estimator or KAccess())
    if random_state is not None:
        copy.set_params(random_state=random_state)
    return copy


def _fit_all(
    models: list[KAccess],
    access: Array,
    n_jobs: int | None,
    count: Callable[[], None],
) -> list[KAccess]:
    """Return copies of all models fitted to `access`; call `count` after each."""
    prepared = Prepared(access, models[-1].n_clusters)
    fits = []
    with ThreadPoolExecutor(n_jobs or os.cpu_count()) as pool:
        for fit in pool.map(lambda each: clone(each).fit_prepared(prepared), models):
            count()
            fits.append(fit)
    return fits


def _count_fits(n_fits: int, progress: Progress | None) -> Callable[[], None]:
    """Return a function to call after each fit, which reports the progress."""
    done = itertools.count(1)
    return lambda: progress(next(done), n_fits) if progress else None


def _make_curve(models: list[KAccess]) -> Curve:
    """Return the quality of models fitted with different numbers of clusters."""
    return Curve(
        k=np.array([model.n_clusters for model in models]),
        index=np.array([model.index_ for model in models]),
        singletons=np.array([len(model.singletons_) for model in models]),
        coverage=np.array([model.coverage_ for model in models]),
    )
