"""One function that fits any clustering method of the command line."""

from dataclasses import dataclass, replace

from kaccess.base.types import Array, Progress
from kaccess.cluster.graphs import DirectedSpectral, Infomap, Louvain
from kaccess.cluster.k_access import KAccess
from kaccess.cluster.k_means import DunnKMeans, make_features
from kaccess.cluster.selection import Curve, select_k
from kaccess.cluster.stability import Stability
from kaccess.cluster.validation import Clustering
from kaccess.config import ClusterConfig

__all__ = ["Fit", "fit_method"]

_GRAVITY_WEIGHT = {"kmeans": 1.0, "weighted-kmeans": 2.0}  # the paper's KM and WKM
_N_SEEDS = 2**32 - 1  # that scikit-learn and Infomap take


@dataclass(frozen=True)
class Fit:
    """A fitted clustering, and how its number of clusters was chosen.

    Args:
        model: The fitted clustering.
        curve: Index and coverage for each number tried; None if not chosen by index.
        stability: Stability of that choice; None without bootstrap.
    """

    model: Clustering
    curve: Curve | None = None
    stability: Stability | None = None


def fit_method(
    access: Array,
    config: ClusterConfig,
    *,
    gravity: Array,
    joints: Array,
    progress: Progress | None = None,
) -> Fit:
    """Cluster n poses with the method that `config` names.

    Args:
        access: (n, n) accessibilities in [0, 1], from row to column.
        config: Method, number of clusters and settings.
        gravity: (n, 3) unit gravity vector in the body frame, for K-Means.
        joints: (n, nu) joint positions [rad], for K-Means.
        progress: Called with (fits done, fits to do) after each fit of K-Access.
    """
    config = replace(config, seed=config.seed % _N_SEEDS)
    match config.method:
        case "kaccess" | "kmedoids":
            return _fit_k_access(access, config, progress)
        case "kmeans" | "weighted-kmeans":
            weight = _GRAVITY_WEIGHT[config.method]
            features = make_features(gravity, joints, gravity_weight=weight)
            model = DunnKMeans(
                config.k, max_clusters=config.k_max, random_state=config.seed
            )
            return Fit(model.fit(features))
        case "louvain":
            return Fit(Louvain().fit(access))
        case "infomap":
            return Fit(Infomap(random_state=config.seed).fit(access))
        case "spectral":
            spectral = DirectedSpectral(
                config.k, max_clusters=config.k_max, random_state=config.seed
            )
            return Fit(spectral.fit(access))
    raise AssertionError(f"{config.method!r} is registered but cannot be fitted.")


def _fit_k_access(
    access: Array, config: ClusterConfig, progress: Progress | None
) -> Fit:
    """Fit K-Access or directed k-medoids with `config.k` or the best k."""
    model = KAccess(
        solver=config.solver,
        objective="index" if config.method == "kaccess" else "access",
        alpha=config.alpha,
        n_init=config.n_init,
        random_state=config.seed,
    )
    if config.k is not None:
        return Fit(model.set_params(n_clusters=config.k).fit(access))
    # A resample has about 63 % of the poses, and almost never less than half.
    most = len(access) // 2 if config.n_bootstrap else len(access)
    numbers = range(2, min(config.k_max, most) + 1)
    chosen = select_k(
        access,
        numbers,
        estimator=model,
        random_state=config.seed,
        n_bootstrap=config.n_bootstrap,
        progress=progress,
    )
    return Fit(chosen.model, chosen.curve, chosen.stability)
