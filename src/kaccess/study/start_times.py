"""Times from starts that are no poses of a study, such as `9-pose`, to its poses.

They are estimated once, when the study is clustered, into `start-times.npz`.
"""

import numpy as np

from kaccess.access import estimate_pairs
from kaccess.base.errors import InputError
from kaccess.base.npz_files import read_npz, write_npz
from kaccess.base.types import Array
from kaccess.config import EngineConfig
from kaccess.engines import make_engine
from kaccess.poses import Poses
from kaccess.starts import KEYFRAME_STARTS, InitialStates
from kaccess.study.study import Study

__all__ = ["estimate_between", "estimate_start_times", "read_start_times"]

_FILE = "start-times.npz"


def estimate_between(
    study: Study, starts: Array, goals: Array, *, n_threads: int = 0
) -> Array:
    """Return seconds from states, (k, nq), to poses, (m, nq), in one move: (k, m)."""
    k, m = len(starts), len(goals)
    qpos = np.concatenate([starts, goals])
    both = Poses(study.robot, qpos, np.empty((len(qpos), 0), bool))
    source, goal = np.repeat(np.arange(k), m), k + np.tile(np.arange(m), k)
    engine = make_engine(EngineConfig(threads=n_threads), study.robot, study.still)
    found = estimate_pairs(both, source, goal, study.access_config, engine=engine)
    return found.times.reshape(k, m)


def estimate_start_times(study: Study) -> None:
    """Estimate and store the times from all starts that are keyframes of the robot."""
    files = {name: study.path / "starts" / f"{name}.npz" for name in KEYFRAME_STARTS}
    known = {name for name, file in files.items() if file.exists()}
    if not known - read_start_times(study).keys():
        return
    times = {
        name: estimate_between(
            study, InitialStates.load(files[name]).qpos, study.poses.qpos
        )
        for name in sorted(known)
    }
    write_npz(study.path / _FILE, **times)


def read_start_times(study: Study) -> dict[str, Array]:
    """Return seconds to all poses, (k, n), by name of the starts.

    It is empty before they are estimated.
    """
    path = study.path / _FILE
    if not path.exists():
        return {}
    remedy = f"Delete it; `kaccess cluster {study.path}` makes it again."
    times = read_npz(path, remedy)
    for each in times.values():
        if each.ndim != 2 or each.shape[1] != study.n_poses or np.isnan(each).any():
            raise InputError(f"{path} has times to other poses. {remedy}")
    return times
