"""The `warp` engine on Warp's CPU device: queue, worlds, buffers and errors."""

import logging
import sys

import mujoco
import numpy as np
import pytest

from kaccess import InputError, make_engine
from kaccess.robots import Robot
from tests.engines.drops import assert_same, random_drops, random_motions

warp = pytest.importorskip("kaccess.engines.warp.engine", exc_type=ImportError)
from kaccess.engines.warp import buffers  # noqa: E402  # only if Warp is installed

WarpEngine = warp.WarpEngine

LIMIT = 0.6


@pytest.fixture(scope="module")
def drops(tiny):
    return random_drops(tiny, 24)


@pytest.fixture(scope="module")
def expected(tiny, drops):
    return WarpEngine(tiny, device="cpu", n_worlds=24).settle(*drops, time_limit=LIMIT)


def test_results_agree_with_mujoco_in_single_precision(bittle):
    qpos, targets = random_drops(bittle, 24)
    got = WarpEngine(bittle, device="cpu").settle(qpos, targets, time_limit=1.0)
    expected = make_engine("mujoco", bittle).settle(qpos, targets, time_limit=1.0)
    found = np.isfinite(expected.time)
    np.testing.assert_array_equal(np.isfinite(got.time), found)
    assert 5 < found.sum() < 20  # some come to rest, some do not
    late = np.abs(got.time[found] - expected.time[found])
    assert np.median(late) == 0.0 and late.max() < 0.05
    apart = np.abs(got.qpos - expected.qpos).max(axis=1)
    assert np.median(apart) < 1e-4 and apart[found].max() < 0.02


@pytest.mark.parametrize("n_worlds", [7, 16])
def test_the_number_of_worlds_does_not_change_results(
    tiny, drops, expected, n_worlds, monkeypatch
):
    """Worlds take new simulations; the last ones move to fewer worlds."""
    monkeypatch.setattr(warp, "_FEWEST_WORLDS", 1)
    monkeypatch.setattr(warp, "_LAUNCHES", 3)
    engine = WarpEngine(tiny, device="cpu", n_worlds=n_worlds)
    assert_same(engine.settle(*drops, time_limit=LIMIT), expected)
    assert sorted(engine._worlds) == {7: [1, 7], 16: [1, 4, 16]}[n_worlds]


@pytest.mark.parametrize("n_worlds", [7, 16])
def test_worlds_keep_their_motions_when_they_change(tiny, n_worlds, monkeypatch):
    """Each world takes the next motion, and the last ones move to fewer worlds."""
    qpos, motion = random_motions(tiny, 12)
    expected = WarpEngine(tiny, device="cpu", n_worlds=24).settle(
        qpos, motion, time_limit=0.2
    )
    monkeypatch.setattr(warp, "_FEWEST_WORLDS", 1)
    monkeypatch.setattr(warp, "_LAUNCHES", 3)
    engine = WarpEngine(tiny, device="cpu", n_worlds=n_worlds)
    assert_same(engine.settle(qpos, motion, time_limit=0.2), expected)
    assert len(engine._worlds) > 1


def test_motions_agree_with_mujoco_in_single_precision(tiny):
    """In the air, where no contact makes small differences large."""
    qpos, motion = random_motions(tiny, 16)
    qpos[:, 2] += 5.0
    got = WarpEngine(tiny, device="cpu").settle(qpos, motion, time_limit=0.1)
    expected = make_engine("mujoco", tiny).settle(qpos, motion, time_limit=0.1)
    np.testing.assert_allclose(got.qpos, expected.qpos, atol=1e-4)


def test_buffers_that_are_too_small_grow_with_a_warning(
    tiny, drops, expected, monkeypatch, caplog
):
    small = buffers.Buffers(n_contacts=4, n_rows=2)
    monkeypatch.setattr(buffers.Buffers, "of", lambda model: small)
    engine = WarpEngine(tiny, device="cpu", n_worlds=8)
    with caplog.at_level(logging.WARNING):
        settled = engine.settle(*drops, time_limit=LIMIT)
    assert "had more contacts than the buffers hold" in caplog.text
    np.testing.assert_array_equal(settled.time, expected.time)
    np.testing.assert_allclose(settled.qpos, expected.qpos, atol=1e-5)


def test_buffers_that_stay_too_small_are_an_error(tiny, drops, monkeypatch):
    small = buffers.Buffers(n_contacts=4, n_rows=2)
    monkeypatch.setattr(buffers.Buffers, "of", lambda model: small)
    monkeypatch.setattr(warp, "MOST_DOUBLINGS", 0)
    engine = WarpEngine(tiny, device="cpu", n_worlds=8)
    with pytest.raises(InputError, match=r"has more contacts .* Choose the 'mujoco'"):
        engine.settle(*drops, time_limit=LIMIT)


def test_a_diverged_simulation_is_reported_and_affects_no_other(tiny, drops, expected):
    qpos, targets = drops[0].copy(), drops[1]
    qpos[1, 7] = 1e11
    engine = WarpEngine(tiny, device="cpu", n_worlds=2)
    broken = engine.settle(qpos[:4], targets[:4], time_limit=LIMIT)
    np.testing.assert_array_equal(broken.diverged, [False, True, False, False])
    assert np.isinf(broken.time[1])
    others = [0, 2, 3]
    np.testing.assert_allclose(broken.qpos[others], expected.qpos[others], atol=1e-6)
    np.testing.assert_array_equal(broken.time[others], expected.time[others])


def test_sensors_create_no_contacts(bittle):
    """Bittle's distance sensors would create contacts with the ground from afar."""
    engine = WarpEngine(bittle, device="cpu", n_worlds=1)
    qpos, targets = random_drops(bittle, 1)
    engine.settle(qpos, targets, time_limit=0.02)
    assert engine._worlds[1].data.nacon.numpy()[0] == 0


def test_a_missing_gpu_is_an_error(tiny, monkeypatch):
    monkeypatch.setattr(warp.wp, "is_cuda_available", lambda: False)
    with pytest.raises(InputError, match=r"needs an NVIDIA GPU.*'mujoco' engine"):
        make_engine("warp", tiny)


def test_an_unknown_device_is_an_error(tiny):
    with pytest.raises(InputError, match=r"`device` must be one of .*cpu.*'cuda:77'"):
        WarpEngine(tiny, device="cuda:77")


def test_an_unsupported_solver_is_named(tiny):
    model = tiny.model.__copy__()
    model.opt.solver = mujoco.mjtSolver.mjSOL_PGS
    robot = Robot("old", model, tiny.drop_height)
    with pytest.raises(InputError, match=r"cannot simulate old: mjSOL_PGS"):
        WarpEngine(robot, device="cpu")


def test_an_unsupported_geom_is_named(tiny, monkeypatch):
    monkeypatch.setattr(warp.mjw, "GeomType", [mujoco.mjtGeom.mjGEOM_PLANE])
    with pytest.raises(InputError, match=r"its geom 'number 1' is of type mjGEOM_BOX"):
        WarpEngine(tiny, device="cpu")


def test_a_missing_mujoco_warp_is_an_error_with_the_pip_command(tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)  # import fails
    for name in ("kaccess.engines.warp", "kaccess.engines.warp.engine"):
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"pip install 'kaccess\[gpu\]'"):
        make_engine("warp", tiny)
