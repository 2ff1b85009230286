"""Replay buffers, random numbers and the exchange with the host."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kaccess import InputError
from kaccess.config import SacConfig
from kaccess.sac.device import find_device
from kaccess.sac.learners import Shape
from kaccess.sac.population import Experience, Population
from kaccess.sac.replay import Replay
from kaccess.sac.streams import Blocks, Stream

CPU = torch.device("cpu")


def experience(n, value, *, kept=True):
    return Experience(
        obs=np.full((n, 3), value),
        actions=np.full((n, 2), value + 0.25),
        rewards=np.full(n, value + 0.5),
        discount=np.full(n, 0.75),
        next_obs=np.full((n, 3), value + 1.0),
        kept=np.broadcast_to(kept, n),
    )


def test_replay_overwrites_the_oldest():
    replay = Replay(2, 4, 1, device=CPU)
    for value in range(6):
        rows = replay.assign_rows(np.array([[True], [value < 3]]))
        replay.data[rows.ravel()] = float(value)
    np.testing.assert_array_equal(replay.sizes, [4, 3])
    first, second = replay.get_contents()
    np.testing.assert_array_equal(np.sort(first[:, 0]), [2, 3, 4, 5])
    np.testing.assert_array_equal(second[:, 0], [0, 1, 2])


def test_replay_discards_transitions_that_are_not_kept():
    replay = Replay(1, 4, 1, device=CPU)
    kept, scratch = np.array([[True, False, True]]), replay.scratch_row
    np.testing.assert_array_equal(replay.assign_rows(kept), [[0, scratch, 1]])
    np.testing.assert_array_equal(replay.assign_rows(kept), [[2, scratch, 3]])
    np.testing.assert_array_equal(replay.assign_rows(kept), [[0, scratch, 1]])


def test_each_learner_draws_all_and_only_its_own_transitions():
    replay = Replay(3, 5, 1, device=CPU)
    replay.data[:] = torch.arange(16.0)[:, None]
    numbers = torch.randint(2**62, (3, 400), generator=torch.Generator().manual_seed(0))
    drawn = replay.draw(numbers, torch.tensor([[5], [2], [1]]))
    sets = [set(each[:, 0].tolist()) for each in drawn]
    assert sets == [{0, 1, 2, 3, 4}, {5, 6}, {10}]


def test_random_numbers_depend_on_seed_and_step_only():
    together = Blocks(Stream.UPDATES, [3, 9, 4], (2, 5), device=CPU)
    alone = Blocks(Stream.UPDATES, [9], (2, 5), device=CPU)
    taken = []
    for _ in range(70):  # over two blocks
        for blocks in (together, alone):
            blocks.prepare()
        taken.append(together.take())
        assert torch.equal(taken[-1][1], alone.take()[0])
    assert len({float(numbers[0, 0, 0]) for numbers in taken}) == 70
    for step in (0, 31, 32, 69):
        alone.seek(step)
        assert torch.equal(alone.take()[0], taken[step][1])


def population(**settings):
    config = SacConfig(hidden=(8,), batch_size=4, capacity=1000, **settings)
    return Population(Shape(2, 3, 2, (8,)), config, seeds=[1, 2])


def test_transitions_are_stored_unchanged():
    learners = population()
    learners.exchange(np.zeros((2, 3)), experience(2, 7.0, kept=[True, False]))
    rows, nothing = learners.replay.get_contents()
    s, a, r, d, s2 = [7.0] * 3, [7.25] * 2, [7.5], [0.75], [8.0] * 3
    np.testing.assert_array_equal(rows, [[*s, *a, *r, *d, *s2]])
    assert len(nothing) == 0


def test_random_actions_are_uniform_and_ignore_the_actor():
    learners = population(envs_per_learner=500)
    learners.learners.actor.fill_(1e3)  # would give actions of 1
    actions = learners.exchange(np.ones((1000, 3)), random=True)
    share = np.histogram(actions, bins=8, range=(-1, 1))[0] / actions.size
    np.testing.assert_allclose(share, 1 / 8, atol=0.03)
    assert (learners.exchange(np.ones((1000, 3))) == 1).all()


def test_halted_learner_no_longer_acts_or_learns():
    learners = population()
    learners.exchange(np.ones((2, 3)), experience(2, 0.5))
    learners.halt(1)
    actions = learners.exchange(np.ones((2, 3)), experience(2, 0.5))
    assert actions[0].all()
    assert not actions[1].any()
    assert learners.alive.tolist() == [True, False]
    before = learners.learners.actor.clone()
    learners.update()
    assert torch.equal(learners.learners.actor[1], before[1])
    assert not torch.equal(learners.learners.actor[0], before[0])


@pytest.mark.parametrize(("n_envs", "per_step"), [(1, 3), (4, 1), (2, 3)])
def test_updates_are_made_for_each_step_of_each_environment(n_envs, per_step):
    config = SacConfig(
        hidden=(8,), batch_size=4, envs_per_learner=n_envs, updates_per_step=per_step
    )
    population = Population(Shape(2, 3, 2, (8,)), config, seeds=[1, 2])
    population.exchange(np.zeros((2 * n_envs, 3)), experience(2 * n_envs, 0.0))
    population.update()
    assert (population.learners.n_updates == n_envs * per_step).all()


def test_many_environments_may_share_few_updates():
    config = SacConfig(hidden=(8,), batch_size=4, envs_per_learner=6, updates=2)
    population = Population(Shape(2, 3, 2, (8,)), config, seeds=[1, 2])
    population.exchange(np.zeros((12, 3)), experience(12, 0.0))
    population.update()
    assert (population.learners.n_updates == 2).all()
    with pytest.raises(InputError, match="`updates_per_step` has no effect"):
        SacConfig(updates=2, updates_per_step=3)


def test_entropy_coefficient_begins_at_its_setting():
    config = SacConfig(hidden=(8,), batch_size=4, initial_alpha=0.02)
    population = Population(Shape(2, 3, 2, (8,)), config, seeds=[1, 2])
    np.testing.assert_allclose(population.learners.log_alpha.exp(), 0.02, rtol=1e-6)


@pytest.mark.parametrize("name", ["cuda", "cuda:0"])
def test_missing_gpu_is_explained(name, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match=r"torch finds no NVIDIA GPU here. Use `cpu`"):
        find_device(name)


@pytest.mark.parametrize("name", ["gpu", "mps"])
def test_unknown_device_is_explained(name):
    with pytest.raises(InputError, match=f"`cpu` or `cuda`, got '{name}'"):
        find_device(name)
