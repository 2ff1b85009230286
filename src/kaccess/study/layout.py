"""The arrays that `study.zarr` holds: names, shapes, types, and how they are stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import zarr
from zarr.core.array_spec import ArrayConfigParams
from zarr.core.chunk_key_encodings import ChunkKeyEncodingLike

from kaccess.base.types import Array, BoolArray
from kaccess.study.chunk_files import CODECS

__all__ = ["LANDINGS", "POSES", "Layout", "create_arrays", "describe_layout"]

POSES = ("poses/qpos", "poses/contacts")
LANDINGS = {"node": "int32", "distance": "float32", "seconds": "float32"}
_MOST_STATES = 2**28  # bytes of the states in which moves end, if they are stored
# Files c.0.0 beside each other, not c/0/0: to make a folder takes longer than a file.
_CHUNK_NAMES: ChunkKeyEncodingLike = {"name": "default", "separator": "."}
_FILL = {"int32": -1.0, "uint8": 0.0, "float32": np.nan, "float64": np.nan}


@dataclass(frozen=True)
class Layout:
    """An array that `access` fills.

    Args:
        shape: Shape of the array.
        chunks: Shape of a chunk, which is one file.
        dtype: Type of its numbers.
        fill: Value where nothing is estimated yet, and of chunks that are missing.
    """

    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    dtype: str
    fill: float

    @classmethod
    def of(cls, shape: tuple[int, ...], dtype: str, tile_rows: int = 0) -> "Layout":
        """Return the layout of an array in one chunk, or in tiles of some rows."""
        rows = tile_rows or shape[0]
        return cls(shape, (rows, *shape[1:]), dtype, _FILL[dtype])


def describe_layout(n: int, nq: int, tile_rows: int) -> dict[str, Layout]:
    """Return the arrays of a study, except its poses, by name.

    Args:
        n: Number of poses.
        nq: Length of a state.
        tile_rows: Rows of the time matrix that are computed and stored together.
    """
    arrays = {
        "times": Layout.of((n, n), "float32", tile_rows),
        "outcomes": Layout.of((n, n), "uint8", tile_rows),
        "to_standing": Layout.of((n,), "float32"),
        "landings/standing": Layout.of((nq,), "float64"),
        "landings/n_moves": Layout.of((n,), "int32"),
    }
    for name, dtype in LANDINGS.items():
        arrays[f"landings/{name}"] = Layout.of((n, n), dtype, tile_rows)
        arrays[f"landings/{name}_standing"] = Layout.of((n,), dtype)
    if 4 * n * n * nq <= _MOST_STATES:
        tile, row = (tile_rows, n, nq), (n, nq)
        arrays["landings/states"] = Layout((n, n, nq), tile, "float32", 0.0)
        arrays["landings/states_standing"] = Layout(row, row, "float32", 0.0)
    return arrays


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
    every_chunk: ArrayConfigParams = {"write_empty_chunks": True}  # or it is lost
    for name, values in poses.items():
        group.create_array(
            f"poses/{name}",
            data=values,
            compressors=CODECS,
            chunk_key_encoding=_CHUNK_NAMES,
            config=every_chunk,
        )
    group["poses/contacts"].attrs["parts"] = list(parts)
    n, nq = poses["qpos"].shape
    for name, array in describe_layout(n, nq, min(tile_rows, n)).items():
        group.create_array(
            name,
            shape=array.shape,
            chunks=array.chunks,
            dtype=array.dtype,
            fill_value=np.dtype(array.dtype).type(array.fill),
            compressors=CODECS,
            chunk_key_encoding=_CHUNK_NAMES,
            config=every_chunk,
        )
