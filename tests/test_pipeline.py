"""Stages on a study: resumed, interrupted, killed, split, refused."""

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import kaccess.cluster.matrix
import kaccess.study.study
from kaccess import (
    AccessConfig,
    InputError,
    Study,
    estimate_times,
    pipeline,
)
from kaccess.config import SampleConfig, StillConfig
from kaccess.distribute.workplace import Here
from kaccess.engines import make_engine
from kaccess.engines.mujoco import MujocoEngine
from kaccess.study.arrays import Arrays
from tests.conftest import TINY

TILE = 64  # pairs; many small tiles make interruptions bite


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr("kaccess.access.estimate._TILE_PAIRS", TILE)
    monkeypatch.setattr(MujocoEngine, "batch_size", TILE)


@pytest.fixture
def expected(tiny_study):
    return estimate_times(Study(tiny_study).poses)


def test_access_fills_the_matrix(tiny_study, expected):
    study = pipeline.access(tiny_study, AccessConfig())
    assert len(study.arrays.tiles()) > 5
    np.testing.assert_array_equal(study.times, expected)
    assert not np.isnan(study.to_standing).any()
    assert set(np.unique(study.outcomes)) <= {1, 2, 3, 4}


@pytest.mark.usefixtures("no_replay")
def test_interrupted_and_resumed_gives_the_same(tiny_study, expected, monkeypatch):
    """Ctrl-C in the middle of the third tile; the first two are not run again."""
    settle, calls = MujocoEngine.settle, []

    def interrupted(self, *args, **kwargs):
        calls.append(len(args[0]))
        if len(calls) == 5:  # standing twice, then tiles
            raise KeyboardInterrupt
        return settle(self, *args, **kwargs)

    monkeypatch.setattr(MujocoEngine, "settle", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pipeline.access(tiny_study, AccessConfig())
    study = Study(tiny_study)
    done = [study.arrays.rows_done()[rows.start] for rows in study.arrays.tiles()]
    assert done == [True, True] + [False] * (len(done) - 2)

    pipeline.access(tiny_study, AccessConfig())
    assert len(calls) == 5 + len(done) - 2
    np.testing.assert_array_equal(Study(tiny_study).times, expected)
    pipeline.access(tiny_study, AccessConfig())
    assert len(calls) == 5 + len(done) - 2  # nothing left to do


def test_killed_at_any_moment_loses_one_tile_at_most(tiny_study, expected):
    """SIGKILL, again and again, while tiles are computed and written."""
    script = (
        "import sys; from pathlib import Path\n"
        "from kaccess import pipeline, AccessConfig\n"
        "from kaccess.engines.mujoco import MujocoEngine\n"
        "MujocoEngine.batch_size = 1\n"
        "pipeline.access(Path(sys.argv[1]), AccessConfig(),\n"
        "                progress=lambda done, total: print(done, flush=True))\n"
    )
    reported = 0
    for kill in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(tiny_study)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2 + kill % 2):
            line = process.stdout.readline()
            reported = int(line) if line else reported
        time.sleep(0.01 * kill)
        process.send_signal(signal.SIGKILL)
        rest = process.stdout.read().split()
        process.wait()
        process.stdout.close()
        reported = int(rest[-1]) if rest else reported
        times = Study(tiny_study).times
        stored = ~np.isnan(times)
        np.testing.assert_array_equal(times[stored], expected[stored])
        assert stored.sum() >= reported - TILE  # the last tile may be on its way
    pipeline.access(tiny_study, AccessConfig())
    np.testing.assert_array_equal(Study(tiny_study).times, expected)


@pytest.mark.usefixtures("no_replay")
def test_a_large_batch_takes_several_tiles_at_once(tiny_study, expected, monkeypatch):
    """A GPU takes several tiles per batch; finished tiles are left out."""
    monkeypatch.setattr(MujocoEngine, "batch_size", 10 * 24)
    pipeline.access(tiny_study, AccessConfig(), only_rows=range(4, 6))
    settle, sizes = MujocoEngine.settle, []

    def counting(self, qpos, *args, **kwargs):
        sizes.append(len(qpos))
        return settle(self, qpos, *args, **kwargs)

    monkeypatch.setattr(MujocoEngine, "settle", counting)
    done = []
    study = pipeline.access(
        tiny_study, AccessConfig(), progress=lambda *call: done.append(call)
    )
    assert sizes == [4 * 23, 10 * 23, 8 * 23]  # a pose to itself is no simulation
    np.testing.assert_array_equal(study.times, expected)
    done, total = np.array(done).T
    assert done[0] == 2 * 24 and done[-1] == 24 * 24 and (total == 24 * 24).all()
    assert (np.diff(done) >= 0).all() and len(done) > 10


def test_work_can_be_split_by_rows(tiny_study, expected):
    """Any partition of the rows covers every tile once, aligned or not."""
    for start, stop in ((0, 5), (5, 6), (6, 24)):
        pipeline.access(tiny_study, AccessConfig(), only_rows=range(start, stop))
    np.testing.assert_array_equal(Study(tiny_study).times, expected)


def test_only_the_given_rows_are_estimated(tiny_study):
    calls = []
    pipeline.access(
        tiny_study,
        AccessConfig(),
        only_rows=range(4, 10),
        progress=lambda done, total: calls.append((done, total)),
    )
    done = ~np.isnan(Study(tiny_study).times).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(done), np.arange(4, 10))
    assert calls[0] == (0, 6 * 24) and calls[-1] == (6 * 24, 6 * 24)


def test_rows_within_a_tile_complete_the_whole_tile(tiny_study):
    pipeline.access(tiny_study, AccessConfig(), only_rows=range(5, 6))
    done = ~np.isnan(Study(tiny_study).times).any(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(done), [4, 5])


@pytest.mark.parametrize("rows", [range(0, 25), range(5, 5), range(-1, 3)])
def test_rows_out_of_range_are_an_error(tiny_study, rows):
    with pytest.raises(InputError, match=r"`only_rows` must be .* within 0:24"):
        pipeline.access(tiny_study, AccessConfig(), only_rows=rows)


def test_a_full_disk_leaves_what_was_stored(tiny_study, expected, monkeypatch):
    write, writes = Arrays.write_rows, []

    def full(self, *args):
        writes.append(args)
        if len(writes) == 3:
            raise OSError(28, "No space left on device")
        write(self, *args)

    monkeypatch.setattr(Arrays, "write_rows", full)
    with pytest.raises(OSError, match="No space left"):
        pipeline.access(tiny_study, AccessConfig())
    times = Study(tiny_study).times
    stored = ~np.isnan(times)
    assert stored.any() and not stored.all()
    np.testing.assert_array_equal(times[stored], expected[stored])


def test_times_of_other_settings_are_not_mixed_in(tiny_study, monkeypatch):
    """Two processes open the study at once; the slower one has other tolerances."""
    slower = Study(tiny_study)
    pipeline.access(tiny_study, AccessConfig(), only_rows=range(0, 2))
    with pytest.raises(InputError, match=r"access.joint_tol was 0.25 and is now 0.4"):
        pipeline.access(slower, AccessConfig(joint_tol=0.4))
    assert np.isnan(Study(tiny_study).times[2:]).all()


def test_the_flow_loads_what_is_heavy_only_when_it_is_needed():
    script = (
        "import sys, kaccess.pipeline\n"
        "heavy = {'sklearn', 'numba', 'torch', 'matplotlib', 'gymnasium'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_finished_study_need_not_be_writable(tiny_study, monkeypatch):
    """Root may write anywhere, so writing itself is made to fail."""
    pipeline.access(tiny_study, AccessConfig())

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("kaccess.base.json_files.whole_file", refuse)
    monkeypatch.setattr("kaccess.study.study.lock_folder", refuse)
    monkeypatch.setattr("kaccess.study.timing.lock_folder", refuse)
    monkeypatch.setattr("kaccess.study.timing._SHORTEST", 0.0)
    pipeline.access(tiny_study, AccessConfig())
    with pytest.raises(InputError, match=r"joint_tol was 0.25 and is now 0.4"):
        pipeline.access(tiny_study, AccessConfig(joint_tol=0.4))


def test_a_whole_run_opens_its_study_and_loads_its_robot_once(tmp_path, monkeypatch):
    opened, loaded, assessed = [], [], []
    count(monkeypatch, Study, "__init__", opened)
    for module in (pipeline, kaccess.study.study):
        count(monkeypatch, module, "load_robot", loaded)
    count(monkeypatch, kaccess.cluster.matrix, "check_access_from", assessed)
    pipeline.run(str(TINY), tmp_path / "study", "tiny")
    assert (len(opened), len(loaded)) == (1, 1)
    assert len(assessed) == 2  # one clustering: from its centroids, and to them
    assert (tmp_path / "study" / "report.html").exists()


def count(monkeypatch, owner, name, calls):
    """Record every call of a function."""
    function = getattr(owner, name)

    def counting(*args, **kwargs):
        calls.append(name)
        return function(*args, **kwargs)

    monkeypatch.setattr(owner, name, counting)


def test_sampling_again_changes_nothing(tiny_study):
    before = (tiny_study / "study.json").stat().st_mtime_ns
    pipeline.sample(str(TINY), tiny_study, SampleConfig(n=24))
    assert (tiny_study / "study.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("config", "still", "message"),
    [
        (SampleConfig(n=30), StillConfig(), r"sample.n was 24 and is now 30"),
        (SampleConfig(n=24, seed=1), StillConfig(), r"sample.seed was 0 and is now 1"),
        (
            SampleConfig(n=24),
            StillConfig(window=0.2),
            r"still.window was 0.116 and is now 0.2",
        ),
    ],
)
def test_other_sampling_settings_are_refused(tiny_study, config, still, message):
    with pytest.raises(InputError, match=message):
        pipeline.sample(str(TINY), tiny_study, config, still=still)


def test_other_access_settings_are_refused(tiny_study):
    pipeline.access(tiny_study, AccessConfig(), only_rows=range(0, 2))
    with pytest.raises(InputError, match=r"access.joint_tol was 0.25 and is now 0.4"):
        pipeline.access(tiny_study, AccessConfig(joint_tol=0.4))


def test_another_version_is_refused(tiny_study, monkeypatch):
    monkeypatch.setattr("kaccess.study.origin.__version__", "9.9.9")
    message = rf"versions.kaccess was '{kaccess.__version__}' and is now '9.9.9'"
    with pytest.raises(InputError, match=message):
        pipeline.access(tiny_study, AccessConfig())
    pipeline.info(tiny_study)  # reading is fine


def test_another_mujoco_is_refused(tiny_study, monkeypatch):
    monkeypatch.setattr("mujoco.__version__", "3.0.0")
    with pytest.raises(InputError, match=r"versions.mujoco was .* now '3.0.0'"):
        pipeline.access(tiny_study, AccessConfig())


def test_every_stage_uses_the_still_test_of_the_study(tmp_path, monkeypatch):
    seen = []

    def spy(name, robot, still):
        engine = make_engine(name, robot, still)
        seen.append(engine.still)
        return engine

    monkeypatch.setattr(Here, "make_engine", staticmethod(spy))
    still = StillConfig(window=0.2, joint_velocity=0.3)
    pipeline.sample(str(TINY), tmp_path / "s", SampleConfig(n=4), still=still)
    study = pipeline.access(tmp_path / "s", AccessConfig())
    assert seen == [study.robot.scale.fit(still)] * 2


@pytest.mark.parametrize("settings", [{"engine": "foo"}, {"only_rows": range(9, 3)}])
def test_an_error_leaves_the_study_unchanged(tiny_study, settings):
    before = (tiny_study / "study.json").read_text()
    with pytest.raises(InputError):
        pipeline.access(tiny_study, AccessConfig(), **settings)
    assert (tiny_study / "study.json").read_text() == before


def test_a_robot_that_does_not_stand_is_reported(tmp_path):
    mjcf = tmp_path / "robot.xml"
    rock = '<geom pos="9 0 0" size=".1"/>'  # on such ground, no stance is looked for
    mjcf.write_text(TINY.read_text().replace("<worldbody>", f"<worldbody>{rock}"))
    pipeline.sample(str(mjcf), tmp_path / "study", SampleConfig(n=6))
    study = pipeline.access(tmp_path / "study", AccessConfig())
    assert np.isinf(study.to_standing).all()
    message = pipeline.info(tmp_path / "study").verdict
    assert "no standing pose to get up to: its ground is not one plane" in message


def test_a_model_file_may_be_moved(tmp_path):
    """A study identifies its robot by its model, not by its path."""
    mjcf = tmp_path / "robot.xml"
    mjcf.write_text(TINY.read_text())
    pipeline.sample(str(mjcf), tmp_path / "study", SampleConfig(n=4))
    pipeline.sample(str(TINY), tmp_path / "study", SampleConfig(n=4))


def test_another_model_is_refused(tmp_path):
    mjcf = tmp_path / "robot.xml"
    mjcf.write_text(TINY.read_text())
    pipeline.sample(str(mjcf), tmp_path / "study", SampleConfig(n=4))
    mjcf.write_text(TINY.read_text().replace('mass="0.5"', 'mass="0.6"'))
    with pytest.raises(InputError, match=r"model was '[0-9a-f]{12}...' and is now"):
        pipeline.access(tmp_path / "study", AccessConfig())
    os.unlink(mjcf)  # noqa: PTH108
    with pytest.raises(InputError, match="Unknown robot"):
        pipeline.access(tmp_path / "study", AccessConfig())


@pytest.mark.usefixtures("no_replay")
def test_mirrored_studies_simulate_half_the_rows(tmp_path, monkeypatch):
    path = tmp_path / "study"
    pipeline.sample(str(TINY), path, SampleConfig(n=12, mirror=True))
    settle, sizes = MujocoEngine.settle, []

    def counting(self, qpos, *args, **kwargs):
        sizes.append(len(qpos))
        return settle(self, qpos, *args, **kwargs)

    monkeypatch.setattr(MujocoEngine, "settle", counting)
    study = pipeline.access(path, AccessConfig())
    pairs = sum(sizes[-len(study.arrays.tiles()) :])
    assert pairs == 6 * 11
    check = study.settings["mirror_check"]
    assert check["agreeing"] == check["pairs"]  # nothing here balances on an edge
    times = study.times
    partner = np.arange(12) ^ 1
    np.testing.assert_array_equal(times[partner][:, partner], times)


def test_engines_are_compared_with_the_settings_of_the_study(tiny_study, monkeypatch):
    pipeline.access(tiny_study, AccessConfig(time_limit=0.7), only_rows=range(2))
    settle, limits = MujocoEngine.settle, set()

    def noting(self, *args, time_limit, **kwargs):
        limits.add(time_limit)
        return settle(self, *args, time_limit=time_limit, **kwargs)

    monkeypatch.setattr(MujocoEngine, "settle", noting)
    pytest.importorskip("pybullet")
    found = pipeline.compare_engines(
        tiny_study, ["mujoco", "bullet"], n_pairs=36, n_threads=1
    )
    assert limits == {0.7}
    same = found.agreements["mujoco, bullet"]
    assert 0.5 * same.n_pairs < same.same and same.same_time < same.both
    assert json.loads((tiny_study / "engines.json").read_text())["reached"].keys() == {
        "mujoco",
        "bullet",
    }
    with pytest.raises(InputError, match="`engines` must be two or more"):
        pipeline.compare_engines(tiny_study, ["mujoco"])


def test_stages_store_their_durations(tiny_study, monkeypatch):
    """The time of an interrupted stage counts too."""
    clock = iter([0.0, 5.0, 10.0, 12.5])
    watch = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr("kaccess.study.timing.time", watch)

    def interrupted(self, *args, **kwargs):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(MujocoEngine, "settle", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pipeline.access(tiny_study, AccessConfig())
    pipeline.access(tiny_study, AccessConfig(), only_rows=range(2))
    stored = json.loads((tiny_study / "timings.json").read_text())
    assert stored["access"] == 7.5
