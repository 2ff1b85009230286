"""Threads of torch: few where they would wait for one another."""

from types import SimpleNamespace

import torch

from kaccess.config import SacConfig
from kaccess.sac.cpu import tune_cpu


def make_population(n_learners, hidden):
    config = SacConfig(batch_size=1024, hidden=(hidden, hidden))
    return SimpleNamespace(config=config, shape=SimpleNamespace(n_learners=n_learners))


def test_a_small_population_has_one_thread_and_a_large_one_those_it_is_given():
    before = torch.get_num_threads()
    with tune_cpu(make_population(1, 32), 2):
        assert torch.get_num_threads() == 1
    with tune_cpu(make_population(20, 128), 2):
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == before
