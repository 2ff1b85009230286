"""Rounds of watching and learning; interrupted runs continue as if nothing happened."""

import numpy as np
import pytest

from kaccess import InputError
from kaccess.clone import ClonePlan, Demonstrations, load_clone, train
from kaccess.config import CloneConfig
from kaccess.sac import CurveTests, RunFolder
from tests.sac.runs import arrays, assert_same, interrupt_at, rows

CONFIG = CloneConfig(rounds=4, hidden=(8,), batch_size=16, updates=5, episodes=2)
NAME = "clone-ka/seed-3"


class Show:
    """Shows random numbers, and counts who asks."""

    obs_dim, low, high = 3, np.full(2, -1.0), np.full(2, 1.0)

    def __init__(self):
        self.calls = []

    def count_steps(self, number):
        return 20 if number else 10

    def __call__(self, number, act):
        rng = np.random.default_rng(number)
        obs = rng.normal(size=(30, 3))
        self.calls.append((number, None if act is None else act(obs).shape))
        return Demonstrations(obs, rng.uniform(-1, 1, (30, 2)), rng.random(30))


def run(path, *, show=None, config=CONFIG, **options):
    plan = ClonePlan([NAME], seeds=[3], n_steps=70, show=show or Show())
    where = RunFolder(path, tensorboard=False)
    return train(config, plan=plan, folder=where, **options)


def test_the_clone_acts_from_the_second_round_on(tmp_path):
    show = Show()
    assert run(tmp_path, show=show).step == 70
    assert show.calls == [(0, None), *((i, (30, 2)) for i in (1, 2, 3))]
    steps = [int(row["step"]) for row in rows(tmp_path / NAME / "episodes.csv")]
    assert steps == [10, 30, 50, 70]


def test_each_round_is_tested(tmp_path):
    def evaluate(policies, step):
        return {"success": np.array([step / 100])}

    run(tmp_path, tests=CurveTests(evaluate, 10, ("success",)))
    tested = rows(tmp_path / NAME / "evaluation.csv")
    assert [float(row["success"]) for row in tested] == [0.1, 0.3, 0.5, 0.7]


@pytest.mark.parametrize("stops", [(10,), (30, 50)])
def test_interrupted_run_matches_the_uninterrupted_one(tmp_path, stops):
    run(tmp_path / "whole")
    for step in stops:
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path / "parts", progress=interrupt_at(step))
    run(tmp_path / "parts")
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))
    for file in ("episodes.csv", "policy.safetensors"):
        whole, parts = (tmp_path / each / NAME / file for each in ("whole", "parts"))
        assert whole.read_bytes() == parts.read_bytes()


def test_other_settings_are_refused(tmp_path):
    run(tmp_path)
    with pytest.raises(InputError, match="made differently"):
        run(tmp_path, config=CloneConfig(**vars(CONFIG) | {"noise": 0.5}))


def test_a_checkpoint_holds_the_clone_and_what_it_was_shown(tmp_path):
    policies = run(tmp_path).policies
    clone, shown = load_clone(tmp_path / "checkpoint.safetensors", CONFIG, device="cpu")
    assert shown.obs.shape == (120, 3) and shown.values.shape == (120,)
    np.testing.assert_allclose(
        clone.act(shown.obs), policies.act_all(shown.obs[None])[0], atol=1e-6
    )
