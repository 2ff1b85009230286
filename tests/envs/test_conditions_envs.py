"""Environments under harder conditions: slopes and delayed commands."""

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from scipy.spatial.transform import Rotation

from kaccess import InitialStates, InputError
from kaccess.config import EngineConfig
from kaccess.envs import Conditions, FallRecovery, RobotEnv, RobotVectorEnv
from tests.envs.common import ALL, FAST, hold

EACH = ["torque=0.6", "friction=0.3", "mass=1.5", "slope=10", "delay=0.04"]


# On a slope


@pytest.mark.parametrize("slope", [10, 20])
def test_a_robot_parallel_to_a_slope_stands_strictly(bittle, slope):
    n = 8
    env = RobotVectorEnv(n, conditions=Conditions(slope=slope), **FAST)
    env.reset(seed=0)
    for step in range(1, 26):
        *_, info = env.step(np.tile(hold(bittle, bittle.standing), (n, 1)))
        assert (info["success"] == (step >= 5)).all()


def test_observations_on_a_slope_show_true_gravity(bittle):
    """For robots that head uphill, to the left of that, and downhill."""
    env = RobotVectorEnv(3, conditions="slope=10", **FAST)
    qpos = np.tile(bittle.standing, (3, 1))
    turn = Rotation.from_euler("z", [[0], [90], [180]], degrees=True)
    qpos[:, 3:7] = turn.as_quat(scalar_first=True)
    obs, _ = env.reset(options={"qpos": qpos})
    s, c = np.sin(np.radians(10)), np.cos(np.radians(10))
    np.testing.assert_allclose(
        obs[:, :3], [[-s, 0, -c], [0, s, -c], [s, 0, -c]], atol=1e-6
    )
    np.testing.assert_allclose(env.episodes.robots.readings.floor_cosine, 1.0)
    np.testing.assert_array_equal(env.episodes.robots.qpos, qpos)  # no random heading


def test_starts_on_a_slope_only_get_a_random_heading(bittle, nine):
    n = 200
    env = RobotVectorEnv(n, starts=nine, conditions="slope=10", **FAST)
    env.reset(seed=3)
    qpos, now = env.episodes.robots.qpos, env.episodes.robots.readings
    flat = RobotVectorEnv(n, starts=nine, **FAST)
    flat.reset(seed=3)
    plain, before = flat.episodes.robots.qpos, flat.episodes.robots.readings
    np.testing.assert_array_equal(
        qpos[:, [0, 1, 2, *range(7, 15)]], np.delete(plain, [3, 4, 5, 6], axis=1)
    )
    new, old = (Rotation.from_quat(q[:, 3:7], scalar_first=True) for q in (qpos, plain))
    turn = (new * old.inv()).as_rotvec()
    np.testing.assert_allclose(turn[:, :2], 0.0, atol=1e-7)
    heading = turn[:, 2] % (2 * np.pi)
    assert np.histogram(heading, 8, (0, 2 * np.pi))[0].min() > 10  # of 25
    rng = np.random.default_rng([3, 7])
    nine.sample(rng, 1)
    assert heading[7] == pytest.approx(rng.uniform(0, 2 * np.pi))
    np.testing.assert_allclose(now.distance, before.distance, atol=1e-9)
    np.testing.assert_allclose(now.height, before.height)


# Delay


def run_actions(env, moves, qpos):
    """Return observation, reward and info of each step."""
    env.reset(options={"qpos": qpos})
    steps = [env.step(move) for move in moves]
    return [(obs, reward, info) for obs, reward, _, _, info in steps]


@pytest.mark.parametrize("n_delay", [1, 3])
def test_a_delay_gives_the_same_motion_some_steps_later(bittle, actions, n_delay):
    """To the bit, as if the first actions had been to hold the joints."""
    qpos, moves = np.array(bittle.keyframes["crouch"].qpos), actions(12, 1)[:, 0]
    late = run_actions(
        RobotEnv(conditions=Conditions(delay=0.04 * n_delay)), moves, qpos
    )
    held = [hold(bittle, qpos)] * n_delay
    plain = run_actions(RobotEnv(), [*held, *moves], qpos)
    for (obs, *rest), (expected, *others) in zip(late, plain[: len(late)], strict=True):
        np.testing.assert_array_equal(obs[: len(expected)], expected)
        assert data_equivalence(rest, others, exact=True)
    prompt = run_actions(RobotEnv(), moves, qpos)
    assert not np.array_equal(late[1][0][:14], prompt[1][0])


def test_observations_include_delayed_commands(nine, actions):
    env = RobotVectorEnv(2, starts=nine, conditions="delay=0.08", **FAST)
    obs, _ = env.reset(seed=0)
    assert env.single_observation_space.shape == (14 + 2 * 8,)
    first, second, third = actions(3, 2)
    held = obs[:, 14:22]
    np.testing.assert_array_equal(obs[:, 22:], held)
    obs, *_ = env.step(first)
    np.testing.assert_array_equal(obs[:, 14:22], held)
    np.testing.assert_array_equal(obs[:, 22:], first.astype(np.float32))
    env.step(second)
    obs, *_ = env.step(third)
    expected = np.concatenate([second, third], axis=1).astype(np.float32)
    np.testing.assert_array_equal(obs[:, 14:], expected)


def test_targets_are_held_until_the_first_command_arrives(nine, actions):
    env = RobotVectorEnv(4, starts=nine, conditions="delay=0.08", **FAST)
    env.reset(seed=0)
    targets = [env.episodes.robots.readings.target.copy()]
    for action in actions(3, 4):
        env.step(action)
        targets.append(env.episodes.robots.readings.target.copy())
    np.testing.assert_allclose(targets[1], targets[0], atol=1e-12)
    np.testing.assert_allclose(targets[2], targets[0], atol=1e-12)
    assert np.abs(targets[3] - targets[2]).max() > 0.1


def test_a_new_episode_discards_delayed_commands(nine, actions):
    """After a reset of one robot, the other's commands stay in the queue."""
    env = RobotVectorEnv(2, starts=nine, conditions="delay=0.08", **FAST)
    env.reset(seed=0)
    for action in actions(4, 2):
        env.step(action)
    before = env.get_state()["queue"]
    env.reset(options={"reset_mask": np.array([False, True]), "qpos": nine.qpos[0]})
    after = env.get_state()["queue"]
    np.testing.assert_array_equal(after[0], before[0])
    np.testing.assert_array_equal(before[0], actions(4, 2)[2:, 0])
    np.testing.assert_allclose(after[1], [hold(env.robot, nine.qpos[0])] * 2)


def test_invalid_delayed_actions_raise_at_once():
    env = RobotVectorEnv(2, conditions="delay=0.04", **FAST)
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(InputError, match=r"`actions` .* \(2, 8\), .* got \(1, 8\)"):
        env.step(np.zeros((1, 8)))
    with pytest.raises(InputError, match="`actions` must be finite"):
        env.step(np.full((2, 8), np.nan))
    assert data_equivalence(env.get_state(), before, exact=True)


# Environments


@pytest.mark.parametrize("nominal", ["", "nominal", "torque=1,delay=0", Conditions()])
def test_nominal_conditions_change_nothing(nine, actions, nominal):
    for kind, n in ((RobotEnv, 1), (RobotVectorEnv, 3)):
        task = FallRecovery(episode_steps=6)
        args = {} if kind is RobotEnv else {"num_envs": n, **FAST}
        envs = [
            kind(task=task, starts=nine, conditions=each, **args)
            for each in (None, nominal)
        ]
        one, other = (env.reset(seed=5) for env in envs)
        assert data_equivalence(one, other, exact=True)
        for action in actions(8, n):
            one, other = (
                env.step(action[0] if kind is RobotEnv else action) for env in envs
            )
            assert data_equivalence(one, other, exact=True)
    states = [env.get_state() for env in envs]
    assert data_equivalence(*states, exact=True)
    assert set(states[0]) == {"physics", "steps", "memory", "streams"}


@pytest.mark.parametrize("text", [*EACH, ALL])
def test_one_robot_and_n_robots_give_the_same_numbers(text, nine, actions):
    """To the bit, under every condition, across the ends of episodes."""
    n, task = 3, FallRecovery(episode_steps=5)
    vec = RobotVectorEnv(
        n, task, starts=nine, conditions=text, engine=EngineConfig(threads=2)
    )
    one = SyncVectorEnv(
        [lambda: RobotEnv(task, starts=nine, conditions=text)] * n,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    seeds = [11, 12, 13]
    got, expected = vec.reset(seed=seeds), one.reset(seed=seeds)
    assert data_equivalence(got, expected, exact=True)
    for action in actions(12, n).astype(np.float32):
        for got, expected in zip(vec.step(action), one.step(action), strict=True):
            assert data_equivalence(got, expected, exact=True)


@pytest.mark.parametrize("text", EACH)
def test_every_condition_makes_a_difference(text, nine, actions):
    ends = []
    for conditions in ("", text):
        env = RobotVectorEnv(3, starts=nine, conditions=conditions, **FAST)
        env.reset(seed=1)
        for action in actions(6, 3):
            last = env.step(action)[0]
        ends.append(last[:, :14])
    assert np.abs(ends[0] - ends[1]).max() > 1e-3


@pytest.mark.parametrize("text", ["delay=0.12", ALL])
def test_a_continued_run_equals_an_uninterrupted_one(text, nine, actions):
    """To the bit, with delayed commands, across the ends of episodes."""

    def make():
        task = FallRecovery(episode_steps=7)
        return RobotVectorEnv(3, task, starts=nine, conditions=text, **FAST)

    whole, first, second = make(), make(), make()
    moves = actions(24, 3)
    whole.reset(seed=1)
    expected = [whole.step(action) for action in moves]
    first.reset(seed=1)
    for action in moves[:10]:
        first.step(action)
    state = first.get_state()
    first.step(moves[0])  # does not change the state that was returned
    second.set_state(state)
    for action, outcome in zip(moves[10:], expected[10:], strict=True):
        assert data_equivalence(second.step(action), outcome, exact=True)
    assert data_equivalence(second.get_state(), whole.get_state(), exact=True)


def test_a_state_of_other_conditions_raises(nine):
    prompt, late, later = (
        RobotVectorEnv(2, conditions=text, **FAST)
        for text in ("", "delay=0.04", "delay=0.08")
    )
    for env in (prompt, late, later):
        env.reset(seed=0)
    with pytest.raises(InputError, match="must hold memory, physics, queue, steps"):
        late.set_state(prompt.get_state())
    with pytest.raises(InputError, match="`queue` must have shape"):
        late.set_state(later.get_state())


def test_starts_belong_to_the_robot_of_the_study(bittle, nine):
    RobotEnv(starts=nine, conditions="mass=1.5").reset(seed=0)
    heavy = Conditions(mass=1.5).apply_to(bittle)
    other = InitialStates.uniform(nine.qpos, names=nine.names, model=heavy.fingerprint)
    with pytest.raises(InputError, match="belong to another robot than 'bittle'"):
        RobotEnv(starts=other, conditions="mass=1.5")


def test_gymnasium_makes_environments_under_conditions(nine):
    made = {"starts": nine, "conditions": ALL}
    env = gymnasium.make("kaccess/FallRecovery-v0", **made).unwrapped
    vec = gymnasium.make_vec("kaccess/FallRecovery-v0", num_envs=2, **made, **FAST)
    assert env.conditions == vec.conditions == Conditions.parse(ALL)
    check_env(env, skip_render_check=True)


# Without the filter of joint targets


def test_a_filter_replaces_that_of_the_task(bittle):
    env = RobotVectorEnv(1, FallRecovery(low_pass=0.4), conditions="filter=0", **FAST)
    env.reset(seed=0)
    env.step(np.ones((1, 8)))
    target = env.episodes.robots.readings.target[0]
    np.testing.assert_allclose(target, bittle.joint_range[:, 1])
    assert env.episodes.task.low_pass == 0.0
    assert Conditions().adapt(env.task) is env.task
