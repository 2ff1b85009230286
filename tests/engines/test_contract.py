"""Properties that every engine must have."""

import dataclasses

import numpy as np
import pytest

from kaccess import make_engine
from kaccess.base.rotations import gravity_in_body
from kaccess.config import EngineConfig
from kaccess.engines.motion import Motion, as_motion
from tests.engines.drops import assert_same, random_drops, random_motions


def skip_if_missing(name):
    """Skip a test if the package of an engine is not installed."""
    if name == "bullet":
        pytest.importorskip("pybullet", reason="PyBullet is not installed")
    if name == "warp":
        pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed")


@pytest.fixture(
    scope="module",
    params=["mujoco", pytest.param("bullet", marks=pytest.mark.bullet), "warp"],
)
def engine_name(request):
    skip_if_missing(request.param)
    return request.param


def make(name, robot):
    device = "cpu" if name == "warp" else None
    return make_engine(EngineConfig(engine=name, threads=1, device=device), robot)


@pytest.fixture(scope="module")
def any_engine(engine_name, bittle):
    return make(engine_name, bittle)


def get_keyframes(robot, *names):
    keys = [robot.keyframes[name] for name in names]
    return np.array([key.qpos for key in keys]), np.array([key.ctrl for key in keys])


def test_results_do_not_depend_on_order_or_on_other_simulations(bittle, any_engine):
    qpos, targets = random_drops(bittle, 8)
    together = any_engine.settle(qpos, targets, time_limit=1.0)
    assert (
        0 < np.isfinite(together.time).sum() < len(qpos)
    )  # some come to rest, some do not
    some = np.array([6, 1, 3, 0, 7])
    alone = any_engine.settle(qpos[some], targets[some], time_limit=1.0)
    np.testing.assert_array_equal(alone.qpos, together.qpos[some])
    np.testing.assert_array_equal(alone.time, together.time[some])


def test_a_second_engine_gives_the_same_results(bittle, any_engine, engine_name):
    qpos, targets = random_drops(bittle, 3)
    first = any_engine.settle(qpos, targets, time_limit=0.5)
    other = make(engine_name, bittle)
    assert_same(other.settle(qpos, targets, time_limit=0.5), first)


def test_a_robot_at_rest_stays_and_its_time_is_zero(bittle, any_engine):
    qpos, ctrl = get_keyframes(bittle, "left", "back", "crouch")
    rest = any_engine.settle(qpos, ctrl, time_limit=2.0)
    again = any_engine.settle(rest.qpos, ctrl, time_limit=2.0)
    np.testing.assert_array_equal(again.time, 0.0)
    np.testing.assert_allclose(again.qpos, rest.qpos, atol=2e-3)


def test_robots_end_where_they_do_in_mujoco(bittle, engine, any_engine):
    names = ("stand", "belly", "back", "left", "right", "kneel", "spread", "crouch")
    qpos, ctrl = get_keyframes(bittle, *names)
    start = np.concatenate([qpos, qpos])  # hold the keyframe, and stand up
    targets = np.concatenate([ctrl, np.repeat(ctrl[:1], len(ctrl), axis=0)])
    expected = engine.settle(start, targets, time_limit=3.0)
    got = any_engine.settle(start, targets, time_limit=3.0)
    np.testing.assert_allclose(got.time, expected.time, atol=0.05)
    np.testing.assert_allclose(got.qpos[:, 2], expected.qpos[:, 2], atol=5e-4)
    np.testing.assert_allclose(got.qpos[:, 7:], expected.qpos[:, 7:], atol=0.02)
    down, expected_down = (gravity_in_body(end.qpos[:, 3:7]) for end in (got, expected))
    np.testing.assert_allclose(down, expected_down, atol=5e-3)


def test_a_robot_out_of_time_is_not_at_rest(bittle, any_engine):
    qpos, targets = random_drops(bittle, 3)
    settled = any_engine.settle(qpos, targets, time_limit=0.05)
    assert np.isinf(settled.time).all()
    assert not settled.diverged.any()
    assert (settled.qpos[:, 2] < qpos[:, 2]).all()  # they were falling


def test_the_quiet_window_must_end_within_the_limit(bittle, any_engine):
    qpos, ctrl = get_keyframes(bittle, "back")
    window, step = any_engine.still.window, bittle.timestep
    in_time = any_engine.settle(qpos, ctrl, time_limit=window)
    assert in_time.time == [0.0]
    too_late = any_engine.settle(qpos, ctrl, time_limit=window - step)
    assert np.isinf(too_late.time).all()


def test_progress_grows_until_all_are_done(bittle, any_engine):
    qpos, targets = random_drops(bittle, 6)
    calls = []
    any_engine.settle(
        qpos, targets, time_limit=0.1, progress=lambda *call: calls.append(call)
    )
    assert calls[-1] == (6, 6) and calls == sorted(calls)
    assert any_engine.batch_size > 1


def test_no_simulations_give_empty_results(bittle, any_engine):
    qpos, targets = random_drops(bittle, 3)
    settled = any_engine.settle(qpos[:0], targets[:0], time_limit=1.0)
    assert settled.qpos.shape == (0, bittle.model.nq)
    assert settled.time.shape == settled.diverged.shape == (0,)


def test_inputs_are_not_changed(bittle, any_engine):
    qpos, targets = random_drops(bittle, 3)
    before = qpos.copy(), targets.copy()
    any_engine.settle(qpos, targets, time_limit=0.3)
    np.testing.assert_array_equal(qpos, before[0])
    np.testing.assert_array_equal(targets, before[1])


def test_an_unstable_robot_diverges(tiny, engine_name):
    model = tiny.model.__copy__()
    model.dof_damping[6] = -1e4
    robot = dataclasses.replace(tiny, model=model, known_stance=tiny.stance)
    qpos, targets = random_drops(robot, 3)
    engine = make(engine_name, robot)
    settled = engine.settle(qpos, targets, time_limit=0.5)
    assert settled.diverged.all() and np.isinf(settled.time).all()


def test_targets_beyond_the_control_range_are_clipped(bittle, any_engine):
    qpos, ctrl = get_keyframes(bittle, "back")
    top = np.broadcast_to(bittle.joint_range[:, 1], ctrl.shape)
    at_limit = any_engine.settle(qpos, top, time_limit=0.3)
    beyond = any_engine.settle(qpos, top + 1.0, time_limit=0.3)
    assert_same(beyond, at_limit)
    below = any_engine.settle(qpos, top - 0.5, time_limit=0.3)
    assert np.abs(below.qpos - at_limit.qpos).max() > 1e-3  # targets matter


def test_a_motion_that_holds_its_targets_is_the_same_as_the_targets(bittle, any_engine):
    qpos, targets = random_drops(bittle, 3)
    expected = any_engine.settle(qpos, targets, time_limit=0.3)
    assert_same(any_engine.settle(qpos, as_motion(targets), time_limit=0.3), expected)
    start = bittle.get_joints(qpos)
    jump = Motion(np.stack([start, targets, targets], axis=1), np.zeros((3, 3)))
    assert_same(any_engine.settle(qpos, jump, time_limit=0.3), expected)


def test_motions_end_where_they_do_in_mujoco(bittle, engine, any_engine):
    """From lying to other postures, slowly: contacts only just happen nowhere."""
    qpos, ctrl = get_keyframes(bittle, "belly", "crouch", "kneel")
    points = np.stack([bittle.get_joints(qpos), ctrl, ctrl[[1, 2, 0]]], axis=1)
    motion = Motion(points, np.array([[0, 0.1, 0.3], [0, 0, 0.25], [0, 0.123, 0.123]]))
    expected = engine.settle(qpos, motion, time_limit=2.0)
    got = any_engine.settle(qpos, motion, time_limit=2.0)
    assert np.isfinite(expected.time).all()
    np.testing.assert_allclose(got.time, expected.time, atol=0.05)
    np.testing.assert_allclose(got.qpos[:, 2], expected.qpos[:, 2], atol=1e-3)
    np.testing.assert_allclose(got.qpos[:, 7:], expected.qpos[:, 7:], atol=0.03)


def test_a_robot_is_at_rest_only_after_its_motion(bittle, any_engine):
    """Its targets take their time, but never change; the limit begins after that."""
    qpos, ctrl = get_keyframes(bittle, "back")
    window, step = any_engine.still.window, bittle.timestep
    wait = Motion(np.stack([ctrl, ctrl], axis=1), np.array([[0.0, 0.1]]))
    settled = any_engine.settle(qpos, wait, time_limit=window + step)
    np.testing.assert_allclose(settled.time, 0.1 + step)
    too_late = any_engine.settle(qpos, wait, time_limit=window)
    assert np.isinf(too_late.time).all()


def test_motions_do_not_depend_on_order_or_on_other_motions(bittle, any_engine):
    qpos, motion = random_motions(bittle, 3)
    before = qpos.copy(), motion.points.copy(), motion.times.copy()
    together = any_engine.settle(qpos, motion, time_limit=0.1)
    for array, old in zip((qpos, motion.points, motion.times), before, strict=True):
        np.testing.assert_array_equal(array, old)
    some = np.array([2, 1])
    alone = any_engine.settle(qpos[some], motion[some], time_limit=0.1)
    np.testing.assert_array_equal(alone.qpos, together.qpos[some])
    np.testing.assert_array_equal(alone.time, together.time[some])


def test_points_repeated_at_the_end_change_nothing(bittle, any_engine):
    qpos, motion = random_motions(bittle, 3)
    longer = Motion(
        np.concatenate([motion.points, motion.points[:, -1:]], axis=1),
        np.concatenate([motion.times, motion.times[:, -1:]], axis=1),
    )
    expected = any_engine.settle(qpos, motion, time_limit=0.05)
    assert_same(any_engine.settle(qpos, longer, time_limit=0.05), expected)
