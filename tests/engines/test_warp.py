"""The `warp` engine on Warp's CPU device: queue, worlds, buffers and refusals."""

import logging
import sys

import mujoco
import numpy as np
import pytest

from kaccess import InputError, make_engine
from kaccess.robots import Robot
from tests.engines.drops import assert_same, random_drops

warp = pytest.importorskip("kaccess.engines.warp.engine", exc_type=ImportError)
from kaccess.engines import warp_buffers  # noqa: E402  # Warp is asked for first

WarpEngine = warp.WarpEngine

LIMIT = 0.6


@pytest.fixture(scope="module")
def drops(tiny):
    return random_drops(tiny, 24)


@pytest.fixture(scope="module")
def expected(tiny, drops):
    return WarpEngine(tiny, device="cpu", n_worlds=24).settle(*drops, time_limit=LIMIT)


def test_agrees_with_mujoco_to_single_precision(bittle):
    qpos, targets = random_drops(bittle, 24)
    got = WarpEngine(bittle, device="cpu").settle(qpos, targets, time_limit=1.0)
    expected = make_engine("mujoco", bittle).settle(qpos, targets, time_limit=1.0)
    found = np.isfinite(expected.time)
    np.testing.assert_array_equal(np.isfinite(got.time), found)
    assert 5 < found.sum() < 20  # both ways out are taken
    late = np.abs(got.time[found] - expected.time[found])
    assert np.median(late) == 0.0 and late.max() < 0.05
    apart = np.abs(got.qpos - expected.qpos).max(axis=1)
    assert np.median(apart) < 1e-4 and apart[found].max() < 0.02


@pytest.mark.parametrize("n_worlds", [7, 16])
def test_worlds_change_nothing(tiny, drops, expected, n_worlds, monkeypatch):
    """Worlds are refilled, and left for fewer ones towards the end."""
    monkeypatch.setattr(warp, "_FEWEST_WORLDS", 1)
    monkeypatch.setattr(warp, "_LAUNCHES", 3)
    engine = WarpEngine(tiny, device="cpu", n_worlds=n_worlds)
    assert_same(engine.settle(*drops, time_limit=LIMIT), expected)
    assert sorted(engine._worlds) == {7: [1, 7], 16: [1, 4, 16]}[n_worlds]


def test_too_small_buffers_are_told_and_grown(
    tiny, drops, expected, monkeypatch, caplog
):
    small = warp_buffers.Buffers(n_contacts=4, n_rows=2)
    monkeypatch.setattr(warp_buffers.Buffers, "of", lambda model: small)
    engine = WarpEngine(tiny, device="cpu", n_worlds=8)
    with caplog.at_level(logging.WARNING):
        settled = engine.settle(*drops, time_limit=LIMIT)
    assert "had more contacts than there was room for" in caplog.text
    np.testing.assert_array_equal(settled.time, expected.time)
    np.testing.assert_allclose(settled.qpos, expected.qpos, atol=1e-5)


def test_buffers_that_never_suffice_are_an_error(tiny, drops, monkeypatch):
    small = warp_buffers.Buffers(n_contacts=4, n_rows=2)
    monkeypatch.setattr(warp_buffers.Buffers, "of", lambda model: small)
    monkeypatch.setattr(warp, "MOST_DOUBLINGS", 0)
    engine = WarpEngine(tiny, device="cpu", n_worlds=8)
    with pytest.raises(InputError, match=r"has more contacts .* Choose the 'mujoco'"):
        engine.settle(*drops, time_limit=LIMIT)


def test_a_simulation_that_breaks_down_is_reported_and_harms_no_other(
    tiny, drops, expected
):
    qpos, targets = drops[0].copy(), drops[1]
    qpos[1, 7] = 1e11
    engine = WarpEngine(tiny, device="cpu", n_worlds=2)
    broken = engine.settle(qpos[:4], targets[:4], time_limit=LIMIT)
    np.testing.assert_array_equal(broken.diverged, [False, True, False, False])
    assert np.isinf(broken.time[1])
    others = [0, 2, 3]
    np.testing.assert_allclose(broken.qpos[others], expected.qpos[others], atol=1e-6)
    np.testing.assert_array_equal(broken.time[others], expected.time[others])


def test_sensors_make_no_contacts(bittle):
    """Bittle's distance sensors would report the ground from afar."""
    engine = WarpEngine(bittle, device="cpu", n_worlds=1)
    qpos, targets = random_drops(bittle, 1)
    engine.settle(qpos, targets, time_limit=0.02)
    assert engine._worlds[1].data.nacon.numpy()[0] == 0


def test_without_a_gpu_it_says_so(tiny, monkeypatch):
    monkeypatch.setattr(warp.wp, "is_cuda_available", lambda: False)
    with pytest.raises(InputError, match=r"needs an NVIDIA GPU.*'mujoco' engine"):
        make_engine("warp", tiny)


def test_an_unknown_device_is_refused(tiny):
    with pytest.raises(InputError, match=r"`device` must be one of .*cpu.*'cuda:77'"):
        WarpEngine(tiny, device="cuda:77")


def test_what_it_cannot_simulate_is_named(tiny):
    model = tiny.model.__copy__()
    model.opt.solver = mujoco.mjtSolver.mjSOL_PGS
    robot = Robot("old", model, tiny.drop_height)
    with pytest.raises(InputError, match=r"cannot simulate old: mjSOL_PGS"):
        WarpEngine(robot, device="cpu")


def test_a_geom_it_does_not_know_is_named(tiny, monkeypatch):
    monkeypatch.setattr(warp.mjw, "GeomType", [mujoco.mjtGeom.mjGEOM_PLANE])
    with pytest.raises(InputError, match=r"its geom 'number 1' is of type mjGEOM_BOX"):
        WarpEngine(tiny, device="cpu")


def test_without_mujoco_warp_it_gives_the_pip_line(tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)  # import fails
    monkeypatch.delitem(sys.modules, "kaccess.engines.warp.engine")
    with pytest.raises(ImportError, match=r"pip install 'kaccess\[gpu\]'"):
        make_engine("warp", tiny)


def test_a_device_is_for_warp_only(tiny):
    with pytest.raises(InputError, match=r"`device` is for the engine 'warp'"):
        make_engine("mujoco", tiny, device="cuda:0")
