"""Multi-step returns: against a plain loop, at ends of episodes, in runs."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("torch")

from gymnasium.vector import AutoresetMode

from kaccess import InputError
from kaccess.config import SacConfig
from kaccess.sac.population import Experience
from kaccess.sac.returns import MultiStep
from tests.sac.point_mass import PointMasses
from tests.sac.runs import CONFIG, NAMES, arrays, assert_same, run

GAMMA = 0.5


def step(time, *, rewards, terminated=(False,), kept=(True,)):
    """Return a step whose states and actions encode its time."""
    n = len(rewards)
    return Experience(
        obs=np.full((n, 1), float(time)),
        actions=np.full((n, 1), time + 0.5),
        rewards=np.array(rewards, dtype=np.float32),
        discount=np.where(np.broadcast_to(terminated, n), 0, np.float32(GAMMA)),
        next_obs=np.full((n, 1), time + 1.0),
        kept=np.broadcast_to(kept, n).copy(),
    )


def test_one_step_return_is_the_step_itself():
    given = step(3, rewards=[1.0, 2.0], terminated=(False, True))
    found = MultiStep(1).add(given, np.array([False, True]))
    for name, array in vars(given).items():
        np.testing.assert_array_equal(getattr(found, name), array)


def test_three_step_return_solved_by_hand():
    returns, going = MultiStep(3), np.array([False])
    assert returns.add(step(0, rewards=[1.0]), going) is None
    assert returns.add(step(1, rewards=[10.0]), going) is None
    found = returns.add(step(2, rewards=[100.0]), going)
    assert found.rewards == 1 + 0.5 * 10 + 0.25 * 100
    assert (found.obs, found.actions, found.next_obs) == (0, 0.5, 3)
    assert found.discount == 0.5**3


@pytest.mark.parametrize(("terminated", "discount"), [(False, 0.25), (True, 0.0)])
def test_return_stops_at_the_end_of_an_episode(terminated, discount):
    """After a time limit the value counts, with the discount of the steps made."""
    returns = MultiStep(3)
    returns.add(step(0, rewards=[1.0]), np.array([False]))
    returns.add(step(1, rewards=[10.0], terminated=[terminated]), np.array([True]))
    found = returns.add(step(2, rewards=[100.0]), np.array([False]))
    assert (found.rewards, found.next_obs, found.discount) == (6, 2, discount)
    last = returns.add(step(3, rewards=[100.0]), np.array([False]))
    assert (last.rewards, last.obs, last.next_obs) == (10, 1, 2)


def test_return_stops_before_a_step_that_is_not_kept():
    """For example a step of a learner that stopped."""
    returns = MultiStep(2)
    returns.add(step(0, rewards=[1.0, 1.0]), np.zeros(2, dtype=bool))
    found = returns.add(
        step(1, rewards=[np.inf, 10.0], kept=(False, True)), np.zeros(2, dtype=bool)
    )
    np.testing.assert_array_equal(found.rewards, [1, 6])


def test_incomplete_transitions_can_be_stored_and_put_back():
    returns, again, going = MultiStep(3), MultiStep(3), np.array([False])
    returns.add(step(0, rewards=[1.0]), going)
    returns.add(step(1, rewards=[10.0]), going)
    again.set_state(returns.get_state())
    one, two = (each.add(step(2, rewards=[100.0]), going) for each in (returns, again))
    for name, array in vars(one).items():
        np.testing.assert_array_equal(getattr(two, name), array)
    again.clear()
    assert again.get_state() == {}
    again.set_state({})
    assert again.add(step(3, rewards=[0.0]), going) is None


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("n_envs", [1, 2])
def test_multi_step_replay_follows_from_single_step_replay(tmp_path, mode, n_envs):
    """Row by row with a plain loop; in the warm-up, actions are the same in both."""
    n = 3
    config = dataclasses.replace(
        CONFIG, capacity=500, warmup_steps=400, envs_per_learner=n_envs
    )
    for steps in (1, n):
        run(
            tmp_path / str(steps),
            env=PointMasses(3 * n_envs, mode=mode, edge=1.05),
            config=dataclasses.replace(config, return_steps=steps),
            n_steps=60 * n_envs,
        )
    for p in range(3):
        single, several = (
            arrays(tmp_path / str(steps))[f"replay/{p}"] for steps in (1, n)
        )
        starting_in = {row[:3].tobytes(): row for row in single}
        assert len(starting_in) == len(single)
        assert len(several) >= len(single) - n * n_envs
        n_short = 0
        for row in several:
            reward, discount, n_made = 0.0, 1.0, 0
            state, ended = row[:3], False
            while n_made < n and not ended:
                last = starting_in[state.tobytes()]
                reward, discount = reward + discount * last[5], discount * last[6]
                # by termination, or by the time limit of 7 steps
                ended = last[6] == 0 or np.isclose(last[-1], 1)
                state, n_made = last[7:], n_made + 1
            n_short += n_made < n
            np.testing.assert_array_equal(row[:5], starting_in[row[:3].tobytes()][:5])
            np.testing.assert_allclose(row[5:7], [reward, discount], rtol=1e-5)
            np.testing.assert_array_equal(row[7:], state)
        assert n_short > 5  # ends of episodes occur


@pytest.mark.parametrize("stop", [5, 31])
def test_resumed_run_has_the_same_bits(tmp_path, stop):
    config = dataclasses.replace(CONFIG, return_steps=4)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run(whole, config=config, n_steps=60)
    for n_steps in (stop, 60):
        run(parts, config=config, n_steps=n_steps)
    assert_same(arrays(whole), arrays(parts))
    for name in NAMES:
        one, two = (each / name / "episodes.csv" for each in (whole, parts))
        assert one.read_text() == two.read_text()


def test_refuses_fewer_than_one_step():
    with pytest.raises(InputError, match="`return_steps` must be at least 1, got 0"):
        SacConfig(return_steps=0)


def test_refuses_more_steps_than_the_warm_up_has():
    with pytest.raises(InputError, match=r"warm-up steps .* \(7\), got 8"):
        SacConfig(return_steps=8, warmup_steps=50, envs_per_learner=8)


def test_new_episodes_are_not_joined_with_earlier_ones(tmp_path):
    """When a run resumes without the state of its environments."""

    def env():
        bare = PointMasses(3, limit=1000)
        bare.get_state = None
        return bare

    config = dataclasses.replace(CONFIG, return_steps=3, capacity=500)
    run(tmp_path, env=env(), config=config, n_steps=30)
    run(tmp_path, env=env(), config=config, n_steps=40)
    replay = arrays(tmp_path)["replay/0"]
    assert len(replay) == 28 + 8
    np.testing.assert_allclose((replay[:, -1] - replay[:, 2]) * 1000, 3, atol=1e-3)


def test_stopped_learner_stores_only_finite_transitions(tmp_path):
    env = PointMasses(3)
    plain = env.step

    def broken(actions):
        obs, rewards, *rest = plain(actions)
        rewards[0] = np.inf if len(env.actions_seen) >= 30 else rewards[0]
        return obs, rewards, *rest

    env.step = broken
    config = dataclasses.replace(CONFIG, return_steps=4, capacity=500)
    trained = run(tmp_path, env=env, config=config, n_steps=60)
    assert list(trained.stopped) == [NAMES[0]]
    sizes = [len(arrays(tmp_path)[f"replay/{p}"]) for p in range(3)]
    assert sizes == [26, 57, 57]
    assert np.isfinite(arrays(tmp_path)["replay/0"]).all()
