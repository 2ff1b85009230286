"""The folder of a study: its settings, its results, and where they are stored.

`study.json` holds the settings, `study.zarr` the arrays. A file has its final name only
when it is whole: JSON is written beside its place and renamed, Zarr does the same with
each chunk, and a new study is renamed into place as one folder. So a process may be
killed at any moment.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kaccess.access import Nodes, Plan, PostureGraph, count_chain_moves, find_routes
from kaccess.access.estimate import accessibility, split_rows
from kaccess.base.errors import InputError
from kaccess.base.files import whole_folder
from kaccess.base.json_files import write_json
from kaccess.base.settings import Settings, describe_changes
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.config import (
    AccessConfig,
    RobotConfig,
    SampleConfig,
    StillConfig,
    read_config,
)
from kaccess.poses import Poses
from kaccess.robots import Robot, load_robot
from kaccess.study import partial
from kaccess.study.access_parts import AccessMatrix, InMemory, Stored
from kaccess.study.arrays import Arrays
from kaccess.study.clusterings import StoredClustering
from kaccess.study.graph_file import GRAPH_FILE, read_graph, read_n_moves, write_graph
from kaccess.study.layout import create_arrays
from kaccess.study.lock import lock_folder
from kaccess.study.names import OfTask
from kaccess.study.origin import (
    describe_loading,
    describe_origin,
    read_robot_config,
    read_stance,
)
from kaccess.study.result_files import ResultFiles
from kaccess.study.results import explain_result
from kaccess.study.settings_file import (
    FORMAT,
    SETTINGS_FILE,
    explain_settings,
    find_study,
    read_settings,
)

__all__ = ["Study", "StudyLike"]

_ARRAYS_FOLDER = "study.zarr"
_POSE_ARRAYS = ("qpos", "gravity", "height", "roll", "pitch", "contacts")


class Study(ResultFiles):
    """An existing study. Its robot and its poses are loaded once, when first needed.

    Args:
        path: Folder of the study.

    Attributes:
        settings: Content of `study.json`.
        arrays: Content of `study.zarr`.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.settings: dict[str, Any] = read_settings(self.path)
        self.arrays = Arrays(self.path / _ARRAYS_FOLDER)
        self._clusterings: dict[OfTask, StoredClustering] = {}

    @classmethod
    def open(cls, study: "StudyLike") -> "Study":
        """Return the study given, or open the one in that folder."""
        return study if isinstance(study, Study) else cls(study)

    @staticmethod
    def exists(path: str | Path) -> bool:
        """Return whether a study is there; raise `InputError` if something else is."""
        return find_study(Path(path))

    @classmethod
    def create(
        cls,
        path: Path,
        settings: Settings,
        *,
        poses: Mapping[str, Array | BoolArray],
        parts: tuple[str, ...],
        tile_rows: int,
    ) -> "Study":
        """Write a new study, all at once.

        Args:
            path: Folder of the study; it must be empty or not exist yet.
            settings: Content of `study.json`.
            poses: Arrays of n poses by name.
            parts: Names of the columns of `poses["contacts"]`.
            tile_rows: Rows of the time matrix that are computed and stored together.
        """
        with whole_folder(path) as draft:
            write_json(draft / SETTINGS_FILE, {"format": FORMAT, **settings})
            create_arrays(draft / _ARRAYS_FOLDER, poses, parts, tile_rows)
        return cls(path)

    @classmethod
    def store(cls, path: str | Path, settings: Settings, poses: Poses) -> "Study":
        """Write a new study of some poses, and keep them in memory."""
        study = cls.create(
            Path(path),
            {**settings, "loaded": describe_loading(poses.robot)},
            poses={name: getattr(poses, name) for name in _POSE_ARRAYS},
            parts=poses.robot.parts,
            tile_rows=len(split_rows(len(poses))[0]),
        )
        study.__dict__["robot"], study.__dict__["poses"] = poses.robot, poses
        return study

    # Settings

    def record(self, section: str, settings: Settings) -> None:
        """Add a section to `study.json`; an error if it exists with other values.

        Other processes may do the same at the same time. A section that exists is
        never changed, so that a finished study need not be writable.
        """
        if section not in self.settings:
            with lock_folder(self.path):
                self.settings = read_settings(self.path)
                if section not in self.settings:
                    self.settings[section] = dict(settings)
                    write_json(self.path / SETTINGS_FILE, self.settings)
        self.require_same({section: settings})

    def forget(self) -> None:
        """Forget what was made of pairs, after more of them were estimated."""
        for name in ("plan", "access"):
            self.__dict__.pop(name, None)
        self._clusterings.clear()

    @property
    def partial(self) -> dict[str, Any] | None:
        """How some pairs were chosen; None if all are estimated or to be estimated."""
        return self.settings.get("pairs")

    def require_same(self, given: Settings) -> None:
        """Raise `InputError` if the study was made with other values than `given`."""
        if changes := describe_changes(self.settings, given):
            raise InputError(
                f"{self.path} was made differently: {changes}. "
                "Use the same settings, or start a new study."
            )

    @property
    def still(self) -> StillConfig:
        """When a robot counts as static."""
        with explain_settings(self.path):
            return read_config(StillConfig, self.settings["still"])

    @property
    def sampling(self) -> SampleConfig:
        """How the poses were drawn."""
        with explain_settings(self.path):
            return read_config(SampleConfig, self.settings["sample"])

    @property
    def access_config(self) -> AccessConfig:
        """When a pose counts as reached; the defaults before any time is estimated."""
        with explain_settings(self.path):
            return read_config(AccessConfig, self.settings.get("access", {}))

    # Robot, poses, transitions

    @cached_property
    def robot(self) -> Robot:
        """The robot; an error if its model or a version has changed since."""
        with explain_settings(self.path):
            stance = read_stance(self.settings)
        robot = load_robot(self.settings["robot"], self.robot_config, stance=stance)
        with explain_settings(self.path):
            if stance:
                stance.check(robot.model)
        self.require_same(describe_origin(robot))  # not by its path: files may move
        return robot

    @property
    def robot_config(self) -> RobotConfig:
        """What the user has set about the model."""
        with explain_settings(self.path):
            return read_robot_config(self.settings)

    @property
    def test_seconds(self) -> float:
        """Time that a policy has in each test [s]."""
        return self.robot.test_seconds

    @cached_property
    def poses(self) -> Poses:
        """The poses."""
        if self.arrays.parts != self.robot.parts:
            raise InputError(
                f"{self.path / _ARRAYS_FOLDER}/poses/contacts/zarr.json is damaged: "
                "its parts are not those of the robot. Start a new study."
            )
        return Poses(
            self.robot,
            self.arrays.read("poses/qpos"),
            self.contacts,
            mirrored=self.settings["sample"]["mirror"],
        )

    def describe_poses(self) -> Array:
        """Return what tells poses apart, (n, 4 + nu), in tolerances of a pose."""
        return partial.describe_poses(self.poses, self.access_config)

    @property
    def n_poses(self) -> int:
        """Number of poses."""
        return self.arrays.n_poses

    @property
    def contacts(self) -> BoolArray:
        """(n, n_parts) which of `arrays.parts` touch the ground in each pose."""
        return self.arrays.read("poses/contacts")

    @property
    def times(self) -> Array:
        """(n, n) seconds from pose i to j; NaN: not estimated, inf: not reached."""
        return self.arrays.read("times")

    @property
    def outcomes(self) -> IntArray:
        """(n, n) how each transition ended, an `Outcome`; 0: not estimated."""
        return self.arrays.read("outcomes")

    @property
    def is_standing_done(self) -> bool:
        """Whether the moves to standing are estimated, with all that goes with them."""
        rests = self.settings.get("standing", {}).get("rests", False)
        return self.arrays.is_standing_done(rests=rests)

    @property
    def has_lost_standing(self) -> bool:
        """Whether something of the moves to standing is missing; times come last."""
        return not self.is_standing_done and not np.isnan(self.to_standing).any()

    @property
    def nodes(self) -> Nodes | None:
        """The poses and standing as nodes of the posture graph; None if not known."""
        if self.has_lost_standing:
            raise InputError(self.arrays.explain_lost("moves to standing"))
        standing = self.arrays.read_standing()
        if standing is None:
            return None
        return Nodes(self.robot, self.poses.qpos, standing, self.access_config)

    @property
    def has_graph_file(self) -> bool:
        """Whether the posture graph has grown beyond the poses of the study."""
        return (self.path / GRAPH_FILE).is_file()

    @property
    def graph(self) -> PostureGraph | None:
        """The posture graph, grown if it has grown; None if it is not known."""
        nodes = self.nodes
        if nodes is None:
            return None
        if self.has_graph_file:
            return read_graph(self.path / GRAPH_FILE, nodes)
        if self.partial is not None:
            return partial.make_graph(self.arrays, nodes)
        if not self.arrays.has_landings():
            return None
        return PostureGraph.between(nodes, self.arrays.read_landings())

    @property
    def chain_moves(self) -> IntArray | None:
        """(n,) moves of the shortest chain of landings from each pose to standing.

        0 if there is none; None if not known.
        """
        if self.has_graph_file or self.partial or "plan" in self.__dict__:
            return None if self.plan is None else self.plan.n_moves[: self.n_poses]
        if self.nodes is None or not self.arrays.has_landings():
            return None
        return count_chain_moves(self.n_poses, self.arrays.iter_landings())

    @cached_property
    def plan(self) -> Plan | None:
        """The best moves to standing, by where moves ended; None if not known."""
        graph = self.graph
        return None if graph is None else graph.make_plan(horizon=self.test_seconds)

    def write_graph(self, graph: PostureGraph, n_moves: IntArray) -> None:
        """Store a posture graph that has grown, and `n_moves`."""
        write_graph(self.path / GRAPH_FILE, graph, n_moves)
        self.__dict__.pop("plan", None)

    @property
    def n_moves(self) -> IntArray | None:
        """(n,) moves in which each pose stood up in a replay; 0 if it did not.

        None before the replay, and in studies without a plan.
        """
        if self.has_graph_file:
            return read_n_moves(self.path / GRAPH_FILE, self.n_poses)
        return self.arrays.read_n_moves()

    @property
    def has_routes(self) -> bool:
        """Whether any pose stands up: in a replay, or by a chain of landings alone."""
        if self.n_moves is not None and (self.n_moves > 0).any():
            return True
        if self.plan is not None:
            return self.plan.exists
        return find_routes(self.finished_times, self.to_standing).exist

    @property
    def to_standing(self) -> Array:
        """(n,) seconds from each pose to standing; NaN: not estimated."""
        return self.arrays.read("to_standing")

    @to_standing.setter
    def to_standing(self, times: Array | float) -> None:
        self.arrays.array("to_standing")[:] = times

    @property
    def is_timed(self) -> bool:
        """Whether all times are estimated, or those that a partial study asks for."""
        return self.partial is not None or not self.arrays.count_missing()

    @property
    def finished_times(self) -> Array:
        """(n, n) transition times; an error while some are not estimated.

        In a partial study, pairs that were not estimated count as not reached: inf.
        """
        if self.partial is not None:
            return np.nan_to_num(self.times, nan=np.inf, posinf=np.inf)
        self.arrays.require_finished()
        return self.times

    @cached_property
    def access(self) -> Array:
        """(n, n) accessibilities; an error while some times are not estimated.

        In a partial study, some of those that were not estimated are predicted.
        """
        if self.partial is not None:
            return partial.fill_access(self.times, self.describe_poses(), self.partial)
        self.arrays.require_finished()
        access = np.empty((self.n_poses, self.n_poses), np.float32)
        for rows, times in self.arrays.read_in_parts("times"):
            access[rows] = accessibility(times)
        return access

    @property
    def _matrix(self) -> AccessMatrix:
        """The accessibilities; in memory if they are there already, or predicted."""
        if self.partial is not None or "access" in self.__dict__:
            return InMemory(self.access)
        return Stored(self.arrays)

    # Results

    @property
    def clusterings(self) -> dict[str, StoredClustering]:
        """Clusterings of all poses by method; an error while times are missing."""
        found = self.all_clusterings
        return {name.name: each for name, each in found.items() if not name.task}

    @property
    def all_clusterings(self) -> dict[OfTask, StoredClustering]:
        """Clusterings of all poses, and of those that a task can start from."""
        stored = self.read_jsons("clusters")
        known = {name.text for name in self._clusterings}
        if self.partial is None and stored.keys() - known:
            self.arrays.require_finished()
        for text, content in stored.items():
            if (name := OfTask.parse(text)) not in self._clusterings:
                with explain_result(self.path / "clusters" / f"{text}.json"):
                    self._clusterings[name] = StoredClustering.read(
                        self._matrix, content, whole=not name.task
                    )
        return dict(sorted(self._clusterings.items(), key=lambda item: item[0].key))

    def keep_clustering(self, name: OfTask, clustering: StoredClustering) -> None:
        """Keep a clustering in memory that was just stored."""
        self._clusterings[name] = clustering


StudyLike = Study | str | Path
"""A study, or its folder."""
