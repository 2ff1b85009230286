"""The arrays of a study, in `study.zarr`: poses, transition times and outcomes.

A chunk is a file, with a checksum. A missing chunk counts as not estimated: `kaccess
access` estimates it again.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from statistics import mode
from typing import Any

import numpy as np
import zarr

from kaccess.access.landings import Landings
from kaccess.base.damage import DAMAGE, explain_damage
from kaccess.base.errors import InputError
from kaccess.base.types import Array, BoolArray, IntArray
from kaccess.study.chunk_files import remove_drafts, write_rows
from kaccess.study.layout import LANDINGS, POSES, Layout, describe_layout

__all__ = ["Arrays"]

_NAMES = (*POSES, "times", "outcomes", "to_standing")  # every study has them
_READ_SIZE = 2**22  # numbers read at once from arrays of all pairs
_MOST = 2 * 10**5  # rows, columns or chunks of an array; more are a damaged shape
_MOST_OF_POSES = 1000  # chunks of an array of poses, which are large
_ALL = slice(None)
_NEW = "Put back a copy of it, or start a new study."


class Arrays:
    """The arrays of an existing study.

    Args:
        path: Folder of the arrays.

    Raises:
        InputError: If an array is missing or cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        if not (path / "zarr.json").is_file():
            raise InputError(f"{path} cannot be read: it has no zarr.json. {_NEW}")
        with explain_damage(path / "zarr.json", _NEW):
            self._group = zarr.open_group(path, mode="r+")
        self._known: dict[str, zarr.Array[Any]] = {}
        for name in _NAMES:
            self.array(name)
        self._layout = self._find_layout()
        for name, expected in self._layout.items():
            self._check(name, expected)

    def _find_layout(self) -> dict[str, Layout]:
        """Return the arrays that `access` fills, and how they must be stored."""
        landings = (self._path / "landings").exists()  # since landings are stored
        states = (self._path / "landings" / "states").exists()
        tiled, long = ["times", "outcomes"], ["poses/qpos"]
        if landings:
            tiled += [f"landings/{name}" for name in LANDINGS]
            long += ["landings/standing"]
        if states:
            long += ["landings/states"]
        # What most arrays say: so the one that is damaged is named, not another.
        n = mode(self.array(name).shape[0] for name in (*_NAMES, *tiled))
        nq = mode(self.array(name).shape[-1] for name in long)
        tile_rows = mode(self.array(name).chunks[0] for name in tiled)
        with explain_damage(self._path / "poses/qpos/zarr.json", _NEW):
            if (shape := self.array("poses/qpos").shape) != (n, nq):
                raise ValueError(f"its shape is {shape}, not {(n, nq)}")
        layout = describe_layout(n, nq, tile_rows)
        return {
            name: array
            for name, array in layout.items()
            if (landings or not name.startswith("landings/"))
            and (states or not name.startswith("landings/states"))
        }

    def _check(self, name: str, expected: Layout) -> None:
        """Raise `InputError` if an array is not stored as expected."""
        array = self.array(name)
        in_one_chunk = expected.chunks == expected.shape
        found = Layout(
            array.shape,
            expected.chunks if in_one_chunk else array.chunks,
            str(array.dtype),
            float(array.fill_value),
        )
        with explain_damage(self._path / name / "zarr.json", _NEW):
            if repr(found) != repr(expected):  # NaN is not equal to itself
                raise ValueError(f"it says {found}, not {expected}")

    def read(self, name: str, rows: slice | IntArray = _ALL) -> np.ndarray:
        """Return an array, or some rows of it.

        Raises:
            InputError: If a chunk is damaged, or a chunk of the poses is missing.
        """
        array = self.array(name)
        try:
            values = np.asarray(array.oindex[rows])  # type: ignore[index]  # any integers
        except DAMAGE as error:
            problems = self.find_damage(name)
            text = problems[0] if problems else f"{self._path}/{name}: {error}"
            raise InputError(text) from error
        if name in POSES and (problems := self.find_damage(name)):
            raise InputError(problems[0])
        return values

    def read_in_parts(self, name: str) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the rows of a large array, some at a time, and where they belong."""
        for rows in self._split_rows(math.prod(self.array(name).shape[1:])):
            yield rows, self.read(name, rows)

    def _split_rows(self, size: int) -> Iterator[slice]:
        """Yield rows that are read together, of arrays with `size` numbers in each."""
        step = max(1, _READ_SIZE // size)
        for start in range(0, self.n_poses, step):
            yield slice(start, min(start + step, self.n_poses))

    def iter_tiles(self) -> Iterator[tuple[Array, IntArray]]:
        """Yield times and outcomes, some rows at a time."""
        outcomes = self.read_in_parts("outcomes")
        for (_, times), (_, found) in zip(
            self.read_in_parts("times"), outcomes, strict=True
        ):
            yield times, found

    def iter_landings(self) -> Iterator[Landings]:
        """Yield where moves landed, some rows at a time, without states."""
        for rows in self._split_rows(self.n_poses):
            yield self.read_landings_from(rows)

    def read_landings_from(self, rows: slice | IntArray) -> Landings:
        """Return where moves from some poses landed, (k, n + 1), without states."""
        parts = [
            np.concatenate(
                [
                    self.read(f"landings/{name}", rows),
                    self.read(f"landings/{name}_standing", rows)[:, None],
                ],
                axis=1,
            )
            for name in LANDINGS
        ]
        return Landings(*parts)

    def find_damage(self, name: str) -> list[str]:
        """Return what is wrong with the chunks of an array, a sentence each."""
        array, remedy = self.array(name), self._get_remedy(name)
        problems = []
        for where, path in zip(
            np.ndindex(array.cdata_shape), self._list_chunks(name), strict=True
        ):
            try:
                with explain_damage(path, remedy):
                    array.blocks[where]
            except InputError as error:
                problems.append(str(error))
            if name in POSES and not path.is_file():
                problems.append(f"{path} is missing. {remedy}")
        return problems

    def find_lost_rows(self) -> IntArray:
        """Return the rows whose times are stored, but not all that goes with them."""
        return np.flatnonzero(self._rows_stored("times") & ~self.rows_done())

    def _list_chunks(self, name: str) -> list[Path]:
        """Return the files of the chunks of an array; some may not exist yet."""
        array, folder = self.array(name), self._path / name
        keys = np.ndindex(array.cdata_shape)
        return [folder / array.metadata.encode_chunk_key(key) for key in keys]

    def _get_remedy(self, name: str) -> str:
        if name.startswith("poses/"):
            return _NEW
        return (
            f"Delete this file, then run `kaccess access {self._path.parent}` again: "
            "it estimates what is missing."
        )

    def array(self, name: str) -> "zarr.Array[Any]":
        """Return the stored array of that name."""
        if name not in self._known:
            file = self._path / name / "zarr.json"
            if not file.is_file():
                raise InputError(
                    f"{self._path} is damaged: it has no array {name!r}. {_NEW}"
                )
            with explain_damage(file, _NEW):
                array = self._group[name]
                if not isinstance(array, zarr.Array):
                    raise ValueError("it describes no array")
                n_chunks = math.prod(array.cdata_shape)
                most = _MOST_OF_POSES if name.startswith("poses/") else _MOST
                if n_chunks > most or max(array.shape) > _MOST:
                    raise ValueError(f"its shape is {array.shape}")
                self._known[name] = array
        return self._known[name]

    @property
    def names(self) -> list[str]:
        """Names of all arrays."""
        poses = sorted((self._path / "poses").glob("*/zarr.json"))
        return [*(f"poses/{path.parent.name}" for path in poses), *self._layout]

    @property
    def n_poses(self) -> int:
        """Number of poses."""
        return int(self.array("times").shape[0])

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the columns of the poses' `contacts`."""
        contacts = self.array("poses/contacts")
        with explain_damage(self._path / "poses/contacts/zarr.json", _NEW):
            parts = tuple(map(str, contacts.attrs["parts"]))  # type: ignore[arg-type]  # JSON
            if contacts.shape != (self.n_poses, len(parts)):
                raise ValueError(f"its shape is {contacts.shape}")
        return parts

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
        """Return which rows are stored, (n,): their times and all that goes with them.

        Landings are not stored if the robot does not stay standing.
        """
        stored = [self._rows_stored(name) for name in self.row_arrays]
        return np.asarray(np.all(stored, axis=0))

    def has_all(self, name: str) -> bool:
        """Return whether all rows of an array are stored."""
        return bool(self._rows_stored(name).all())

    def count_missing(self) -> int:
        """Return how many transitions are not estimated, counted in whole rows."""
        is_full = self.has_all("times") and self.has_all("outcomes")
        return 0 if is_full else int((~self.rows_done()).sum()) * self.n_poses

    def require_finished(self) -> None:
        """Raise `InputError` while some transitions are not estimated."""
        if missing := self.count_missing():
            n, study = self.n_poses, self._path.parent
            raise InputError(
                f"{missing:,} of {n * n:,} pairs of {study} are not estimated yet. Run "
                f"`kaccess access {study}` first."
            )

    def _rows_stored(self, name: str) -> BoolArray:
        """Return which rows of an array are stored, with all their pairs, (n,)."""
        fill, parts = self._layout[name].fill, self.read_in_parts(name)
        found = [(~_is_fill(values, fill, 2)).all(axis=1) for _, values in parts]
        return np.concatenate(found)

    def find_known(self) -> BoolArray:
        """Return which pairs are stored, (n, n): times and all that goes with them."""
        known = np.ones((self.n_poses, self.n_poses), bool)
        for name in self.row_arrays:
            fill = self._layout[name].fill
            for rows, values in self.read_in_parts(name):
                known[rows] &= ~_is_fill(values, fill, 2)
        return known

    @property
    def row_arrays(self) -> tuple[str, ...]:
        """Names of the arrays that a tile consists of, in the order of writing."""
        landings = self.landing_parts if self.read_standing() is not None else ()
        return "outcomes", *(f"landings/{name}" for name in landings), "times"

    def write_rows(
        self,
        rows: range,
        times: Array,
        outcomes: IntArray,
        landings: Landings | None = None,
    ) -> None:
        """Store a tile. Times are written last: they mark the tile as done."""
        parts = {"outcomes": outcomes}
        if landings is not None:
            for name in self.landing_parts:
                parts[f"landings/{name}"] = getattr(landings, name)
        for name, values in (parts | {"times": times}).items():
            write_rows(self.array(name), self._path / name, rows, values)

    @property
    def has_states(self) -> bool:
        """Whether the states in which moves end are stored too."""
        return "landings/states" in self._layout

    @property
    def landing_parts(self) -> tuple[str, ...]:
        """Names of the arrays of landings; none in studies made before them."""
        names = (*LANDINGS, "states")
        return tuple(name for name in names if f"landings/{name}" in self._layout)

    def is_standing_done(self, *, rests: bool) -> bool:
        """Return whether the moves to standing are stored, with their landings.

        Args:
            rests: Whether the robot stays standing; if not, it has no landings.
        """
        if np.isnan(self.read("to_standing")).any():
            return False
        if not rests or not self.landing_parts:
            return True
        names = [f"landings/{name}_standing" for name in self.landing_parts]
        stored = [~_is_fill(self.read(name), self._layout[name].fill) for name in names]
        return bool(np.all(stored)) and self.read_standing() is not None

    def write_standing(self, landings: Landings, standing: Array) -> None:
        """Store the landings of the moves to standing, (n,), and the standing state."""
        for name in self.landing_parts:
            self.array(f"landings/{name}_standing")[:] = getattr(landings, name)
        if self.landing_parts:
            self.array("landings/standing")[:] = standing

    def write_n_moves(self, n_moves: IntArray) -> None:
        """Store in how many moves each pose stood up in a replay, (n,)."""
        self.array("landings/n_moves")[:] = n_moves

    def forget_n_moves(self) -> None:
        """Forget the replay, which was made of fewer moves."""
        if self.landing_parts:
            self.write_n_moves(np.full(self.n_poses, -1, np.int32))

    def read_n_moves(self) -> IntArray | None:
        """Return in how many moves each pose stood up, (n,); None if not replayed."""
        if not self.landing_parts:
            return None
        n_moves = self.read("landings/n_moves")
        return None if (n_moves < 0).any() else n_moves

    def read_standing(self) -> Array | None:
        """Return the standing state at rest, (nq,); None if it is not known."""
        if not self.landing_parts:
            return None
        standing = self.read("landings/standing")
        return None if np.isnan(standing).any() else standing

    def has_landings(self) -> bool:
        """Return whether all landings are stored.

        Raises:
            InputError: If some were stored and are missing now; times are stored last.
        """
        names = [f"landings/{name}" for name in self.landing_parts]
        has_all = bool(names) and all(map(self.has_all, names))
        if names and not has_all and self.has_all("times"):
            raise InputError(self.explain_lost("landings"))
        return has_all

    def explain_lost(self, what: str) -> str:
        """Say that something is missing that was stored, and what to do."""
        return (
            f"Some {what} in {self._path} are missing: a file was deleted. Run "
            f"`kaccess access {self._path.parent}` again; it estimates them."
        )

    def read_landings(self) -> Landings:
        """Return all landings, (n, n + 1); they must be stored."""
        parts = {
            name: np.concatenate(
                [
                    self.read(f"landings/{name}"),
                    self.read(f"landings/{name}_standing")[:, None],
                ],
                axis=1,
            )
            for name in self.landing_parts
        }
        return Landings(**parts)

    def remove_drafts(self) -> None:
        """Remove chunks that a process was writing when it was killed."""
        remove_drafts(self._path)


def _is_fill(values: np.ndarray, fill: float, n_axes: int = 1) -> BoolArray:
    """Return where there is nothing but the value for what is not estimated.

    Args:
        values: Array.
        fill: That value.
        n_axes: Number of axes of the result: 1 for rows, 2 for pairs.
    """
    empty = np.isnan(values) if np.isnan(fill) else values == fill
    return np.asarray(empty.reshape(*values.shape[:n_axes], -1).all(axis=n_axes))
