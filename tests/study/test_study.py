import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict

import numpy as np
import pytest

from kaccess import InputError, StillConfig
from kaccess.study import Study
from kaccess.study.timing import add_time, read_times


def make(path, n=5, tile_rows=2, **settings):
    poses = {
        "qpos": np.arange(n * 3.0).reshape(n, 3),
        "contacts": np.ones((n, 2), bool),
    }
    return Study.create(
        path,
        {"robot": "x", "model": "y", "versions": {}, "sample": {}, **settings},
        poses=poses,
        parts=("head", "tail"),
        tile_rows=tile_rows,
    )


def test_a_new_study_is_empty_and_reads_back(tmp_path):
    make(tmp_path / "a")
    study = Study(tmp_path / "a")
    assert study.n_poses == 5
    assert study.arrays.parts == ("head", "tail")
    np.testing.assert_array_equal(study.arrays.read("poses/qpos")[1], [3, 4, 5])
    assert np.isnan(study.times).all() and np.isnan(study.to_standing).all()
    assert (study.outcomes == 0).all()
    assert study.arrays.tiles() == [range(0, 2), range(2, 4), range(4, 5)]


@pytest.mark.parametrize("read_size", [1, 10, 2**24])
def test_tiles_are_stored_apart(tmp_path, monkeypatch, read_size):
    monkeypatch.setattr("kaccess.study.arrays._READ_SIZE", read_size)
    study = make(tmp_path / "a")
    study.arrays.write_rows(range(2, 4), np.full((2, 5), np.inf), np.full((2, 5), 2))
    again = Study(tmp_path / "a")
    np.testing.assert_array_equal(again.arrays.rows_done(), [0, 0, 1, 1, 0])
    np.testing.assert_array_equal(np.isnan(again.times).any(axis=1), [1, 1, 0, 0, 1])


def test_a_failed_creation_leaves_nothing_behind(tmp_path, monkeypatch):
    """Not even a draft folder."""

    def fail(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kaccess.study.study.create_arrays", fail)
    with pytest.raises(OSError, match="No space left"):
        make(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_may_become_a_study(tmp_path):
    (tmp_path / "a").mkdir()
    assert not Study.exists(tmp_path / "a")
    make(tmp_path / "a")
    assert Study.exists(tmp_path / "a")


def test_a_folder_that_is_not_a_study_is_not_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(InputError, match="exists and is not a study"):
        Study.exists(tmp_path)
    with pytest.raises(InputError, match="exists and is not a study"):
        Study.exists(tmp_path / "thesis.tex")
    with pytest.raises(InputError, match=r"is not a study.*kaccess sample ROBOT"):
        Study(tmp_path)
    assert os.listdir(tmp_path) == ["thesis.tex"]  # noqa: PTH208


@pytest.mark.parametrize(
    "content", [b"{", b"[]", b'{"format": 99}', b'{"format": 1}', b"\xff\xfe"]
)
def test_a_study_that_cannot_be_read_is_explained(tmp_path, content):
    make(tmp_path / "a")
    (tmp_path / "a" / "study.json").write_bytes(content)
    with pytest.raises(InputError, match=r"study.json is damaged|version can read"):
        Study(tmp_path / "a")


@pytest.mark.parametrize("array", ["times", "outcomes", "to_standing", "poses/qpos"])
def test_a_missing_array_is_explained(tmp_path, array):
    make(tmp_path / "a")
    shutil.rmtree(tmp_path / "a" / "study.zarr" / array)
    with pytest.raises(InputError, match=f"is damaged: it has no array '{array}'"):
        Study(tmp_path / "a")


def test_missing_arrays_are_explained(tmp_path):
    make(tmp_path / "a")
    shutil.rmtree(tmp_path / "a" / "study.zarr")
    with pytest.raises(InputError, match=r"study.zarr cannot be read"):
        Study(tmp_path / "a")


def test_a_chunk_that_is_junk_is_explained(tmp_path):
    study = make(tmp_path / "a")
    study.arrays.write_rows(range(0, 2), np.zeros((2, 5)), np.ones((2, 5)))
    (tmp_path / "a" / "study.zarr" / "times" / "c.0.0").write_bytes(b"junk")
    with pytest.raises(
        InputError, match=r"study.zarr/times/c.0.0 is damaged.*Delete this"
    ):
        _ = Study(tmp_path / "a").times


def test_a_tile_is_done_once_its_times_are_written(tmp_path, monkeypatch):
    """Outcomes are written first: a kill between the two leaves the tile undone."""
    study, order = make(tmp_path / "a"), []
    arrays = study.arrays
    array = arrays.array
    monkeypatch.setattr(arrays, "array", lambda name: order.append(name) or array(name))
    study.arrays.write_rows(range(0, 2), np.zeros((2, 5)), np.ones((2, 5)))
    assert order == ["outcomes", "times"]


RECORD = """
import sys
from kaccess import InputError, Study
study = Study(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
try:
    for section in range(20):
        study.record(f"section {section}", {"owner": sys.argv[2]})
except InputError:
    print("refused")
else:
    print("recorded")
"""


def start_recording(path, owner):
    process = subprocess.Popen(
        [sys.executable, "-c", RECORD, str(path), owner],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_one_of_two_processes_with_different_settings_is_refused(tmp_path):
    """Both begin at once, with the same old content in memory."""
    make(tmp_path / "a")
    processes = [start_recording(tmp_path / "a", owner) for owner in "xy"]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    said = sorted(process.communicate()[0].strip() for process in processes)
    assert said == ["recorded", "refused"]
    settings = Study(tmp_path / "a").settings
    owners = {settings[f"section {section}"]["owner"] for section in range(20)}
    assert len(owners) == 1


def test_a_process_waits_until_the_lock_is_free(tmp_path):
    """The lock is freed when its owner is killed."""
    make(tmp_path / "a")
    hold = (
        "import sys, time; from pathlib import Path\n"
        "from kaccess.study.lock import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])):\n"
        "    print('locked', flush=True); time.sleep(60)\n"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / "a")],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert owner.stdout.readline() == "locked\n"
    waiting = start_recording(tmp_path / "a", "x")
    waiting.stdin.write("\n")
    waiting.stdin.flush()
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(timeout=0.5)
    assert "section 0" not in Study(tmp_path / "a").settings
    owner.kill()
    owner.communicate()
    assert waiting.communicate()[0].strip() == "recorded"


def test_sections_are_written_once(tmp_path):
    study = make(tmp_path / "a")
    study.record("access", {"time_limit": 3.0})
    study.record("access", {"time_limit": 3.0})
    message = r"access.time_limit was 3.0 and is now 2.0"
    with pytest.raises(InputError, match=message):
        study.record("access", {"time_limit": 2.0})
    content = json.loads((tmp_path / "a" / "study.json").read_text())
    assert content["access"] == {"time_limit": 3.0}


def test_the_error_names_the_settings_that_differ(tmp_path):
    study = make(tmp_path / "a", still=asdict(StillConfig()))
    study.require_same({"robot": "x", "still": {"window": 0.1}})
    with pytest.raises(
        InputError, match=r"made differently: robot was 'x' and is"
    ) as e:
        study.require_same({"robot": "y", "still": {"window": 0.2}})
    assert "still.window was 0.1 and is now 0.2" in str(e.value)
    assert "joint_velocity" not in str(e.value)


def test_times_of_a_stage_add_up(tmp_path):
    make(tmp_path / "study")
    for seconds in (2.0, 0.01, 3.5):  # the second found nothing to do
        add_time(tmp_path / "study", "access", seconds)
    add_time(tmp_path / "study", "train", 1.0)
    stored = read_times(tmp_path / "study")
    assert stored == {"access": 5.5, "train": 1.0}


def test_a_folder_that_is_not_a_study_has_no_times(tmp_path):
    add_time(tmp_path, "access", 2.0)
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_of_a_result_is_not_read(study):
    (study / "clusters" / ".123.part.kmeans.json").write_text('{"k": ')
    assert list(Study(study).clusterings) == ["kaccess"]
