"""The `mujoco` engine equals a plain loop, for any number of threads and slots."""

import mujoco
import numpy as np
import pytest

from kaccess import StillConfig, make_engine
from kaccess.engines.mujoco import MujocoEngine, make_lean_model
from kaccess.engines.still import count_quiet, is_quiet
from tests.engines.drops import assert_same, random_drops

STILL = StillConfig()


def plain_settle(robot, qpos, targets, *, time_limit):
    """Settle one robot with `mj_step`, one state at a time."""
    model = make_lean_model(robot)
    data = mujoco.MjData(model)
    data.qpos[:], data.ctrl[:] = qpos, targets
    limits = robot.scale.fit(STILL)
    window, quiet = round(limits.window / robot.timestep), 1
    for step in range(1, round(time_limit / robot.timestep) + 1):
        mujoco.mj_step(model, data)
        v = data.qvel
        still = (
            np.sqrt(v[:3] @ v[:3]) < limits.linear_velocity
            and np.sqrt(v[3:6] @ v[3:6]) < limits.angular_velocity
            and max(abs(v[6:])) < limits.joint_velocity
        )
        quiet = quiet + 1 if still else 0
        if quiet > window:
            return data.qpos.copy(), (step - window) * robot.timestep
    return data.qpos.copy(), np.inf


@pytest.mark.parametrize("time_limit", [0.9, 1.5])
def test_results_equal_a_plain_loop_bit_for_bit(any_robot, time_limit):
    qpos, targets = random_drops(any_robot, 12)
    got = make_engine("mujoco", any_robot).settle(qpos, targets, time_limit=time_limit)
    for row in range(len(qpos)):
        end, time = plain_settle(
            any_robot, qpos[row], targets[row], time_limit=time_limit
        )
        np.testing.assert_array_equal(got.qpos[row], end)
        assert got.time[row] == time
    assert not got.diverged.any()
    if any_robot.name == "bittle":  # some come to rest, some do not
        assert 0 < np.isfinite(got.time).sum() < len(qpos)


@pytest.mark.parametrize(("n_threads", "n_slots"), [(1, 1), (1, 7), (2, 3), (3, 64)])
def test_threads_and_slots_do_not_change_results(bittle, engine, n_threads, n_slots):
    qpos, targets = random_drops(bittle, 20)
    expected = engine.settle(qpos, targets, time_limit=1.2)
    other = MujocoEngine(bittle, n_threads=n_threads, n_slots=n_slots)
    assert_same(other.settle(qpos, targets, time_limit=1.2), expected)


def test_a_diverged_simulation_is_reported_and_affects_no_other(
    tiny, tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    qpos, targets = random_drops(tiny, 4)
    engine = MujocoEngine(tiny, n_slots=2)
    whole = engine.settle(qpos, targets, time_limit=1.0)
    qpos[1, 7] = 1e11  # beyond the limit of MuJoCo
    broken = engine.settle(qpos, targets, time_limit=1.0)
    np.testing.assert_array_equal(broken.diverged, [False, True, False, False])
    assert np.isinf(broken.time[1])
    others = [0, 2, 3]
    np.testing.assert_array_equal(broken.qpos[others], whole.qpos[others])
    np.testing.assert_array_equal(broken.time[others], whole.time[others])
    assert capfd.readouterr().err == ""
    assert list(tmp_path.iterdir()) == []  # no log file either


def test_a_state_is_quiet_only_if_every_velocity_is_small():
    limits = STILL.linear_velocity, STILL.angular_velocity, STILL.joint_velocity
    for index, limit in zip((1, 4, 7), limits, strict=True):
        qvel = np.zeros(8)
        qvel[index] = -0.99 * limit
        assert is_quiet(qvel, STILL)
        qvel[index] = -1.01 * limit
        assert not is_quiet(qvel, STILL)
    assert not is_quiet(np.full(8, np.nan), STILL)


def test_quiet_states_are_counted_across_chunks():
    quiet = np.array([[1, 1, 0, 1, 1], [1, 1, 1, 1, 1], [0, 0, 0, 0, 1]], bool)
    runs = count_quiet(quiet, np.array([3, 4, 9]))
    np.testing.assert_array_equal(
        runs, [[4, 5, 0, 1, 2], [5, 6, 7, 8, 9], [0, 0, 0, 0, 1]]
    )
