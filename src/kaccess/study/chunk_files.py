"""Chunks of the large arrays, written as files: the same bytes as Zarr's, sooner.

Zarr takes a millisecond or more of CPU time for each chunk, whatever its size. Tiles
from a cluster come faster than that, so whole chunks are encoded and written here. A
chunk is written to a name that ends in `.partial`, and then renamed: a file that has
its final name is whole.
"""

import os
import time
import uuid
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import zarr
from numcodecs.zstd import Zstd
from zarr.codecs import BytesCodec, Crc32cCodec, ZstdCodec

__all__ = ["CODECS", "remove_drafts", "write_rows"]

CODECS = (ZstdCodec(), Crc32cCodec())  # of all arrays: compressed, with a checksum
_ABANDONED = 3600.0  # [s], after which a chunk that is half-written is removed
_ZSTD = Zstd(level=CODECS[0].level, checksum=CODECS[0].checksum)


def write_rows(
    array: "zarr.Array[Any]", folder: Path, rows: range, values: np.ndarray
) -> None:
    """Store some rows of an array whose chunks are whole rows.

    Args:
        array: Array.
        folder: Its folder.
        rows: Rows.
        values: Their values.
    """
    size, n = array.chunks[0], array.shape[0]
    whole = rows.start % size == 0 and (rows.stop % size == 0 or rows.stop == n)
    if not (whole and _is_plain(array)):
        array[rows.start : rows.stop] = values
        return
    values = np.asarray(values, array.dtype)
    for at in range(0, len(rows), size):
        key = ((rows.start + at) // size, *(0 for _ in array.shape[1:]))
        path = folder / array.metadata.encode_chunk_key(key)
        _put(path, _encode(_fill(array, values[at : at + size])))


def _is_plain(array: "zarr.Array[Any]") -> bool:
    """Return whether an array has our codecs, and chunks of whole rows."""
    codecs = tuple(array.metadata.codecs)  # type: ignore[union-attr]  # Zarr format 3
    in_rows = array.chunks[1:] == array.shape[1:]
    single = array.dtype.itemsize == 1  # bytes have no order
    first = BytesCodec(endian=None if single else "little")
    return codecs == (first, *CODECS) and in_rows


def _fill(array: "zarr.Array[Any]", values: np.ndarray) -> np.ndarray:
    """Return the values of a whole chunk: the last one may have fewer rows."""
    missing = array.chunks[0] - len(values)
    if not missing:
        return values
    rest = np.full((missing, *values.shape[1:]), array.fill_value, values.dtype)
    return np.concatenate([values, rest])


def _encode(values: np.ndarray) -> bytes:
    """Return the bytes of a chunk, as Zarr makes them with our codecs."""
    little = values.astype(values.dtype.newbyteorder("<"), order="C", copy=False)
    packed = bytes(_ZSTD.encode(little))
    checksum: int = google_crc32c.value(packed)
    return packed + checksum.to_bytes(4, "little")


def _put(path: Path, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
    draft = f"{path}.{uuid.uuid4().hex}.partial"
    try:
        file = _create(draft)
    except FileNotFoundError:  # older studies have a folder for each row
        path.parent.mkdir(parents=True, exist_ok=True)
        file = _create(draft)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(content)
        os.replace(draft, path)  # noqa: PTH105  # many files: paths are slower
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _create(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)


def remove_drafts(folder: Path) -> None:
    """Remove chunks that a process was writing when it was killed."""
    for path in folder.rglob("*.partial"):
        try:
            abandoned = time.time() - path.stat().st_mtime > _ABANDONED
        except FileNotFoundError:  # another process has just finished it
            continue
        if abandoned:
            path.unlink(missing_ok=True)
