"""Measure how fast a legged robot gets from one resting pose to another.

The times form a graph. It shows whether the robot can get up, gives moves that get it
up without learning, and guides learning. `kaccess.pipeline` has a function per stage.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from kaccess.base.imports import call_after_import
from kaccess.base.version import __version__

if TYPE_CHECKING:
    from kaccess.access import accessibility, estimate_times
    from kaccess.base.errors import InputError, TrainingError
    from kaccess.cluster import KAccess, accessibility_index, select_k
    from kaccess.config import (
        AccessConfig,
        ClusterConfig,
        EngineConfig,
        LearnConfig,
        RobotConfig,
        SacConfig,
        SampleConfig,
        StillConfig,
    )
    from kaccess.engines import make_engine
    from kaccess.learned import predict_clusters, predict_times
    from kaccess.poses import Poses, sample_poses
    from kaccess.robots import Robot, load_robot
    from kaccess.starts import InitialStates
    from kaccess.study.study import Study

__all__ = [
    "AccessConfig",
    "ClusterConfig",
    "EngineConfig",
    "InitialStates",
    "InputError",
    "KAccess",
    "LearnConfig",
    "Poses",
    "Robot",
    "SacConfig",
    "RobotConfig",
    "SampleConfig",
    "StillConfig",
    "Study",
    "TrainingError",
    "accessibility",
    "accessibility_index",
    "estimate_times",
    "load_robot",
    "make_engine",
    "predict_clusters",
    "predict_times",
    "sample_poses",
    "select_k",
    "__version__",
]

# Names are imported when first used, so that `kaccess --help` need not load MuJoCo.
_HOME = {
    "AccessConfig": "config",
    "ClusterConfig": "config",
    "EngineConfig": "config",
    "InitialStates": "starts",
    "KAccess": "cluster",
    "LearnConfig": "config",
    "InputError": "base.errors",
    "Poses": "poses",
    "Robot": "robots",
    "SacConfig": "config",
    "RobotConfig": "config",
    "SampleConfig": "config",
    "StillConfig": "config",
    "Study": "study",
    "TrainingError": "base.errors",
    "accessibility": "access",
    "accessibility_index": "cluster",
    "estimate_times": "access",
    "load_robot": "robots",
    "make_engine": "engines",
    "predict_clusters": "learned",
    "predict_times": "learned",
    "sample_poses": "poses",
    "select_k": "cluster",
}


def _register_envs() -> None:
    """Register the learning tasks with Gymnasium."""
    import_module("kaccess.envs")


def __getattr__(name: str) -> object:
    if name == "envs":
        return import_module("kaccess.envs")
    if name not in _HOME:
        raise AttributeError(f"module 'kaccess' has no attribute {name!r}")
    return getattr(import_module(f"kaccess.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


# `import kaccess` does not load Gymnasium, which is slow.
call_after_import("gymnasium", _register_envs)
