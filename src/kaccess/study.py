"""A study: one folder that holds all of one robot's poses, times, clusters and runs.

`study.json` says what was computed and how; `study.zarr` holds the arrays. Every file
has its final name only when it is whole: JSON is written beside its place and renamed,
Zarr does the same with each chunk, and a new study is renamed into place as one folder.
So a process may be killed at any moment.
"""

import inspect
import json
import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import numpy as np
import zarr

from kaccess.errors import InputError
from kaccess.files import whole_file
from kaccess.types import Array, BoolArray, IntArray

__all__ = ["Settings", "Study", "add_time", "flatten", "timed"]

Settings = Mapping[str, Any]
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_FORMAT = 1
_READ_SIZE = 2**24  # times that are held in memory to see which are there
_NOTHING = 0.1  # [s]: a stage that takes less has found all of it done
_SECTIONS = {"robot": str, "model": str, "versions": dict, "sample": dict}
_ARRAYS = ("poses/qpos", "poses/contacts", "times", "outcomes", "to_standing")


class Study:
    """An existing study.

    Args:
        path: Its folder.

    Attributes:
        settings: What `study.json` holds.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.settings: dict[str, Any] = _read_settings(self.path)
        self._arrays = _open_arrays(self.path / "study.zarr")

    @staticmethod
    def exists(path: Path) -> bool:
        """Return whether a study is there; raise `InputError` if something else is."""
        if (path / "study.json").is_file():
            return True
        if path.exists() and not (path.is_dir() and not any(path.iterdir())):
            raise InputError(
                f"{path} exists and is not a study (it has no study.json). "
                "Give a new folder."
            )
        above = next(parent for parent in path.resolve().parents if parent.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise InputError(f"{path} cannot be made: {above} cannot be written to.")
        return False

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
            path: Its folder; must not exist, or be empty.
            settings: What `study.json` shall hold.
            poses: Arrays of n poses by name.
            parts: Names of the columns of `poses["contacts"]`.
            tile_rows: Rows of the time matrix that are computed and stored together.
        """
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.parent / f".{path.name}.{uuid.uuid4().hex[:8]}.part"
        draft.mkdir()
        try:
            _write_json(draft / "study.json", {"format": _FORMAT, **settings})
            _create_arrays(draft / "study.zarr", poses, parts, tile_rows)
            draft.replace(path)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        return cls(path)

    def record(self, section: str, settings: Settings) -> None:
        """Add a section to `study.json`, or refuse if it is there with other values."""
        # Another process may have written it since: read again, and write only if new.
        self.settings = _read_settings(self.path)
        if section not in self.settings:
            self.settings[section] = dict(settings)
            _write_json(self.path / "study.json", self.settings)
        self.require_same({section: settings})

    def require_same(self, given: Settings) -> None:
        """Raise `InputError` if the study was made with other values than `given`."""
        stored, given = flatten(self.settings), flatten(given)
        differing = [
            f"{name} was {_short(stored.get(name))} and is now {_short(value)}"
            for name, value in given.items()
            if stored.get(name) != value
        ]
        if differing:
            raise InputError(
                f"{self.path} was made differently: {'; '.join(differing)}. "
                "Use the same, or start a new study."
            )

    def write_json(self, name: str, content: Settings) -> Path:
        """Write a file of results, such as `clusters/kaccess.json`."""
        path = self.path / name
        _write_json(path, content)
        return path

    def read_jsons(self, folder: str) -> dict[str, dict[str, Any]]:
        """Return the contents of the JSON files in a folder, by their stems."""
        paths = sorted((self.path / folder).glob("*.json"))
        return {path.stem: json.loads(path.read_text()) for path in paths}

    def pose_array(self, name: str) -> np.ndarray:
        """Return one of the arrays of the poses, such as `qpos`, (n, nq)."""
        return self._read(f"poses/{name}")

    @property
    def n_poses(self) -> int:
        """Number of poses."""
        return int(self._array("times").shape[0])

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the columns of the poses' `contacts`."""
        return tuple(self._array("poses/contacts").attrs["parts"])  # type: ignore[arg-type]  # JSON

    @property
    def times(self) -> Array:
        """(n, n) seconds from pose i to j; NaN is not estimated, inf not reached."""
        return self._read("times")

    @property
    def outcomes(self) -> IntArray:
        """(n, n) how each transition ended; 0 is not estimated."""
        return self._read("outcomes")

    @property
    def to_standing(self) -> Array:
        """(n,) seconds from each pose to standing; NaN is not estimated."""
        return self._read("to_standing")

    @to_standing.setter
    def to_standing(self, times: Array | float) -> None:
        self._array("to_standing")[:] = times

    def tiles(self, only_rows: range | None = None) -> list[range]:
        """Return the rows of each tile, or of each that has any of some rows."""
        n, size = self.n_poses, self._array("times").chunks[0]
        wanted = range(n) if only_rows is None else only_rows
        if not 0 <= wanted.start < wanted.stop <= n:
            raise InputError(
                f"`only_rows` must be START:STOP within 0:{n}, the poses of the study, "
                f"got {wanted.start}:{wanted.stop}."
            )
        first = wanted.start // size * size
        return [range(at, min(at + size, n)) for at in range(first, wanted.stop, size)]

    def done(self) -> BoolArray:
        """Return which rows of the times are stored, (n,)."""
        step = max(1, _READ_SIZE // self.n_poses)
        return np.concatenate(
            [
                ~np.isnan(self._read("times", start, start + step)).any(axis=1)
                for start in range(0, self.n_poses, step)
            ]
        )

    def write_rows(self, rows: range, times: Array, outcomes: IntArray) -> None:
        """Store a tile. The times come last: a tile counts as done when they are in."""
        self._array("outcomes")[rows.start : rows.stop] = outcomes
        self._array("times")[rows.start : rows.stop] = times

    def _array(self, name: str) -> "zarr.Array[Any]":
        array = self._arrays[name]
        assert isinstance(array, zarr.Array)
        return array

    def _read(
        self, name: str, start: int | None = None, stop: int | None = None
    ) -> np.ndarray:
        """Return rows of an array."""
        try:
            return np.asarray(self._array(name)[start:stop])
        except (RuntimeError, ValueError) as error:  # from the decompressor
            raise InputError(
                f"{self.path}/study.zarr/{name} is damaged: {error}. Delete the chunk "
                "that cannot be read, or start a new study."
            ) from error


def _create_arrays(
    path: Path,
    poses: Mapping[str, Array | BoolArray],
    parts: tuple[str, ...],
    tile_rows: int,
) -> None:
    group = zarr.create_group(path)
    pose_group = group.create_group("poses")
    for name, values in poses.items():
        pose_group.create_array(name, data=values)
    pose_group["contacts"].attrs["parts"] = list(parts)

    n = len(poses["qpos"])
    tile = (tile_rows, n)
    group.create_array(
        "times", shape=(n, n), chunks=tile, dtype="float32", fill_value=np.nan
    )
    group.create_array(
        "outcomes", shape=(n, n), chunks=tile, dtype="uint8", fill_value=0
    )
    group.create_array(
        "to_standing", shape=(n,), chunks=(n,), dtype="float32", fill_value=np.nan
    )


def _open_arrays(path: Path) -> zarr.Group:
    """Open the arrays of a study, all of which must be there."""
    try:
        group = zarr.open_group(path, mode="r+")
        missing = [name for name in _ARRAYS if name not in group]
    except (FileNotFoundError, ValueError, KeyError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from error
    if missing:
        raise InputError(f"{path} is damaged: it has no array {missing[0]!r}.")
    return group


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads((path / "study.json").read_text())
    except FileNotFoundError:
        raise InputError(
            f"{path} is not a study (it has no study.json). "
            f"Make one with `kaccess sample ROBOT {path}`."
        ) from None
    except (ValueError, OSError) as error:
        raise InputError(f"{path}/study.json cannot be read: {error}.") from error
    known = isinstance(settings, dict) and settings.get("format") == _FORMAT
    if not known or not all(
        isinstance(settings.get(section), kind) for section, kind in _SECTIONS.items()
    ):
        raise InputError(f"{path}/study.json is not of a study this version can read.")
    return dict(settings)


def _write_json(path: Path, content: Settings) -> None:
    with whole_file(path) as draft:
        draft.write_text(json.dumps(content, indent=2, default=_plain) + "\n")


def _plain(value: object) -> object:
    """Return arrays and dataclasses as JSON knows them, NaN as null."""
    if isinstance(value, np.ndarray):
        plain = value.astype(object)
        plain[value != value] = None
        return plain.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} cannot be written as JSON.")


def _short(value: object) -> str:
    """Return a value for a message; a hash is told apart by its first digits."""
    text = repr(value)
    return text if len(text) < 60 else f"{text[:13]}...'"


def add_time(path: Path, stage: str, seconds: float) -> None:
    """Add to the time that a stage of a study has taken, in its `timings.json`.

    Args:
        path: Folder of the study; nothing is noted if there is none.
        stage: Name of the stage.
        seconds: How long it took; what had nothing to do is not noted.
    """
    if seconds < _NOTHING or not (path / "study.json").is_file():
        return
    file = path / "timings.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    _write_json(file, known | {stage: round(known.get(stage, 0.0) + seconds, 1)})


def timed(stage: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Have the time that a stage takes noted in its study, interrupted or not."""

    @wraps(stage)
    def run(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        begun = time.monotonic()
        try:
            return stage(*args, **kwargs)
        finally:
            path = inspect.signature(stage).bind(*args, **kwargs).arguments["path"]
            add_time(path, stage.__name__, time.monotonic() - begun)

    return run


def flatten(settings: Settings, prefix: str = "") -> dict[str, Any]:
    """Return nested settings as one level with dotted names."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat
