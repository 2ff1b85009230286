"""A real learning problem: the population learns it."""

import pytest

torch = pytest.importorskip("torch")

from tests.sac.pendulum import learn


@pytest.mark.slow
def test_population_swings_the_pendulum_up(tmp_path):
    curves = learn(tmp_path, n_learners=3, n_steps=8000)
    assert (curves[:, :3].mean(1) < -800).all()  # at random
    assert (curves[:, -10:].mean(1) > -300).all(), curves[:, -10:]
