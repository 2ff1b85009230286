"""JSON files with arrays and dataclasses, which are whole or not there."""

from dataclasses import dataclass

import numpy as np
import pytest

from kaccess.base.errors import InputError
from kaccess.base.json_files import read_json, write_json


@dataclass
class Result:
    name: str
    scores: np.ndarray


def test_arrays_and_dataclasses_are_stored_as_lists_and_objects(tmp_path):
    path = tmp_path / "new" / "result.json"
    result = Result("ka", np.array([[0.5, 1.0]]))
    write_json(path, {"result": result, "labels": np.array([2, 0])})
    assert read_json(path) == {
        "result": {"name": "ka", "scores": [[0.5, 1.0]]},
        "labels": [2, 0],
    }


def test_nan_in_an_array_is_stored_as_null(tmp_path):
    path = tmp_path / "result.json"
    write_json(path, {"scores": np.array([1.0, np.nan])})
    assert read_json(path) == {"scores": [1.0, None]}
    assert "NaN" not in path.read_text()


def test_a_file_is_indented_and_ends_with_a_newline(tmp_path):
    path = tmp_path / "result.json"
    write_json(path, {"k": 3})
    assert path.read_text() == '{\n  "k": 3,\n  "crc32": "680ccf73"\n}\n'


def test_a_changed_number_is_noticed(tmp_path):
    path = tmp_path / "result.json"
    write_json(path, {"k": 3, "index": 1.5})
    whole = path.read_text()
    path.write_text(whole.replace("1.5", "1.7"))
    with pytest.raises(InputError, match=r"result.json is damaged: its content is not"):
        read_json(path)
    path.write_text(whole.replace("\n", " "))  # the same values in another layout
    assert read_json(path) == {"k": 3, "index": 1.5}


def test_files_without_a_checksum_are_read(tmp_path):
    path = tmp_path / "result.json"
    path.write_text('{"k": 3}')
    assert read_json(path) == {"k": 3}


def test_a_missing_file_is_read_as_empty(tmp_path):
    assert read_json(tmp_path / "missing.json") == {}


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "result.json"
    write_json(path, {"k": 3})
    with pytest.raises(TypeError, match="set cannot be written as JSON"):
        write_json(path, {"k": {1, 2}})
    assert read_json(path) == {"k": 3}
    assert list(tmp_path.iterdir()) == [path]  # no draft is left
