"""Starts, seeds and states of episodes, and errors for invalid ones."""

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import data_equivalence

import kaccess
from kaccess import InitialStates, InputError
from kaccess.envs import FallRecovery, RobotEnv, RobotVectorEnv
from tests.envs.common import FAST


def test_episodes_begin_at_rest_in_one_of_the_starts(nine):
    env = RobotVectorEnv(200, starts=nine, **FAST)
    env.reset(seed=5)
    qpos = env.episodes.robots.qpos
    known = (qpos[:, None] == nine.qpos).all(axis=2)
    assert known.any(axis=1).all()
    assert known.any(axis=0).all()
    np.testing.assert_array_equal(env.episodes.robots.readings.joint_velocity, 0.0)


def test_without_starts_the_robot_stands(bittle):
    env = RobotVectorEnv(1, **FAST)
    env.reset()
    np.testing.assert_array_equal(env.episodes.robots.qpos[0], bittle.standing)


def test_the_same_seed_gives_the_same_starts(nine):
    env = RobotVectorEnv(8, starts=nine, **FAST)
    first, second = env.reset(seed=3)[0], env.reset()[0]
    again, more = env.reset(seed=3)[0], env.reset()[0]
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(second, more)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, env.reset(seed=4)[0])


def test_each_sub_environment_draws_from_its_own_stream(nine):
    env = RobotVectorEnv(4, starts=nine, **FAST)
    env.reset(seed=7)
    expected = [nine.sample(np.random.default_rng([7, i]), 1)[0] for i in range(4)]
    np.testing.assert_array_equal(env.episodes.robots.qpos, expected)
    env.reset(seed=[[9, 1], [9, 0], 5, 6])
    streams = ([9, 1], [9, 0], 5, 6)
    expected = [nine.sample(np.random.default_rng(seed), 1)[0] for seed in streams]
    np.testing.assert_array_equal(env.episodes.robots.qpos, expected)


def test_starts_of_one_sub_environment_do_not_affect_the_others(nine, actions):
    others = [nine, InitialStates.uniform(nine.qpos[:2], names=("a", "b"), model="")]
    runs = []
    for changed in others:
        task = FallRecovery(episode_steps=3)
        env = RobotVectorEnv(3, task, starts=[nine, changed, nine], **FAST)
        steps = [(env.reset(seed=2)[0], np.zeros(3))]
        steps += [env.step(action)[:2] for action in actions(10, 3)]
        runs.append([np.array(each) for each in zip(*steps, strict=True)])
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one[:, [0, 2]], other[:, [0, 2]])
        assert not np.array_equal(one[:, 1], other[:, 1])


def test_a_continued_run_equals_an_uninterrupted_one(task_name, nine, actions):
    """To the bit, across the ends of episodes, from plain arrays."""
    task = type(kaccess.envs.make_task(task_name))(episode_steps=7)

    def make():
        return RobotVectorEnv(3, task, starts=nine, **FAST)

    whole, first, second = make(), make(), make()
    moves = actions(24, 3)
    whole.reset(seed=1)
    expected = [whole.step(action) for action in moves]
    first.reset(seed=1)
    for action in moves[:10]:
        first.step(action)
    state = {
        name: np.array(each.tolist(), each.dtype)
        for name, each in first.get_state().items()
    }
    first.step(moves[0])  # does not change the state that was returned
    second.set_state(state)
    np.testing.assert_array_equal(second.observe(), expected[9][0])
    for action, outcome in zip(moves[10:], expected[10:], strict=True):
        assert data_equivalence(second.step(action), outcome, exact=True)
    for name, each in whole.get_state().items():
        np.testing.assert_array_equal(second.get_state()[name], each)
        assert each.dtype.kind in "fiu"


def test_a_state_can_be_set_twice(nine, actions):
    env = RobotVectorEnv(2, starts=nine, **FAST)
    env.reset(seed=0)
    for action in actions(5, 2):
        env.step(action)
    state = env.get_state()
    ends = []
    for _ in range(2):
        env.set_state(state)
        ends.append([env.step(action)[1] for action in actions(5, 2, seed=1)])
    np.testing.assert_array_equal(*ends)


def test_reset_takes_a_given_state(bittle, nine):
    env, vec = RobotEnv(starts=nine), RobotVectorEnv(2, starts=nine, **FAST)
    crouch, back = (np.array(bittle.keyframes[key].qpos) for key in ("crouch", "back"))
    obs, _ = env.reset(options={"qpos": crouch})
    np.testing.assert_allclose(obs[6:], crouch[7:], rtol=1e-6)
    vec.reset(options={"qpos": back})
    np.testing.assert_array_equal(vec.episodes.robots.qpos, [back, back])
    vec.reset(options={"qpos": np.array([crouch, back])})
    np.testing.assert_array_equal(vec.episodes.robots.qpos, [crouch, back])
    mask = np.array([True, False])
    vec.reset(options={"qpos": np.array([back, crouch]), "reset_mask": mask})
    np.testing.assert_array_equal(vec.episodes.robots.qpos, [back, back])


def test_a_diverged_simulation_ends_its_episode(nine):
    env = RobotVectorEnv(2, starts=nine, **FAST)
    env.reset(seed=0)
    state = env.get_state()
    state["physics"][1, 1 + 15] = 1e12  # a velocity
    env.set_state(state)
    _, reward, ended, truncated, info = env.step(np.zeros((2, 8)))
    np.testing.assert_array_equal(truncated, [False, True])
    assert not ended.any()
    assert reward[1] == 0.0
    np.testing.assert_array_equal(info["final_info"]["diverged"], [False, True])
    assert np.isfinite(env.step(np.zeros((2, 8)))[0]).all()


def test_a_step_before_the_first_reset_raises():
    env = RobotVectorEnv(1, **FAST)
    with pytest.raises(ResetNeeded, match="Call `reset` before"):
        env.step(np.zeros((1, 8)))
    with pytest.raises(ResetNeeded, match="Call `reset` before"):
        env.get_state()
    with pytest.raises(InputError, match="first `reset` must be of all"):
        RobotVectorEnv(2, **FAST).reset(options={"reset_mask": np.array([True, False])})


def test_starts_of_another_robot_raise(bittle, tiny, nine):
    with pytest.raises(InputError, match="belong to another robot than 'bittle-real'"):
        RobotEnv(robot="bittle-real", starts=nine)
    nameless = InitialStates.uniform(tiny.standing[None], names=("a",), model="")
    with pytest.raises(InputError, match="belong to another robot than 'bittle'"):
        RobotEnv(starts=nameless)
    with pytest.raises(InputError, match=r"`starts` must be .*InitialStates.* got str"):
        RobotEnv(starts="ka.npz")
    with pytest.raises(InputError, match="one for each of the 3 environments, got 2"):
        RobotVectorEnv(3, starts=[nine, nine])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"qpso": 1}, "Unknown option 'qpso' .* qpos, qvel, reset_mask"),
        ({"qpos": np.zeros(14)}, r"shape \(15,\) or \(2, 15\) for 2"),
        ({"qpos": np.zeros((3, 15))}, r"shape \(15,\) or \(2, 15\) for 2"),
        ({"reset_mask": [True]}, "must be 2 booleans"),
        ({"reset_mask": [0, 1]}, "must be 2 booleans"),
        ({"reset_mask": [False, False]}, "at least one of them true"),
    ],
)
def test_invalid_options_raise(options, reason):
    env = RobotVectorEnv(2, **FAST)
    env.reset(seed=0)
    with pytest.raises(InputError, match=reason):
        env.reset(options=options)


def test_a_wrong_number_of_seeds_raises():
    with pytest.raises(InputError, match="one for each of the 2 environments, got 3"):
        RobotVectorEnv(2, **FAST).reset(seed=[1, 2, 3])


def test_a_state_of_another_environment_raises():
    env, other = RobotVectorEnv(2, **FAST), RobotVectorEnv(3, **FAST)
    env.reset(seed=0)
    other.reset(seed=0)
    with pytest.raises(InputError, match="of 2 environments, as `get_state`"):
        env.set_state(other.get_state())
    state = env.get_state()
    with pytest.raises(InputError, match="`memory` must have shape"):
        RobotVectorEnv(2, "backflip", **FAST).set_state(state)
    with pytest.raises(InputError, match="`physics` must have shape"):
        env.set_state(state | {"physics": np.zeros((2, 5))})
    del state["steps"]
    with pytest.raises(InputError, match="must hold memory, physics, steps, streams"):
        env.set_state(state)
