"""Find good starting states for teaching a legged robot to move.

Sample a robot's static poses, measure how fast it gets from each to each other, and
choose the states from which learning starts. `kaccess.pipeline` is the whole flow.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kaccess.access import accessibility, estimate_times
    from kaccess.cluster import KAccess, accessibility_index, select_k
    from kaccess.config import (
        AccessConfig,
        ClusterConfig,
        SacConfig,
        SampleConfig,
        StillConfig,
    )
    from kaccess.engines import make_engine
    from kaccess.errors import InputError
    from kaccess.poses import Poses, sample_poses
    from kaccess.robots import Robot, load_robot
    from kaccess.starts import InitialStates
    from kaccess.study import Study

__version__ = "0.1.0"

__all__ = [
    "AccessConfig",
    "ClusterConfig",
    "InitialStates",
    "InputError",
    "KAccess",
    "Poses",
    "Robot",
    "SacConfig",
    "SampleConfig",
    "StillConfig",
    "Study",
    "accessibility",
    "accessibility_index",
    "estimate_times",
    "load_robot",
    "make_engine",
    "sample_poses",
    "select_k",
]

# Names are imported when first used, so that `kaccess --help` need not load MuJoCo.
_HOME = {
    "AccessConfig": "config",
    "ClusterConfig": "config",
    "InitialStates": "starts",
    "KAccess": "cluster",
    "InputError": "errors",
    "Poses": "poses",
    "Robot": "robots",
    "SacConfig": "config",
    "SampleConfig": "config",
    "StillConfig": "config",
    "Study": "study",
    "accessibility": "access",
    "accessibility_index": "cluster",
    "estimate_times": "access",
    "load_robot": "robots",
    "make_engine": "engines",
    "sample_poses": "poses",
    "select_k": "cluster",
}


def _register_envs() -> None:
    """Register the learning tasks with Gymnasium, if that has been imported.

    Gymnasium loads no plug-ins by itself, and `import kaccess` need not load Gymnasium:
    whichever of the two is imported first, the tasks are known by the time a name of
    this package is used. `import kaccess.envs` registers them in any case.
    """
    if "gymnasium" in sys.modules:
        import_module("kaccess.envs")


def __getattr__(name: str) -> object:
    _register_envs()
    if name == "envs":
        return import_module("kaccess.envs")
    if name not in _HOME:
        raise AttributeError(f"module 'kaccess' has no attribute {name!r}")
    return getattr(import_module(f"kaccess.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


_register_envs()
