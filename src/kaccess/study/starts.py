"""The initial states of a study, `starts/<name>.npz`: written, found, mixed.

Centroids of the poses that a task can start from are `starts/<name>@<task>.npz`.
"""

import logging
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kaccess.base.errors import InputError
from kaccess.config import METHODS, TrainConfig
from kaccess.engines import make_engine
from kaccess.poses import Poses, Stream, draw_drops, draw_poses, settle_keyframes
from kaccess.starts import (
    DROP,
    FRESH,
    GUIDED,
    KEYFRAME_STARTS,
    InitialStates,
    find_command,
    is_clustering,
    list_starts,
    parse_mixture,
)
from kaccess.study.clusterings import StoredClustering
from kaccess.study.lock import lock_folder
from kaccess.study.names import OfTask, check_name
from kaccess.study.study import Study

if TYPE_CHECKING:
    from kaccess.envs.task import Task

__all__ = [
    "find_starts",
    "leave_out_guides",
    "load_states",
    "write_clustering",
    "write_plain_starts",
]

logger = logging.getLogger(__name__)

_N_FRESH = 1000  # poses
_N_DROPS = 5000  # robots in the air
_DROPPED = 0.6  # share of them among the starts `drop`; the rest stand
_MOST_OFF = 1e-3  # of the length of a quaternion, from rounding


def write_clustering(
    study: Study, method: str, clustering: StoredClustering, *, task: str = ""
) -> Path:
    """Write a clustering, and its centroids as starts of equal weight.

    The old starts are deleted first: a kill leaves no starts of another clustering.

    Args:
        study: Study.
        method: Name of the method.
        clustering: Clusters and centroids.
        task: Task whose poses were clustered; empty if all were.

    Returns:
        The file of the starts.
    """
    name = OfTask(check_name(method, "a method"), task)
    path = _make_path(study, METHODS[method].starts, task)
    content = clustering.content()  # this may take long
    with lock_folder(study.path):
        path.unlink(missing_ok=True)
        study.write_json(f"clusters/{name.text}.json", content)
        _select_poses(study.poses, clustering.centroids).save(path)
    study.keep_clustering(name, clustering)
    return path


def write_plain_starts(study: Study) -> None:
    """Write the starts that need no clustering: `rnd`, `9-pose`, `1-pose`."""
    poses, robot = study.poses, study.robot
    _select_poses(poses, np.arange(len(poses))).save(_make_path(study, "rnd"))
    engine = make_engine("mujoco", robot, study.still)
    for name, keys in KEYFRAME_STARTS.items():
        if set(keys) <= robot.keyframes.keys():
            qpos = settle_keyframes(robot, keys, engine=engine)
            starts = InitialStates.uniform(qpos, names=keys, model=robot.fingerprint)
            starts.save(_make_path(study, name))


def _write_fresh(study: Study) -> None:
    """Draw poses like those of the study, and write them as the starts `fresh`."""
    config = study.sampling.for_others(_N_FRESH)
    engine = make_engine("mujoco", study.robot, study.still)
    poses, _ = draw_poses(study.robot, config, engine=engine, stream=Stream.STARTS)
    _select_poses(poses, np.arange(len(poses))).save(_make_path(study, FRESH))


def _write_drops(study: Study) -> None:
    """Write the starts `drop`: robots in the air, which fall, and standing ones."""
    robot = study.robot
    qpos = draw_drops(robot, _N_DROPS, seed=study.sampling.seed)
    names = tuple(f"drop {row}" for row in range(len(qpos)))
    fingerprint = robot.fingerprint
    dropped = InitialStates.uniform(qpos, names=names, model=fingerprint)
    stands = InitialStates.uniform(
        robot.standing[None], names=("standing",), model=fingerprint
    )
    mixture = InitialStates.mix({dropped: _DROPPED, stands: 1 - _DROPPED})
    mixture.save(_make_path(study, DROP))


def find_starts(study: Study, text: str, task: "Task") -> InitialStates:
    """Return the starts that a text such as `ka` or `ka+rnd:0.2` names.

    Centroids are those of the poses that the task can start from, if these have been
    clustered. Otherwise, states that the task does not start from are left out.
    """
    parts = {
        _load(study, name, task): share for name, share in parse_mixture(text).items()
    }
    return InitialStates.mix(parts)


def load_states(study: Study, path: Path) -> InitialStates:
    """Return the states in a file of a study: starts, or test poses.

    Raises:
        InputError: If they cannot be read, or belong to another robot.
    """
    command = "evaluate" if path.parent.name == "tests" else "cluster"
    remedy = f"Delete it; `kaccess {command} {study.path}` makes it again."
    states = InitialStates.load(path, remedy)
    nq = study.arrays.array("poses/qpos").shape[1]
    if states.model != study.settings["model"] or states.qpos.shape[1] != nq:
        raise InputError(
            f"{path} belongs to another robot than the study, or to another version "
            f"of its robot. {remedy}"
        )
    lengths = np.linalg.norm(states.qpos[:, 3:7], axis=1)
    if (np.abs(lengths - 1) > _MOST_OFF).any():
        raise InputError(
            f"{path} is damaged: it has orientations that are no unit quaternions. "
            f"{remedy}"
        )
    return states


def leave_out_guides(study: Study, config: TrainConfig) -> TrainConfig | None:
    """Return the settings without guided learners, if the study has no routes.

    Clones are nothing without a guide: then None is returned.
    """
    if study.has_routes:
        return config
    if config.algorithm == "clone":
        return None
    starts = dict.fromkeys(text.removeprefix(GUIDED) for text in config.starts)
    return replace(config, starts=tuple(starts))


def _make_path(study: Study, name: str, task: str = "") -> Path:
    check_name(name, "starts")
    if task:
        check_name(task, "a task")
    return study.path / "starts" / f"{OfTask(name, task).text}.npz"


def _select_poses(poses: Poses, indices: Iterable[int]) -> InitialStates:
    """Return some poses as initial states of equal weight."""
    rows = np.asarray(indices)
    names = tuple(f"pose {row}" for row in rows)
    model = poses.robot.fingerprint
    return InitialStates.uniform(poses.qpos[rows], names=names, model=model)


def _load(study: Study, name: str, task: "Task") -> InitialStates:
    path = _make_path(study, name)
    if (own := _make_path(study, name, task.name)).exists():
        return load_states(study, own)
    if name == FRESH and not path.exists():
        _write_fresh(study)
    if name == DROP and not path.exists():
        _write_drops(study)
    if not path.exists():
        raise InputError(_explain_missing(study, name, path, task.name))
    starts = load_states(study, path)
    fits = task.qualifies(starts.qpos)
    if not fits.any():
        raise InputError(
            f"{task.name!r} cannot start from any of the {len(starts)} states of "
            f"{name!r}. Choose other starts."
        )
    if not fits.all() and is_clustering(name):
        logger.warning(
            "%r starts from %d of the %d states of %r, centroids of all poses. To "
            "cluster only the poses that it can start from: %s",
            *(task.name, fits.sum(), len(starts), name),
            find_command(name, study.path, task.name),
        )
    return starts.select(fits)


def _explain_missing(study: Study, name: str, path: Path, task: str) -> str:
    command = find_command(name, study.path, task)
    if command is None:
        return (
            f"Unknown starts {name!r}: must be one of {', '.join(list_starts())}, "
            f"{FRESH}, {DROP}, or have a file {path}."
        )
    return f"{study.path} has no starts {name!r} yet. Run `{command}` first."
