"""Chunks that are written without Zarr: its bytes, whole or absent."""

import numpy as np
import pytest
import zarr

from kaccess.study.arrays import Arrays
from kaccess.study.chunk_files import write_rows
from kaccess.study.layout import create_arrays, describe_layout

N, NQ, ROWS = 7, 4, 2  # the last chunk has one row


@pytest.fixture
def two(tmp_path):
    """Return the arrays of two equal new studies."""
    poses = {"qpos": np.zeros((N, NQ)), "contacts": np.zeros((N, 1), bool)}
    for name in ("a", "b"):
        create_arrays(tmp_path / name, poses, ("foot",), ROWS)
    return Arrays(tmp_path / "a"), Arrays(tmp_path / "b")


def read_files(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder): path.read_bytes() for path in files}


@pytest.mark.parametrize("name", ["times", "outcomes", "landings/node"])
@pytest.mark.parametrize("rows", [range(2), range(2, 6), range(4, 7), range(7)])
def test_bytes_are_those_of_zarr(two, tmp_path, name, rows):
    values = np.random.default_rng(0).integers(0, 9, (len(rows), N))
    write_rows(two[0].array(name), tmp_path / "a" / name, rows, values)
    two[1].array(name)[rows.start : rows.stop] = values
    ours, theirs = read_files(tmp_path / "a"), read_files(tmp_path / "b")
    assert ours == theirs
    assert len(
        [path for path in ours if path.name.startswith("c.") and name in str(path)]
    )


def test_arrays_with_a_folder_for_each_chunk_are_filled_and_read(tmp_path, monkeypatch):
    """They are in studies made before their names were flat."""
    nested = {"name": "default", "separator": "/"}
    monkeypatch.setattr("kaccess.study.layout._CHUNK_NAMES", nested)
    poses = {"qpos": np.zeros((N, NQ)), "contacts": np.zeros((N, 1), bool)}
    create_arrays(tmp_path / "a", poses, ("foot",), ROWS)
    arrays, values = Arrays(tmp_path / "a"), np.arange(N * N).reshape(N, N)
    arrays.write_rows(range(N), values, np.ones((N, N), int))
    assert (tmp_path / "a/times/c/0/0").is_file()
    assert arrays.rows_done().all()
    np.testing.assert_array_equal(arrays.read("times"), values)


def test_states_of_three_axes_and_nan_are_stored_alike(two, tmp_path):
    name = "landings/states"
    assert name in describe_layout(N, NQ, ROWS)
    values = np.random.default_rng(1).random((N, N, NQ))
    values[0, 1] = np.nan
    write_rows(two[0].array(name), tmp_path / "a" / name, range(N), values)
    two[1].array(name)[:] = values
    assert read_files(tmp_path / "a") == read_files(tmp_path / "b")
    np.testing.assert_array_equal(two[0].read(name), values.astype(np.float32))


@pytest.mark.parametrize("rows", [range(1, 4), range(0, 3), range(3, 4)])
def test_parts_of_chunks_keep_the_rest(two, tmp_path, rows):
    before = np.random.default_rng(2).random((N, N)).astype(np.float32)
    write_rows(two[0].array("times"), tmp_path / "a/times", range(N), before)
    write_rows(two[0].array("times"), tmp_path / "a/times", rows, before[rows] + 1)
    expected = before.copy()
    expected[rows] += 1
    np.testing.assert_array_equal(two[0].read("times"), expected)


def test_other_codecs_are_left_to_zarr(tmp_path):
    array = zarr.create_array(
        tmp_path / "plain", shape=(4, 3), chunks=(2, 3), dtype="f4", compressors=None
    )
    write_rows(array, tmp_path / "plain", range(4), np.arange(12).reshape(4, 3))
    np.testing.assert_array_equal(array[:], np.arange(12).reshape(4, 3))


def test_a_write_that_fails_leaves_nothing(two, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    before = read_files(tmp_path / "a")
    monkeypatch.setattr("kaccess.study.chunk_files.os.replace", fail)
    with pytest.raises(OSError, match="No space left"):
        two[0].write_rows(range(2), np.zeros((2, N)), np.ones((2, N), int))
    assert read_files(tmp_path / "a") == before
    assert not two[0].rows_done().any()


def test_a_tile_without_its_times_is_not_done(two, tmp_path, monkeypatch):
    """As if the process was killed before it wrote the times, which are last."""
    from kaccess.study import chunk_files

    replace = chunk_files.os.replace

    def stop_at_times(draft, path):
        if "times" in path.parts:
            raise KeyboardInterrupt
        replace(draft, path)

    monkeypatch.setattr("kaccess.study.chunk_files.os.replace", stop_at_times)
    with pytest.raises(KeyboardInterrupt):
        two[0].write_rows(range(2), np.zeros((2, N)), np.ones((2, N), int))
    assert (tmp_path / "a/outcomes/c.0.0").is_file()
    assert not two[0].rows_done().any()
    monkeypatch.undo()
    two[0].write_rows(range(2), np.zeros((2, N)), np.ones((2, N), int))
    np.testing.assert_array_equal(two[0].rows_done(), np.arange(N) < 2)
