"""The same algorithm on a GPU: CUDA graphs, TF32, replay buffers on the device."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kaccess.config import SacConfig
from kaccess.sac import Experience, Population, Shape
from kaccess.sac.learners import init_learners
from kaccess.sac.update import update_
from tests.sac.runs import arrays, run

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
]
SHAPE = Shape(3, 5, 2, (32, 32))
CONFIG = SacConfig(hidden=(32, 32), batch_size=16, warmup_steps=12, capacity=40)


def test_update_matches_the_cpu():
    """In single precision; TF32 would differ in the third digit."""
    torch.set_float32_matmul_precision("highest")
    there, here = (
        init_learners(SHAPE, [1, 2, 3], device) for device in ("cuda", "cpu")
    )
    generator = torch.Generator().manual_seed(0)
    for _ in range(10):
        rows = torch.randn(3, 16, SHAPE.row, generator=generator)
        rows[..., 8] = 0
        noise = torch.randn(3, 32, 2, generator=generator)
        update_(here, rows, noise, CONFIG)
        update_(there, rows.cuda(), noise.cuda(), CONFIG)
    torch.testing.assert_close(there.actor.cpu(), here.actor, rtol=0, atol=1e-4)
    torch.testing.assert_close(there.critics.cpu(), here.critics, rtol=0, atol=1e-4)


def test_cuda_graphs_match_plain_calls():
    """Recorded functions against the same functions called directly."""
    recorded, called = (
        Population(SHAPE, CONFIG, seeds=[1, 2, 3], device="cuda") for _ in range(2)
    )
    called._exchange, called._update = (
        called._exchange_on_device,
        called._update_on_device,
    )
    fresh = init_learners(SHAPE, [1, 2, 3], initial_alpha=CONFIG.initial_alpha)
    assert torch.equal(recorded.learners.actor.cpu(), fresh.actor)
    rng = np.random.default_rng(0)
    for step in range(80):  # over several blocks of random numbers
        experience = Experience(
            obs=rng.normal(size=(3, 5)),
            actions=rng.uniform(-1, 1, (3, 2)),
            rewards=rng.normal(size=3),
            discount=np.full(3, 0.987),
            next_obs=rng.normal(size=(3, 5)),
            kept=np.ones(3, dtype=bool),
        )
        obs = rng.normal(size=(3, 5))
        actions = [
            population.exchange(obs, experience, random=step < 20)
            for population in (recorded, called)
        ]
        np.testing.assert_allclose(*actions, atol=1e-3)
        if step >= 20:
            recorded.update()
            called.update()
    assert torch.equal(recorded.replay.data[:-1], called.replay.data[:-1])
    torch.testing.assert_close(
        recorded.learners.critics, called.learners.critics, rtol=0, atol=1e-3
    )


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own
def test_compiled_update_matches_the_plain_one():
    compiled, plain = (
        Population(
            SHAPE, replace(CONFIG, compiled=each), seeds=[1, 2, 3], device="cuda"
        )
        for each in (True, False)
    )
    transitions = torch.randn(compiled.replay.data.shape, device="cuda")
    transitions[:, 8] = 0.987  # nothing terminated
    for population in (compiled, plain):
        population.replay.data.copy_(transitions)
        population.replay.counts[:] = CONFIG.capacity
        population.resume(0, 0)
        for _ in range(5):
            population.update()
    torch.testing.assert_close(
        compiled.learners.critics, plain.learners.critics, rtol=0, atol=1e-3
    )


@pytest.mark.parametrize("stop", [5, 30])
def test_run_resumes_from_its_checkpoint(tmp_path, stop):
    for n_steps in (stop, 60):
        trained = run(tmp_path, config=CONFIG, n_steps=n_steps, device="cuda")
    assert not trained.stopped
    stored = arrays(tmp_path)
    assert (stored["learners/n_updates"] == 60 - 12).all()
    assert np.isfinite(stored["learners/actor"]).all()
    assert len(stored["replay/0"]) == 40
