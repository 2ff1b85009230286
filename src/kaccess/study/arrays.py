"""The arrays of a study, in `study.zarr`: poses, transition times and outcomes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from kaccess.access.landings import Landings
from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray

__all__ = ["Arrays", "create_arrays"]

_LANDINGS = {"node": "int32", "distance": "float32", "seconds": "float32"}
_MOST_STATES = 2**28  # bytes of the states in which moves end, if they are stored
_NAMES = ("poses/qpos", "poses/contacts", "times", "outcomes", "to_standing")
_READ_SIZE = 2**24  # times read at once in the search for missing ones


def create_arrays(
    path: Path,
    poses: Mapping[str, Array | BoolArray],
    parts: tuple[str, ...],
    tile_rows: int,
) -> None:
    """Write the arrays of a new study; no transition is estimated yet.

    Args:
        path: Folder of the arrays.
        poses: Arrays of n poses by name.
        parts: Names of the columns of `poses["contacts"]`.
        tile_rows: Rows of the time matrix that are computed and stored together.
    """
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
    _create_landings(group.create_group("landings"), poses["qpos"].shape, tile)


def _create_landings(
    group: zarr.Group, shape: tuple[int, ...], tile: tuple[int, int]
) -> None:
    """Write empty arrays of landings: of all moves, of those to standing, and where."""
    n, nq = shape
    for name, dtype in _LANDINGS.items():
        fill = -1 if dtype == "int32" else np.nan
        group.create_array(
            name, shape=(n, n), chunks=tile, dtype=dtype, fill_value=fill
        )
        group.create_array(
            f"{name}_standing", shape=(n,), chunks=(n,), dtype=dtype, fill_value=fill
        )
    if 4 * n * n * nq <= _MOST_STATES:
        group.create_array(
            "states", shape=(n, n, nq), chunks=(*tile, nq), dtype="float32"
        )
        group.create_array("states_standing", shape=(n, nq), dtype="float32")
    group.create_array(
        "standing", shape=(nq,), chunks=(nq,), dtype="float64", fill_value=np.nan
    )
    group.create_array("n_moves", shape=(n,), chunks=(n,), dtype="int32", fill_value=-1)


class Arrays:
    """The arrays of an existing study.

    Args:
        path: Folder of the arrays.

    Raises:
        InputError: If an array is missing or cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._group = zarr.open_group(path, mode="r+")
            missing = [name for name in _NAMES if name not in self._group]
        except (FileNotFoundError, ValueError, KeyError) as error:
            raise InputError(
                f"{path} cannot be read: {error}. Start a new study."
            ) from error
        if missing:
            raise InputError(
                f"{path} is damaged: it has no array {missing[0]!r}. Start a new study."
            )

    def read(
        self, name: str, start: int | None = None, stop: int | None = None
    ) -> np.ndarray:
        """Return an array, or some rows of it."""
        try:
            return np.asarray(self.array(name)[start:stop])
        except (RuntimeError, ValueError) as error:  # from the decompressor
            raise InputError(
                f"{self._path}/{name} is damaged: {error}. Delete the chunk that "
                "cannot be read, or start a new study."
            ) from error

    def array(self, name: str) -> "zarr.Array[Any]":
        """Return the stored array of that name."""
        array = self._group[name]
        assert isinstance(array, zarr.Array)
        return array

    @property
    def n_poses(self) -> int:
        """Number of poses."""
        return int(self.array("times").shape[0])

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the columns of the poses' `contacts`."""
        return tuple(self.array("poses/contacts").attrs["parts"])  # type: ignore[arg-type]  # JSON

    def tiles(self, only_rows: range | None = None) -> list[range]:
        """Return the rows of each tile; `only_rows` skips tiles without these rows."""
        n, size = self.n_poses, self.array("times").chunks[0]
        wanted = range(n) if only_rows is None else only_rows
        if not 0 <= wanted.start < wanted.stop <= n:
            raise InputError(
                f"`only_rows` must be START:STOP within 0:{n}, the poses of the study, "
                f"got {wanted.start}:{wanted.stop}."
            )
        first = wanted.start // size * size
        return [range(at, min(at + size, n)) for at in range(first, wanted.stop, size)]

    def rows_done(self) -> BoolArray:
        """Return which rows of the times are stored, (n,)."""
        step = max(1, _READ_SIZE // self.n_poses)
        return np.concatenate(
            [
                ~np.isnan(self.read("times", start, start + step)).any(axis=1)
                for start in range(0, self.n_poses, step)
            ]
        )

    def write_rows(
        self,
        rows: range,
        times: Array,
        outcomes: IntArray,
        landings: Landings | None = None,
    ) -> None:
        """Store a tile. Times are written last: they mark the tile as done."""
        self.array("outcomes")[rows.start : rows.stop] = outcomes
        if landings is not None and "landings" in self._group:
            for name in self._landing_parts:
                array = self.array(f"landings/{name}")
                array[rows.start : rows.stop] = getattr(landings, name)
        self.array("times")[rows.start : rows.stop] = times

    @property
    def _landing_parts(self) -> tuple[str, ...]:
        """Names of the arrays of landings."""
        states = ("states",) if "landings/states" in self._group else ()
        return *_LANDINGS, *states

    def write_standing(self, landings: Landings, standing: Array) -> None:
        """Store the landings of the moves to standing, (n,), and the standing state."""
        if "landings" in self._group:
            for name in self._landing_parts:
                self.array(f"landings/{name}_standing")[:] = getattr(landings, name)
            self.array("landings/standing")[:] = standing

    def write_n_moves(self, n_moves: IntArray) -> None:
        """Store in how many moves each pose stood up in a replay, (n,)."""
        self.array("landings/n_moves")[:] = n_moves

    def read_n_moves(self) -> IntArray | None:
        """Return in how many moves each pose stood up, (n,); None if not replayed."""
        if "landings" not in self._group:
            return None
        n_moves = self.read("landings/n_moves")
        return None if (n_moves < 0).any() else n_moves

    def read_standing(self) -> Array | None:
        """Return the standing state at rest, (nq,); None if it is not known."""
        if "landings" not in self._group:
            return None
        standing = self.read("landings/standing")
        return None if np.isnan(standing).any() else standing

    def read_landings(self) -> Landings | None:
        """Return all landings, (n, n + 1).

        Return None if they are not known: before all moves are estimated, in studies
        made before landings were stored, and of robots that cannot stand.
        """
        if self.read_standing() is None:
            return None
        parts = {
            name: np.concatenate(
                [
                    self.read(f"landings/{name}"),
                    self.read(f"landings/{name}_standing")[:, None],
                ],
                axis=1,
            )
            for name in self._landing_parts
        }
        return None if (parts["node"] < 0).any() else Landings(**parts)
