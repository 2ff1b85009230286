"""Robots on tensors, on Warp's CPU device: the same code as on a GPU."""

import numpy as np
import pytest

pytest.importorskip("mujoco_warp")
pytest.importorskip("torch")

import torch

from kaccess import InputError
from kaccess.config import EngineConfig
from kaccess.envs import Conditions, RobotVectorEnv, Stand
from kaccess.envs.curriculum import AlongRoutes
from kaccess.envs.tasks import make_task
from kaccess.gpu import TensorRobots, worlds
from kaccess.starts import InitialStates
from tests.envs.test_curriculum import make_rest, make_routes

N, LIMIT = 4, 5
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WARP = EngineConfig(engine="warp", device=DEVICE)
ROUNDING = 0.0 if DEVICE == "cpu" else 1e-4  # a GPU adds up contacts in any order


def make_starts(robot):
    """Return two starts: standing, and a little above it."""
    qpos = np.repeat(robot.standing[None], 2, axis=0)
    qpos[1, 2] += 0.1
    return InitialStates(qpos, np.array([0.25, 0.75]), ("a", "b"), robot.fingerprint)


def make(robot, n=N, task="fall-recovery", limit=LIMIT, **options):
    options.setdefault("starts", make_starts(robot))
    made = make_task(task, robot)
    object.__setattr__(made, "episode_steps", limit)
    return TensorRobots(n, made, robot, device=DEVICE, **options)


def draw_actions(n_steps, robot, n=N):
    shape = (n_steps, n, robot.model.nu)
    return np.random.default_rng(0).uniform(-1.2, 1.2, shape)


def on_host(outcome):
    """Return the outcome of a step as arrays, by name."""
    return {name: each.cpu().numpy() for name, each in vars(outcome).items()}


@pytest.fixture
def env(tiny):
    return make(tiny)


def test_observations_rewards_and_resets_equal_those_of_the_host(tiny, env):
    obs = env.reset(range(N))
    host = RobotVectorEnv(
        N,
        env.task,
        robot=tiny,
        starts=make_starts(tiny),
        engine=WARP,
    )
    at_rest = env.get_state()["qpos"].astype(float)
    first, _ = host.reset(options={"qpos": at_rest})
    np.testing.assert_allclose(obs.cpu(), first, atol=1e-6)
    for step, action in enumerate(draw_actions(LIMIT, tiny)):
        outcome = env.step(torch.from_numpy(action).float())
        now = on_host(outcome)
        expected = host.step(action)
        last = step == LIMIT - 1
        final = expected[4]["final_obs"] if last else expected[0]
        np.testing.assert_allclose(
            now["final_obs"], np.stack(final), rtol=2e-5, atol=1e-5
        )
        np.testing.assert_allclose(now["rewards"], expected[1], atol=1e-5)
        np.testing.assert_array_equal(now["done"], expected[3])
        np.testing.assert_array_equal(now["time_outs"], expected[3])
    assert outcome.done.all()
    heights = env.get_state()["qpos"][:, 2] - tiny.standing[2]
    assert np.isin(heights.round(5), [0.0, 0.1]).all()  # at their next starts
    assert not np.allclose(now["obs"], now["final_obs"])
    assert not env.get_state()["steps"].any() and not env.get_state()["memory"].any()


def test_starts_are_drawn_by_their_weights_and_seeds(tiny):
    env = make(tiny, n=400)
    heights = []
    for seeds in (range(400), range(400), range(1, 401)):
        env.reset(seeds)
        heights.append(env.get_state()["qpos"][:, 2])
    np.testing.assert_array_equal(heights[0], heights[1])
    assert (heights[0] != heights[2]).any()
    share = (heights[0] > tiny.standing[2] + 0.05).mean()
    assert 0.68 < share < 0.82  # 0.75, within three standard deviations


def test_only_robots_whose_episode_ended_begin_anew(tiny, env):
    env.reset(range(N))
    env.set_lengths(torch.tensor([0, LIMIT - 1, 0, 0]))
    before = env.get_state()["qpos"]
    outcome = env.step(torch.zeros(N, tiny.model.nu))
    assert outcome.done.tolist() == [False, True, False, False]
    now = env.get_state()
    assert now["steps"].tolist() == [1, 0, 1, 1]
    same = (outcome.obs == outcome.final_obs).all(1)
    assert same.tolist() == [True, False, True, True]
    for name in ("qvel", "warm_start"):
        assert (now[name][1] == 0).all() and (now[name][[0, 2, 3]] != 0).any()
    assert (now["qpos"] != before).any(1)[[0, 2, 3]].all()


def test_a_diverged_robot_gets_no_reward_and_a_new_episode(tiny, env):
    first = env.reset(range(N))
    env._worlds.fields.qvel[2, 0] = torch.nan
    outcome = env.step(torch.zeros(N, tiny.model.nu))
    assert outcome.done.tolist() == [False, False, True, False]
    assert outcome.rewards[2] == 0 and (outcome.rewards[:2] > 0).all()
    assert torch.isfinite(outcome.obs).all() and torch.isfinite(outcome.final_obs).all()
    kept = [0, 1, 2, 5, 6, 7]  # all but the angular velocity, which may be NaN
    torch.testing.assert_close(outcome.final_obs[2, kept], first[2, kept])
    later = env.step(torch.zeros(N, tiny.model.nu))
    assert not later.done.any() and torch.isfinite(later.rewards).all()


def test_a_stored_state_continues_alike(tiny, env):
    env.reset(range(N))
    actions = torch.from_numpy(draw_actions(2 * LIMIT + 2, tiny)).float()
    for action in actions[:2]:
        env.step(action)
    state = env.get_state()
    expected = [env.step(action) for action in actions[2:]]
    other = make(tiny)
    other.reset(range(9, 9 + N))
    assert other.set_state(state)
    for action, before in zip(actions[2:], expected, strict=True):
        now = on_host(other.step(action))
        for name, value in on_host(before).items():
            np.testing.assert_allclose(now[name], value, ROUNDING, ROUNDING)
    assert not other.set_state({})


def test_curricula_learn_how_episodes_end(tiny):
    curriculum = AlongRoutes(make_rest(tiny), make_routes(tiny))
    env = make(tiny, n=64, starts=curriculum)
    env.reset(range(64))
    now = env.get_state()
    moving = now["qvel"][:, 0] > 0
    assert moving.any() and not moving.all()
    assert (now["drawn"] >= 0).sum() >= moving.sum()
    for _ in range(LIMIT):
        env.step(torch.zeros(64, tiny.model.nu))
    assert (env.get_state()["drawn"] != now["drawn"]).any()
    env._worlds.fields.qpos[:] = torch.from_numpy(tiny.standing).float()
    success = torch.ones(64, dtype=torch.bool, device=env.device)
    env._starts.record(success, success)
    assert curriculum.success.max() > 0


def test_buffers_that_are_too_small_grow_and_the_episode_ends(
    tiny, monkeypatch, caplog
):
    monkeypatch.setattr(worlds, "_LOOK_EVERY", 2)
    env = make(tiny)
    env.reset(range(N))
    env._worlds._overflow[1] = 2**30 - 1
    monkeypatch.setattr(env._worlds, "_advance", lambda: None)
    small = env._worlds._buffers
    outcome = env.step(torch.zeros(N, tiny.model.nu))
    assert outcome.done.tolist() == [False, True, False, False]
    kept = env.get_state()["qpos"]
    env._worlds._overflow.zero_()
    env.step(torch.zeros(N, tiny.model.nu))
    assert env._worlds._buffers.n_rows == 2 * small.n_rows
    assert "1 robots began new episodes" in caplog.text
    np.testing.assert_array_equal(env.get_state()["qpos"], kept)


def test_a_diverged_robot_needs_no_larger_buffers(tiny):
    env = make(tiny)
    env.reset(range(N))
    env._worlds._overflow[:2] = 2**30 - 1
    env._worlds.fields.qpos[1, 0] = torch.nan
    assert env._worlds.find_lost().tolist() == [True, True, False, False]
    assert int(env._worlds._n_overflowed) == 1


@pytest.mark.parametrize(
    "conditions", ["randomize=1", "slope=5", "delay=0.04", "noise=1", "observe=imu"]
)
def test_conditions_that_differ_between_robots_are_refused(tiny, conditions):
    with pytest.raises(InputError, match="cannot have the conditions"):
        make(tiny, conditions=Conditions.parse(conditions))


def test_conditions_of_the_model_apply(tiny, env):
    weak = make(tiny, conditions=Conditions.parse("torque=0.3"))
    outcomes = []
    for each in (env, weak):
        each.reset(range(N))
        action = torch.ones(N, tiny.model.nu)
        outcomes.append([each.step(action).obs for _ in range(3)][-1])
    assert not torch.allclose(*outcomes)


def test_a_task_that_observes_something_else_is_refused(tiny):
    class Blind(Stand):
        def observe(self, now):
            return 0 * super().observe(now)

    with pytest.raises(InputError, match="has an `observe` of its own"):
        TensorRobots(N, Blind(), tiny, device=DEVICE)


def test_buffers_may_grow_while_a_policy_acts_without_gradients(tiny, monkeypatch):
    monkeypatch.setattr(worlds, "_LOOK_EVERY", 1)
    env, other = make(tiny), make(tiny)
    for each in (env, other):
        each.reset(range(N))
    env._worlds._n_overflowed += 1
    action = torch.full((N, tiny.model.nu), 0.5, device=env.device)
    with torch.inference_mode():
        env.step(action)
        other.step(action)
    assert env._worlds._n_doublings == 1 and other._worlds._n_doublings == 0
    grown, plain = (each.step(action.requires_grad_()) for each in (env, other))
    torch.testing.assert_close(grown.obs, plain.obs, rtol=ROUNDING, atol=ROUNDING)
    assert env.get_state()["ctrl"].shape == (N, tiny.model.nu)
    env.reset(range(N))


def test_without_starts_robots_stand(tiny):
    env = make(tiny, starts=None)
    env.reset(range(N))
    expected = np.tile(tiny.standing, (N, 1))
    np.testing.assert_allclose(env.get_state()["qpos"], expected, atol=1e-6)


def test_a_state_of_another_device_continues_with_new_draws(env):
    env.reset(range(N))
    assert env.set_state(env.get_state() | {"random": np.zeros(16, np.uint8)})


def test_a_task_with_branches_is_refused(tiny):
    with pytest.raises(InputError, match="'backflip' cannot be computed on tensors"):
        make(tiny, task="backflip")


@pytest.mark.gpu
@pytest.mark.skipif(DEVICE == "cpu", reason="records nothing on a CPU")
def test_a_recorded_step_does_what_it_does_unrecorded(tiny):
    recorded, plain = make(tiny), make(tiny)
    plain._finish_step = plain._finish
    for env in (recorded, plain):
        env.reset(range(N))
    for action in torch.from_numpy(draw_actions(3 * LIMIT, tiny)).float():
        now, expected = on_host(recorded.step(action)), on_host(plain.step(action))
        for name, value in expected.items():
            np.testing.assert_allclose(now[name], value, atol=1e-4, err_msg=name)


@pytest.mark.gpu
@pytest.mark.skipif(DEVICE == "cpu", reason="records nothing on a CPU")
def test_recorded_steps_draw_other_starts_each_time(tiny):
    env = make(tiny, n=400, limit=1)
    env.reset(range(400))
    heights = []
    for _ in range(2):
        env.step(torch.zeros(400, tiny.model.nu))
        heights.append(env.get_state()["qpos"][:, 2])
    assert (heights[0] != heights[1]).any()
