"""Chunks of `study.zarr` that are lost or damaged: seen, named, and made again."""

import json
import shutil

import numpy as np
import pytest

from kaccess import AccessConfig, InputError, pipeline
from kaccess.cli import main
from kaccess.report.check import check_study
from kaccess.study import Study
from tests.conftest import TINY
from tests.hostile.attacks import chunk_files, flip_bit

N_FLIPS = 400


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A study of 12 poses in several tiles."""
    path = tmp_path_factory.mktemp("finished") / "study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kaccess.access.estimate._TILE_PAIRS", 48)
        study = pipeline.sample(str(TINY), path, pipeline.SampleConfig(n=12))
    pipeline.access(study, AccessConfig())
    return path


@pytest.fixture
def study(finished, tmp_path):
    """A copy, to be damaged."""
    return shutil.copytree(finished, tmp_path / "study")


def contents(path):
    """Return every array of a study."""
    arrays = Study(path).arrays
    return {name: arrays.read(name) for name in arrays.names}


def made_by_access(path):
    """Return one chunk, the second if there is one, of each array of `access`."""
    found = {}
    for file in chunk_files(path):
        name = str(file.parent.relative_to(path / "study.zarr"))
        if not name.startswith("poses/"):
            found.setdefault(name, []).append(file)
    return {name: files[min(1, len(files) - 1)] for name, files in found.items()}


def test_lost_chunks_are_estimated_again_bit_for_bit(study, capsys):
    before, chunks = contents(study), made_by_access(study)
    assert len(chunks) == 13
    for name, file in chunks.items():
        file.unlink()
        main(["access", str(study)])
        for other, values in contents(study).items():
            np.testing.assert_array_equal(values, before[other], err_msg=name)
        assert check_study(study) == []


def test_a_study_with_a_lost_chunk_is_not_finished(study):
    """Nothing is computed from fill values: not by info, nor from the plan."""
    whole = pipeline.info(study)
    for name, file in made_by_access(study).items():
        content = file.read_bytes()
        file.unlink()
        if name == "landings/n_moves":  # the replay is not done yet
            assert pipeline.info(study).n_moves is None
        else:
            if name not in ("times", "to_standing"):  # these say what is done
                assert "kaccess access" in " ".join(check_study(study))
            try:
                found = pipeline.info(study)
            except InputError as error:
                assert "kaccess access" in str(error)
            else:
                assert found.graph is None
        file.write_bytes(content)
    assert str(pipeline.info(study)) == str(whole)


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b""])
def test_truncated_chunks_are_named(study, damage, capsys):
    for file in chunk_files(study):
        content = file.read_bytes()
        file.write_bytes(damage(content))
        problems = check_study(study)
        assert any(f"{file} is damaged" in each for each in problems), file
        file.write_bytes(content)
    assert check_study(study) == []


def test_lost_poses_are_explained(study):
    for file in chunk_files(study / "study.zarr" / "poses"):
        if file.parents[2].name not in ("qpos", "contacts"):
            continue
        content = file.read_bytes()
        file.unlink()
        with pytest.raises(InputError, match=r"is missing\. Put back a copy"):
            _ = Study(study).poses
        file.write_bytes(content)


def test_every_flipped_bit_is_seen(study):
    """The array that has it cannot be read, and the error names the file."""
    rng, files = np.random.default_rng(0), chunk_files(study)
    arrays = Study(study).arrays
    for _ in range(N_FLIPS):
        file = files[rng.integers(len(files))]
        name = str(file.parent.relative_to(study / "study.zarr"))
        message = f"^{file} is damaged: .*checksum"
        with flip_bit(file, rng), pytest.raises(InputError, match=message):
            arrays.read(name)
    assert check_study(study) == []


def test_a_flipped_bit_exits_with_2(study, capsys):
    rng = np.random.default_rng(1)
    for name in ("times", "outcomes", "poses/qpos", "landings/node"):
        file = chunk_files(study / "study.zarr" / name)[0]
        with flip_bit(file, rng):
            for command in ("info", "access", "report"):
                with pytest.raises(SystemExit) as exit_info:
                    main([command, str(study)])
                assert exit_info.value.code == 2
                assert str(file) in capsys.readouterr().err
            with pytest.raises(SystemExit) as exit_info:
                main(["info", str(study), "--check"])
            assert exit_info.value.code == 1
            assert str(file) in capsys.readouterr().out
    main(["info", str(study), "--check"])
    assert "can be read and agree" in capsys.readouterr().out


def test_a_shape_that_is_far_too_large_is_damage(study):
    """To list its chunks would take all memory."""
    file = study / "study.zarr" / "times" / "zarr.json"
    content = json.loads(file.read_text())
    content["shape"][0] = 10**10
    file.write_text(json.dumps(content))
    problems = " ".join(check_study(study))
    assert f"{file} is damaged: its shape is (10000000000" in problems


def test_a_tile_whose_times_are_not_written_yet_is_no_damage(study):
    """As a kill leaves it: outcomes are written first, times last."""
    chunk_files(study / "study.zarr" / "times")[0].unlink()
    assert check_study(study) == []
    pipeline.access(study, AccessConfig())
    assert check_study(study) == []


def test_times_that_contradict_outcomes_are_seen(study):
    arrays = Study(study).arrays
    times = arrays.read("times")
    times[0, 1] = 1.0 if np.isinf(times[0, 1]) else np.inf
    arrays.array("times")[:] = times
    assert "1 times contradict their outcomes" in " ".join(check_study(study))


def test_studies_made_before_checksums_resume(study, capsys):
    """An array without checksum is read and written as it is."""
    import zarr

    group = zarr.open_group(study / "study.zarr", mode="r+")
    for name in ("times", "outcomes"):
        values, old = group[name][:], group[name]
        values[4:] = old.fill_value
        group.create_array(
            name,
            data=values,
            chunks=old.chunks,
            fill_value=old.fill_value,
            overwrite=True,
        )
    before = Study(study)
    assert not before.arrays.rows_done()[4:].any()
    main(["access", str(study)])
    assert Study(study).arrays.rows_done().all()
    assert check_study(study) == []
