"""The update: a plain learner as reference, targets solved by hand, independence."""

import dataclasses

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kaccess.config import SacConfig
from kaccess.sac import Shape, networks, update
from kaccess.sac.learners import METRICS, init_learners
from tests.sac.reference import ReferenceLearner

SHAPE = Shape(3, 5, 2, (16, 12))
CONFIG = SacConfig(hidden=(16, 12), batch_size=8, learning_rate=3e-3, tau=0.05)


def batches(n_updates, n_learners=3, seed=0):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(n_updates):
        rows = torch.randn(n_learners, 8, SHAPE.row, generator=generator)
        rows[..., 5:7].tanh_()
        rows[..., 8] = 0.987 * (rows[..., 8] <= 1).float()  # discounts
        yield rows, torch.randn(n_learners, 16, 2, generator=generator)


def critic_pairs(learners, p, references):
    return (
        (learners.critic_layers, 2 * p, references.critics[0]),
        (learners.critic_layers, 2 * p + 1, references.critics[1]),
        (learners.target_layers, 2 * p, references.targets[0]),
        (learners.target_layers, 2 * p + 1, references.targets[1]),
        (learners.actor_layers, p, references.actor),
    )


@pytest.mark.parametrize("target_entropy", [None, 0.5])
def test_update_equals_that_of_a_plain_learner(target_entropy):
    config = dataclasses.replace(CONFIG, target_entropy=target_entropy)
    learners = init_learners(SHAPE, [4, 5, 6])
    references = [ReferenceLearner(learners, p, config) for p in range(3)]
    for rows, noise in batches(20):
        update.update_(learners, rows, noise, config)
        for p, reference in enumerate(references):
            reference.update(rows[p], noise[p])
    for p, reference in enumerate(references):
        for layers, i, network in critic_pairs(learners, p, reference):
            for (weight, bias), linear in zip(layers, network[::2], strict=True):
                torch.testing.assert_close(
                    weight[i].T, linear.weight, rtol=0, atol=2e-6
                )
                torch.testing.assert_close(bias[i, 0], linear.bias, rtol=0, atol=2e-6)
        log_alpha = reference.log_alpha.detach()
        torch.testing.assert_close(learners.log_alpha[p, 0], log_alpha)


@pytest.mark.parametrize("policy_tau", [0.05, 1.0])
def test_policy_is_a_running_mean_of_the_actor(policy_tau):
    config = dataclasses.replace(CONFIG, policy_tau=policy_tau)
    learners, plain = (init_learners(SHAPE, [4, 5, 6]) for _ in range(2))
    mean = learners.actor.numpy().copy()
    for rows, noise in batches(20):
        update.update_(learners, rows, noise, config)
        update.update_(plain, rows, noise, CONFIG)
        mean += policy_tau * (learners.actor.numpy() - mean)
    np.testing.assert_allclose(learners.policy, mean, atol=1e-6)
    assert torch.equal(learners.actor, plain.actor)  # it does not affect learning
    assert torch.equal(plain.policy, plain.actor)


def test_metrics_match_the_reference():
    learners = init_learners(SHAPE, [0, 1, 2])
    rows, noise = next(batches(1))
    update.update_(
        learners, rows, noise, dataclasses.replace(CONFIG, learning_rate=1e-12)
    )
    fresh = init_learners(SHAPE, [0, 1, 2])
    for p in range(3):
        reference = ReferenceLearner(fresh, p, CONFIG)
        with torch.no_grad():
            action, log_prob = reference.sample(rows[p, :, :5], noise[p, :8])
            x = torch.cat([rows[p, :, :5], action], -1)
            q = torch.minimum(*(critic(x)[:, 0] for critic in reference.critics))
        metrics = dict(zip(METRICS, learners.metrics[p].tolist(), strict=True))
        assert metrics["value"] == pytest.approx(q.mean().item(), abs=1e-5)
        assert metrics["entropy"] == pytest.approx(-log_prob.mean().item(), rel=1e-5)
        loss = (log_prob - q).mean().item()
        assert metrics["actor_loss"] == pytest.approx(loss, rel=1e-5)
        assert metrics["alpha"] == 1


def test_time_limit_bootstraps_and_termination_does_not():
    rows = torch.zeros(1, 3, SHAPE.row)
    rows[0, :, 7] = torch.tensor([1.0, 1.0, -2.0])  # rewards
    rows[0, :, 8] = torch.tensor([0.9, 0.0, 0.0])  # discounts
    next_q = torch.tensor([[[10.0, 10.0, 10.0], [8.0, 12.0, 9.0]]])
    later = networks.Sample(*[torch.full((1, 3), 2.0)] * 4)  # log probability 2
    target = update.critic_target(
        update.Batch.split(rows, SHAPE), later, next_q, torch.tensor([[0.5]])
    )
    # 1 + 0.9 (8 - 0.5 * 2); after termination, the reward alone
    np.testing.assert_allclose(target, [[1 + 0.9 * 7, 1.0, -2.0]], rtol=1e-6)


def test_clipped_standard_deviation_has_no_gradient():
    """Beyond its bounds it is constant, so the raw output has no influence."""
    output = torch.tensor([[[0.3, 5.0], [0.3, 1.0]]], requires_grad=True)
    sample = networks.squash(output.detach(), torch.ones(1, 2, 1))
    slope = networks.squash_gradient(sample, torch.zeros(1, 2, 1), torch.ones(1, 1, 1))
    assert slope[0, 0, 1] == 0
    assert slope[0, 1, 1] != 0


def test_initial_parameters_are_distributed_as_in_torch():
    layout = networks.Layout((400, 300, 3), n_extra=1)
    row = layout.draw_initial(np.random.default_rng(0))
    layers = layout.split_layers(torch.as_tensor(row)[None])
    for (weight, bias), fan in zip(layers, (400, 300), strict=True):
        linear = torch.nn.Linear(fan, 1000)
        assert weight.abs().max() <= linear.weight.abs().max() * 1.01
        assert weight.std() == pytest.approx(linear.weight.std().item(), rel=0.1)
        assert bias.abs().max() <= fan**-0.5
        assert bias.abs().max() > 0.2 * fan**-0.5
    assert not row[layout.extra :].any()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_nonfinite_batch_stops_its_learner_only(bad):
    learners, twin = (init_learners(SHAPE, [1, 2, 3]) for _ in range(2))
    for i, (rows, noise) in enumerate(batches(6)):
        update.update_(twin, rows.clone(), noise, CONFIG)
        if i == 3:
            before = {k: v[1].clone() for k, v in learners.tensors().items()}
            rows[1, 4, 7] = bad
        update.update_(learners, rows, noise, CONFIG)
    assert learners.alive[:, 0].tolist() == [True, False, True]
    for name, tensor in learners.tensors().items():
        if name not in ("metrics", "alive", "n_updates"):
            assert torch.equal(tensor[1], before[name]), name
        for p in (0, 2):
            assert torch.equal(tensor[p], twin.tensors()[name][p]), name


def test_learner_that_is_not_alive_stays_unchanged():
    learners = init_learners(SHAPE, [1, 2, 3])
    before = learners.actor.clone()
    learners.alive[0] = False
    for rows, noise in batches(3):
        update.update_(learners, rows, noise, CONFIG)
    assert torch.equal(learners.actor[0], before[0])
    assert learners.actor[1:].isfinite().all()
    assert not torch.equal(learners.actor[1], before[1])


def test_learner_does_not_depend_on_the_others():
    """Up to rounding: products of one and of three networks differ in it."""
    three = init_learners(SHAPE, [1, 2, 3])
    alone = init_learners(dataclasses.replace(SHAPE, n_learners=1), [2])
    assert torch.equal(three.actor[1], alone.actor[0])
    for rows, noise in batches(20):
        update.update_(three, rows, noise, CONFIG)
        update.update_(alone, rows[1:2].clone(), noise[1:2].clone(), CONFIG)
    torch.testing.assert_close(three.actor[1], alone.actor[0], rtol=0, atol=1e-5)
    torch.testing.assert_close(three.critics[1], alone.critics[0], rtol=0, atol=1e-5)
