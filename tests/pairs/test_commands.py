"""Commands that serve most poses, from few pairs, in graphs made by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from kaccess.access import Landings
from kaccess.access.plan import weigh_landings
from kaccess.pairs import LazyPairs, find_commands, replay_pairs
from kaccess.pairs import commands as module

N = 80
BEST, SECOND = 17, 42


@pytest.fixture
def world(monkeypatch):
    """Pose 0 stands up; 17 leads most poses there, 42 the others; else all stay."""
    node = np.repeat(np.arange(N)[:, None], N, axis=1)
    most = np.random.default_rng(0).random(N) < 0.7
    node[most, BEST], node[~most, SECOND] = 0, 0
    landings = Landings(node, np.zeros((N, N)), np.full((N, N), 0.5))
    stand = np.where(np.arange(N) == 0, N, np.arange(N))
    standing = Landings(stand, np.zeros(N), np.full(N, 0.5))

    def make_plan(pairs, nodes, stands, commands, horizon):
        """Return exact values, without the mean over poses nearby."""
        columns = [node[:, c] for c in commands] + [stand]
        values = np.append(np.zeros(N), 1.0)
        for _ in range(5):
            moves = [
                weigh_landings(
                    Landings(each, np.zeros(N), np.full(N, 0.5)),
                    np.arange(N),
                    N,
                    horizon,
                )
                * values[each]
                for each in columns
            ]
            values[:N] = np.max(moves, axis=0)
        return SimpleNamespace(values=values[:N])

    monkeypatch.setattr(module, "_make_plan", make_plan)
    return landings, standing


def search(world, budget, **kwargs):
    landings, standing = world
    times = np.full((N, N), np.inf, np.float32)
    pairs = LazyPairs(N, replay_pairs(times, landings), budget)
    found = find_commands(pairs, None, standing, horizon=3.0, **kwargs)
    return pairs, found


@pytest.mark.parametrize("seed", range(5))
def test_the_best_commands_come_first(world, seed):
    pairs, found = search(world, N * N // 5, seed=seed)
    assert found.commands[:2].tolist() == [BEST, SECOND]
    assert (found.values > 0).all()
    assert pairs.n_asked <= N * N // 5


def test_chosen_commands_were_tried_from_all_poses(world):
    pairs, found = search(world, N * N // 5)
    assert pairs.known[:, found.commands].all()


def test_confidence_stops_when_nothing_is_left_to_gain(world):
    pairs, found = search(world, N * N, confidence=0.95)
    assert found.is_sure and found.gain < 0.002
    assert found.commands[:2].tolist() == [BEST, SECOND]
    assert pairs.n_asked < N * N / 2


def test_too_few_pairs_leave_standing_alone(world):
    pairs, found = search(world, N // 2)
    assert len(found.commands) == 0 and not found.is_sure
    assert pairs.n_asked <= N // 2
    assert (found.values > 0).sum() == 1


def test_one_column_is_kept_for_the_best_command(world):
    _, found = search(world, 3 * N)
    assert len(found.commands) >= 1
