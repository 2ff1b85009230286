"""Interrupted runs continue as if nothing had happened; broken learners stop."""

import signal

import numpy as np
import pytest

pytest.importorskip("rsl_rl")

import torch

from kaccess import InputError
from kaccess.ppo import HostEnv, PpoPlan, PpoRun
from tests.ppo.runs import CONFIG, NAME, STEPS, N, run
from tests.sac.point_mass import PointMasses
from tests.sac.runs import arrays, assert_same, interrupt_at, rows


@pytest.mark.parametrize("stops", [(1,), (2, 3, 5)])
def test_interrupted_run_matches_the_uninterrupted_one(tmp_path, stops):
    run(tmp_path / "whole")
    for number in stops:
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "parts", progress=interrupt_at(number * STEPS))
    run(tmp_path / "parts")
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))
    for file in ("episodes.csv", "policy.safetensors"):
        whole, parts = (tmp_path / each / NAME / file for each in ("whole", "parts"))
        assert whole.read_bytes() == parts.read_bytes()


def test_a_run_does_not_depend_on_other_random_numbers(tmp_path):
    torch.manual_seed(1)
    before = torch.get_rng_state()
    run(tmp_path / "a", n_steps=2 * STEPS)
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    run(tmp_path / "b", n_steps=2 * STEPS)
    assert_same(arrays(tmp_path / "a"), arrays(tmp_path / "b"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_the_end_of_the_iteration(tmp_path, number):
    def send(done, total, metrics):
        if done == 2 * STEPS:
            signal.raise_signal(number)

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, progress=send)
    assert (tmp_path / "checkpoint.safetensors").exists()
    assert [int(row["step"]) for row in rows(tmp_path / NAME / "episodes.csv")][-1] == (
        2 * STEPS
    )


def test_a_run_can_be_continued_for_longer_but_not_changed(tmp_path):
    run(tmp_path, n_steps=STEPS)
    assert run(tmp_path, n_steps=3 * STEPS).step == 3 * STEPS
    with pytest.raises(InputError, match="made differently"):
        run(tmp_path, config=type(CONFIG)(**vars(CONFIG) | {"gamma": 0.5}))


class Broken(PointMasses):
    """Returns NaN as a reward after some steps."""

    def step(self, actions):
        obs, reward, *rest = super().step(actions)
        if len(self.actions_seen) == 12:
            reward[2] = np.nan
        return obs, reward, *rest


def test_nan_stops_the_learner_with_a_sentence(tmp_path, caplog):
    trained = run(tmp_path, env=Broken(N))
    message = f"{NAME} stopped at step {2 * STEPS}: NaN or infinity in its rewards."
    assert trained.stopped == {NAME: message}
    assert message in caplog.text
    again = run(tmp_path, env=PointMasses(N))
    assert (again.stopped, again.step) == ({NAME: message}, 2 * STEPS)


def test_nan_in_the_networks_stops_the_learner():
    plan = PpoPlan([NAME], seeds=[0], n_steps=STEPS)
    broken = PpoRun(HostEnv(PointMasses(N)), CONFIG, plan)
    with torch.no_grad():
        broken._algorithm.actor.mlp[0].weight[0, 0] = torch.nan
    assert broken.advance() == []
    assert "in its actions" in broken.stopped[NAME]
