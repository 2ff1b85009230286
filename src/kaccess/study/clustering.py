"""The stage `cluster`: the poses that a task can start from, and their centroids."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from kaccess.base.errors import InputError
from kaccess.base.types import IntArray, Progress
from kaccess.cluster.methods import fit_method
from kaccess.config import DEFAULT_METHOD, ClusterConfig
from kaccess.envs.tasks import make_task
from kaccess.study.clusterings import StoredClustering, cut
from kaccess.study.partial_clusters import fit_partial
from kaccess.study.start_times import estimate_start_times
from kaccess.study.starts import write_clustering, write_plain_starts
from kaccess.study.study import Study

__all__ = ["cluster_study"]

_WITHOUT_PAIRS = ("kmeans", "weighted-kmeans")  # methods that need no pairs


def cluster_study(
    study: Study, config: ClusterConfig, *, progress: Progress | None = None
) -> Path:
    """Cluster the poses that a task can start from, and write the centroids as starts.

    Args:
        study: Study.
        config: Task, method, number of clusters and settings.
        progress: Called with (numbers of clusters tried, numbers to try).

    Returns:
        The file of initial states.
    """
    poses, access = study.poses, study.access
    task = make_task(config.task, study.robot)
    members = np.flatnonzero(task.qualifies(poses.qpos))
    _check_enough(task.name, members, len(poses))
    if study.partial is not None and config.method == DEFAULT_METHOD:
        fit = fit_partial(study, config, members)
    else:
        _check_partial(study, config)
        fit = fit_method(
            cut(access, members),
            config,
            gravity=poses.gravity[members],
            joints=poses.joints[members],
            progress=progress,
        )
    config = replace(config, task=task.name)  # it may be an object
    found = StoredClustering.of(access, config, fit, members)
    write_plain_starts(study)
    estimate_start_times(study)
    is_whole = len(members) == len(poses)
    return write_clustering(
        study, config.method, found, task="" if is_whole else task.name
    )


def _check_partial(study: Study, config: ClusterConfig) -> None:
    """Raise `InputError` if a method needs pairs that are not estimated."""
    if study.partial is not None and config.method not in _WITHOUT_PAIRS:
        raise InputError(
            f"Method {config.method!r} needs all pairs, and {study.path} has only some "
            f"of them. Run `kaccess access {study.path}` first, or take the method "
            f"{DEFAULT_METHOD}, kmeans or weighted-kmeans."
        )


def _check_enough(task: str, members: IntArray, n_poses: int) -> None:
    """Raise `InputError` if a task can start from fewer than two poses."""
    if len(members) < 2:
        raise InputError(
            f"{task!r} can start from {len(members)} of the {n_poses} poses, and "
            "clusters need two or more. Make a study with more poses."
        )
