"""Names to choose from: tasks, clustering methods, engines. Each is registered once."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from kaccess.config.checks import NameOrObject
from kaccess.config.scale import ForBittle

__all__ = [
    "DEFAULT_METHOD",
    "DEFAULT_TASK",
    "FLOOR",
    "METHODS",
    "NOMINAL",
    "REGION_SECONDS",
    "ROUTES",
    "TASKS",
    "TEST_SECONDS",
    "Draw",
    "EngineName",
    "FrameworkName",
    "Method",
    "MethodInfo",
    "ObserveName",
    "PresetName",
    "TaskName",
]

FLOOR = 1e-8  # accessibility of a pose that was not reached: the paper, section III-B
# Time that a policy has in each test: the paper, section III-D.
TEST_SECONDS: float = ForBittle(3.0, "s")

# Time within which an effective exploration region is reached, t_0 of the paper's
# Eq. 1, which gives no value. Half of Bittle's moves that arrive take less than 0.55 s.
REGION_SECONDS: float = ForBittle(0.5, "s")

Draw = Literal["move", "teleport"]
EngineName = Literal["mujoco", "warp", "bullet"]
FrameworkName = Literal[
    "mjcf", "gymnasium", "playground", "mjlab", "isaaclab", "maniskill"
]
ObserveName = Literal["joints", "imu", "history"]
PresetName = Literal["tiny", "fast", "quick", "paper"]


@dataclass(frozen=True)
class MethodInfo:
    """A clustering method.

    Args:
        starts: Name of the starts made of its centroids; ka, km, wkm are the paper's.
        title: Name in tables.
        unused: Settings of `ClusterConfig` that have no effect on it.
    """

    starts: str
    title: str
    unused: tuple[str, ...] = ()


# Methods other than K-Access do not maximize the index, and some choose k themselves.
_OF_INDEX = ("solver", "n_init", "n_bootstrap")
_OF_K = ("k", "k_max", *_OF_INDEX)


METHODS: Mapping[str, MethodInfo] = {
    "kaccess": MethodInfo("ka", "K-Access"),
    "kmeans": MethodInfo("km", "K-Means++", _OF_INDEX),
    "weighted-kmeans": MethodInfo("wkm", "K-Means++, gravity x 2", _OF_INDEX),
    "kmedoids": MethodInfo("kmedoids", "directed k-medoids"),
    "louvain": MethodInfo("louvain", "directed Louvain", _OF_K),
    "infomap": MethodInfo("infomap", "Infomap", _OF_K),
    "spectral": MethodInfo("spectral", "directed spectral", _OF_INDEX),
}
"""Every clustering method by name."""

DEFAULT_METHOD, DEFAULT_TASK = "kaccess", "fall-recovery"
NOMINAL = "nominal"  # text for the conditions of the study
ROUTES = "routes"  # name of the guide, where a learner's name is expected


def _find_tasks() -> dict[str, str]:
    folder = Path(__file__).parents[1] / "envs" / "tasks"
    stems = [path.stem for path in folder.glob("*.py") if path.stem[0] != "_"]
    names = {stem.replace("_", "-"): stem for stem in stems}
    order = sorted(names, key=lambda name: (name != DEFAULT_TASK, name))
    return {name: names[name] for name in order}


TASKS: Mapping[str, str] = _find_tasks()
"""Module of each task, by the task's name; each file in `envs/tasks` is a task."""

if TYPE_CHECKING:
    Method = str
    TaskName = str
else:  # the command line lists the choices
    Method = Literal[tuple(METHODS)]
    TaskName = Annotated[Literal[tuple(TASKS)], NameOrObject(tuple(TASKS))]
