"""K-Access in a partial study: centroids among candidates, by pairs and beliefs."""

from dataclasses import dataclass

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import IntArray
from kaccess.cluster.alternate import assign
from kaccess.cluster.methods import Fit
from kaccess.config import ClusterConfig, check_left_out
from kaccess.pairs import pick_centroids
from kaccess.study.clusterings import cut
from kaccess.study.study import Study

__all__ = ["fit_partial"]


@dataclass(frozen=True)
class _Clusters:
    """Clusters of n poses.

    Args:
        centroid_indices_: (k,) pose index of each centroid.
        labels_: (n,) cluster of each pose.
    """

    centroid_indices_: IntArray
    labels_: IntArray


def fit_partial(study: Study, config: ClusterConfig, members: IntArray) -> Fit:
    """Cluster some poses, (m,), of a partial study.

    Pairs that were not estimated are as trees predict them, from and to the candidates
    for centroids that `kaccess access --pairs` has chosen. No other pose becomes one.
    """
    check_left_out(config, ("solver", "n_init", "n_bootstrap"), "in a partial study")
    candidates = _find_candidates(study, members)
    if config.k is not None and config.k > len(candidates):
        raise InputError(
            f"`k` must be at most {len(candidates)}, the candidates for centroids of "
            f"this partial study, got {config.k}. Estimate more pairs."
        )
    found = pick_centroids(
        study.times[np.ix_(members, members)],
        study.describe_poses()[members],
        candidates,
        k=config.k,
        k_max=config.k_max,
        alpha=config.alpha,
    )
    labels, _ = assign(cut(study.access, members), found.centroids)
    return Fit(_Clusters(found.centroids, labels))


def _find_candidates(study: Study, members: IntArray) -> IntArray:
    """Return the candidates among some poses, as places in these."""
    chosen = (study.partial or {}).get("candidates", [])
    found = np.flatnonzero(np.isin(members, chosen))
    if len(found) < 2:
        raise InputError(
            f"The pairs of {study.path} were not chosen for clusters. Run `kaccess "
            f"access {study.path} --pairs 5% --goal clusters`, or estimate all of them."
        )
    return found
