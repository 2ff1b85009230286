"""The contract of every task on every robot, in one environment and in n."""

import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import kaccess
from kaccess import InitialStates, InputError, load_robot
from kaccess.base.rotations import gravity_in_body
from kaccess.config import EngineConfig
from kaccess.envs import ENV_IDS, FallRecovery, RobotEnv, RobotVectorEnv, Stand
from tests.conftest import TINY
from tests.envs.common import FAST, hold


def make_keyframe_starts(robot, names=("back", "stand", "left", "kneel")):
    qpos = np.array([robot.keyframes[name].qpos for name in names])
    return InitialStates.uniform(qpos, names=tuple(names), model=robot.fingerprint)


def hold_standing(env):
    """Return the action that holds the standing joints."""
    return hold(env.robot, env.robot.standing)


def test_gymnasiums_own_checks_pass(task_name, robot):
    env = gymnasium.make(
        ENV_IDS[task_name], robot=robot, starts=make_keyframe_starts(robot)
    )
    check_env(env.unwrapped, skip_render_check=True)


def test_a_custom_robot_needs_no_sensors(task_name):
    env = gymnasium.make(ENV_IDS[task_name], robot=str(TINY))
    check_env(env.unwrapped, skip_render_check=True)
    assert env.observation_space.shape == (3 + 3 + 2,)
    assert env.unwrapped.robot.model.nsensor == 0


def test_gymnasium_makes_both_kinds_of_environment_by_id(task_name, nine):
    env = gymnasium.make(ENV_IDS[task_name], robot="bittle", starts=nine)
    vec = gymnasium.make_vec(ENV_IDS[task_name], num_envs=3, starts=nine, **FAST)
    assert isinstance(env.unwrapped, RobotEnv)
    assert isinstance(vec, RobotVectorEnv)
    assert env.unwrapped.task == vec.task
    assert vec.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert vec.single_observation_space == env.observation_space
    assert vec.single_action_space == env.action_space
    assert vec.observation_space.shape == (3, 14)
    assert vec.action_space.shape == (3, 8)


@pytest.mark.parametrize(
    "order", ["import gymnasium, kaccess", "import kaccess, gymnasium; kaccess.Robot"]
)
def test_the_order_of_imports_does_not_matter(order):
    code = f"{order}; print(gymnasium.spec('kaccess/FallRecovery-v0').id)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "kaccess/FallRecovery-v0"


def test_importing_the_package_loads_neither_gymnasium_nor_mujoco():
    heavy = {"gymnasium", "mujoco", "numba"}
    code = f"import sys, kaccess; print(sorted({heavy} & sys.modules.keys()))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_registering_twice_is_allowed():
    kaccess.envs.register()
    kaccess.envs.register()


def test_one_robot_and_n_robots_give_the_same_numbers(task_name, robot, actions):
    """To the bit: observations, rewards and every info, over two episodes."""
    n, n_steps = 3, 8
    starts = make_keyframe_starts(robot)
    task = type(kaccess.envs.make_task(task_name))(episode_steps=5)
    vec = RobotVectorEnv(
        n, task, robot=robot, starts=starts, engine=EngineConfig(threads=2)
    )
    one = SyncVectorEnv(
        [lambda: RobotEnv(task, robot=robot, starts=starts)] * n,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    seeds = [11, 12, 13]
    for got, expected in zip(vec.reset(seed=seeds), one.reset(seed=seeds), strict=True):
        assert data_equivalence(got, expected, exact=True)
    for action in actions(n_steps, n).astype(np.float32):
        for got, expected in zip(vec.step(action), one.step(action), strict=True):
            assert data_equivalence(got, expected, exact=True)


def test_only_sub_environments_whose_episode_ended_begin_a_new_one(nine, actions):
    """Compared with Gymnasium's vector environment; episodes end at different steps."""
    task, n = FallRecovery(episode_steps=4), 3
    vec = RobotVectorEnv(n, task, starts=nine, **FAST)
    one = SyncVectorEnv(
        [lambda: RobotEnv(task, starts=nine)] * n,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    vec.reset(seed=[1, 2, 3])
    one.reset(seed=[1, 2, 3])
    infos = []
    for step, action in enumerate(actions(9, n).astype(np.float32)):
        if step in (1, 2):
            mask = np.arange(n) == step
            vec.reset(options={"reset_mask": mask})
            one.reset(options={"reset_mask": mask.copy()})
        for got, expected in zip(vec.step(action), one.step(action), strict=True):
            assert data_equivalence(got, expected, exact=True)
        infos.append(got)
    assert [i for i, info in enumerate(infos) if "final_obs" in info] == [3, 4, 5, 7, 8]
    np.testing.assert_array_equal(infos[3]["_final_obs"], [True, False, False])
    np.testing.assert_array_equal(infos[3]["_success"], [False, True, True])
    assert infos[3]["final_info"]["reward_height"][0] > 0


def test_a_standing_robot_earns_nearly_the_maximum_and_succeeds(robot):
    env = RobotEnv("fall-recovery", robot=robot)
    env.reset(seed=0)
    for step in range(1, 31):
        _, reward, _, _, info = env.step(hold_standing(env))
        assert info["success"] == (step >= 5)
    assert 0.995 * 1.4406 < reward <= 1.4406
    assert info["steps_standing"] == 30


@pytest.mark.parametrize("key", ["back", "left", "belly", "crouch", "kneel"])
def test_a_lying_robot_earns_little_and_does_not_succeed(bittle, key):
    env = RobotEnv("fall-recovery")
    env.reset(options={"qpos": bittle.keyframes[key].qpos})
    held = bittle.to_actions(bittle.keyframes[key].ctrl)
    for _ in range(20):
        _, reward, _, _, info = env.step(held)
        assert not info["success"] and not info["success_loose"]
    assert reward < 0.85  # of 1.44


def test_the_reward_is_the_sum_of_its_terms_in_info(task_name, nine, actions):
    env = RobotEnv(task_name, starts=nine)
    env.reset(seed=0)
    for action in actions(10, 1):
        _, reward, _, _, info = env.step(action[0])
        terms = {key: value for key, value in info.items() if key[:7] == "reward_"}
        assert len(terms) == len(env.task.terms)
        assert sum(terms.values()) == reward
        assert set(env.task.memory) <= info.keys()


def test_observations_are_gravity_angular_velocity_and_joints(nine, actions):
    env = RobotVectorEnv(3, starts=nine, **FAST)
    env.reset(seed=0)
    for action in actions(3, 3):
        obs, *_ = env.step(action)
    qpos, now = env.episodes.robots.qpos, env.episodes.robots.readings
    np.testing.assert_allclose(obs[:, :3], gravity_in_body(qpos[:, 3:7]), atol=1e-6)
    np.testing.assert_allclose(obs[:, 3:6], now.angular_velocity, rtol=1e-6)
    np.testing.assert_allclose(obs[:, 6:], qpos[:, 7:], rtol=1e-6, atol=1e-6)
    assert obs.dtype == np.float32
    np.testing.assert_array_equal(env.observe(), obs)


def test_observations_stay_within_the_space(nine, actions):
    env = RobotVectorEnv(4, starts=nine, **FAST)
    env.reset(seed=0)
    for action in np.sign(actions(40, 4)):
        obs, *_ = env.step(action)
        assert env.observation_space.contains(obs)
    env.episodes.robots.readings.angular_velocity[0] = 1e4
    assert env.observation_space.contains(env.observe())


def test_episodes_end_by_truncation_after_300_steps(bittle):
    env = RobotEnv("fall-recovery")
    env.reset(seed=0)
    ends = [env.step(hold_standing(env))[2:4] for _ in range(300)]
    assert ends == [(False, False)] * 299 + [(False, True)]


@pytest.mark.parametrize(
    ("task", "n_steps"), [("stand", 100), (Stand(episode_steps=3), 3)]
)
def test_the_task_sets_the_length_of_episodes(task, n_steps):
    env = RobotVectorEnv(2, task, **FAST)
    env.reset(seed=0)
    ended = [env.step(np.zeros((2, 8)))[3] for _ in range(n_steps)]
    np.testing.assert_array_equal(np.flatnonzero(np.any(ended, axis=1)), n_steps - 1)


def test_make_vec_can_set_the_length_of_episodes():
    env = gymnasium.make_vec("kaccess/Stand-v0", num_envs=2, max_episode_steps=2)
    env.reset(seed=0)
    assert not env.step(np.zeros((2, 8)))[3].any()
    assert env.step(np.zeros((2, 8)))[3].all()


def test_the_task_sets_the_low_pass(bittle):
    for low_pass, share in ((0.4, 0.6), (0.0, 1.0)):
        env = RobotVectorEnv(1, FallRecovery(low_pass=low_pass), **FAST)
        env.reset(seed=0)
        before = env.episodes.robots.readings.target.copy()
        env.step(np.ones((1, 8)))
        moved = env.episodes.robots.readings.target - before
        np.testing.assert_allclose(
            moved[0], share * (bittle.joint_range[:, 1] - before[0])
        )


@pytest.mark.parametrize("n_envs", [1, 2])
def test_environments_render_pictures(n_envs):
    env = RobotEnv(render_mode="rgb_array")
    vec = RobotVectorEnv(n_envs, render_mode="rgb_array", **FAST)
    env.reset(seed=0)
    vec.reset(seed=0)
    try:
        pictures = [env.render(), *vec.render()]
    except InputError as error:
        pytest.skip(str(error))
    assert len(pictures) == 1 + n_envs
    for picture in pictures:
        assert (picture.shape, picture.dtype) == ((480, 640, 3), np.uint8)
        assert picture.std() > 10
        np.testing.assert_allclose(picture, pictures[0], atol=8)
    env.close()
    vec.close()


def test_rendering_changes_nothing(nine, actions):
    envs = [RobotEnv(starts=nine, render_mode=mode) for mode in (None, "rgb_array")]
    for env in envs:
        env.reset(seed=0)
    for action in actions(4, 1):
        plain, rendered = (env.step(action[0])[0] for env in envs)
        np.testing.assert_array_equal(plain, rendered)
        try:
            assert envs[0].render() is None
            envs[1].render()
        except InputError as error:
            pytest.skip(str(error))


def test_an_unknown_render_mode_raises():
    with pytest.raises(InputError, match="`render_mode` must be None or one of rgb"):
        RobotEnv(render_mode="human")


def test_an_unknown_task_raises():
    with pytest.raises(InputError, match=r"Unknown task 'fall-recover'.*Did you mean"):
        RobotEnv("fall-recover")


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"control_rate": 0.0}, "`control_rate` must be positive"),
        ({"low_pass": 1.0}, r"`low_pass` must lie in \[0, 1\)"),
        ({"episode_steps": 0}, "`episode_steps` must be at least 1"),
    ],
)
def test_settings_of_a_task_are_checked(setting, reason):
    with pytest.raises(InputError, match=reason):
        FallRecovery(**setting)


def test_a_robot_is_given_by_name_or_as_an_object():
    for robot in ("bittle-real", load_robot("bittle-real")):
        assert RobotEnv(robot=robot).robot.name == "bittle-real"
