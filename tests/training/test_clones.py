"""Clones of the guide of a study: what they are shown, and the files they leave."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from kaccess import InputError, Study, pipeline
from kaccess.clone import Demonstrations
from kaccess.config import CloneConfig, EvaluateConfig, PpoConfig, TrainConfig
from kaccess.envs.episodes import Episodes
from kaccess.envs.tasks import make_task
from kaccess.evaluation.curves import load_curves
from kaccess.guide import Guide, follow_guide
from kaccess.policies import Policy
from kaccess.study.starts import find_starts
from kaccess.training.demonstrations import GuideShow, discount
from tests.training.runs import refusal, rows

N = 40  # episodes; the guide of the tiny robot stands up from few of its starts
CLONE = CloneConfig(rounds=2, episodes=N, hidden=(8,), updates=5, noise=0.0)
CONFIG = TrainConfig(algorithm="clone", seeds=1, test_poses=4)


def make_show(path, **changes):
    study = Study(path)
    task = make_task("fall-recovery", study.robot)
    starts = find_starts(study, "rnd", task)
    config = replace(CLONE, **changes)
    return GuideShow(study, starts, task, config, gamma=0.9, seed=5)


def test_it_is_shown_what_the_guide_does(clustered):
    """Without noise, all steps of a robot that succeeds, bit for bit."""
    show = make_show(clustered)
    shown = show(0, None)
    study = Study(clustered)
    task = make_task("fall-recovery", study.robot)
    starts = find_starts(study, "rnd", task)
    qpos = starts.sample(np.random.default_rng([22, 5, 0]), N)
    episodes = Episodes(task, study.robot, N)
    episodes.begin(qpos)
    act = follow_guide(Guide.of(study, N, task=task))
    obs, actions = [], []
    for _ in range(show.count_steps(0) // N):
        obs.append(episodes.observe())
        actions.append(act(obs[-1]))
        episodes.step(actions[-1])
    success = episodes.get_info()["success"]
    assert success.any()
    expected = np.stack(obs)[:, success]
    np.testing.assert_array_equal(shown.obs, expected.reshape(len(shown), -1))
    expected = np.stack(actions)[:, success]
    np.testing.assert_array_equal(shown.actions, expected.reshape(len(shown), -1))


def test_noise_disturbs_what_happens_and_not_what_is_shown(clustered):
    calm, noisy = (make_show(clustered, noise=noise)(0, None) for noise in (0.0, 0.1))
    first = slice(0, 1)
    np.testing.assert_array_equal(calm.actions[first], noisy.actions[first])
    assert len(noisy) and not np.array_equal(calm.obs[: len(noisy)], noisy.obs)


def test_the_guide_takes_over_where_the_policy_has_gone(clustered):
    """The policy holds still, so robots are at rest and only times are random."""
    show = make_show(clustered)
    standing = Study(clustered).robot.standing_targets[None]
    hold = Study(clustered).robot.to_actions(standing)
    seen = []

    def act(obs):
        seen.append(len(obs))
        return np.repeat(hold, len(obs), axis=0)

    shown = show(1, act)
    n_steps = show.count_steps(1) // N
    assert show.count_steps(1) == 2 * show.count_steps(0)
    assert 0 < len(seen) <= n_steps // 2  # at the latest in the middle
    assert n_steps // 2 <= len(shown) / 6 <= n_steps


def test_each_round_and_seed_is_different(clustered):
    show = make_show(clustered)
    again, other = make_show(clustered), make_show(clustered)
    other._seed = 6
    np.testing.assert_array_equal(show(0, None).obs, again(0, None).obs)
    assert not np.array_equal(again(0, None).obs, other(0, None).obs)


def test_a_guide_that_never_succeeds_shows_nothing(clustered, monkeypatch):
    monkeypatch.setattr(
        "kaccess.envs.tasks.fall_recovery.FallRecovery.has_succeeded",
        lambda self, memory: (np.zeros(len(memory), bool),) * 2,
    )
    with pytest.raises(InputError, match="nothing to imitate"):
        make_show(clustered)(0, None)


def test_values_are_discounted_means():
    rewards = np.array([[0.0], [0.0], [1.0]])
    # The last reward goes on for ever: 1; before, 0.5 of the value that follows.
    np.testing.assert_allclose(discount(rewards, 0.5)[:, 0], [0.25, 0.5, 1.0])
    np.testing.assert_allclose(discount(np.ones((4, 2)), 0.9), 1.0)


def test_clones_leave_the_files_of_sac(study):
    folder = pipeline.train(study, CONFIG, clone=CLONE, device="cpu")
    own = folder / "clone-fresh" / "seed-0"
    assert {"policy.safetensors", "best.safetensors"} <= {
        each.name for each in own.iterdir()
    }
    assert len(rows(own / "evaluation.csv")) == CLONE.rounds
    assert Policy.load(own / "policy.safetensors").metadata["robot"] == "tiny"
    assert "clone-fresh" in load_curves(folder, episode_steps=1)
    tested = pipeline.evaluate(study, EvaluateConfig(poses=4))
    assert sorted(each.name for each in tested) == ["clone-fresh/seed-0", "routes"]


def test_a_guided_ppo_learner_begins_as_a_clone(study):
    pytest.importorskip("rsl_rl")
    ppo = PpoConfig(
        robots=8,
        rollout_steps=5,
        episode_steps=10,
        hidden=(8,),
        steps=40,
        test_every=40,
    )
    config = TrainConfig(algorithm="ppo", starts=("guided-rnd",), seeds=1, test_poses=4)
    folder = pipeline.train(study, config, ppo=ppo, clone=CLONE, device="cpu")
    for kind in ("clone-rnd", "ppo-guided-rnd"):
        assert (folder / kind / "seed-0" / "policy.safetensors").exists()
    before = (folder / "clone-rnd/seed-0/policy.safetensors").read_bytes()
    pipeline.train(study, config, ppo=replace(ppo, steps=80), clone=CLONE, device="cpu")
    after = (folder / "clone-rnd/seed-0/policy.safetensors").read_bytes()
    assert before == after  # it is there already
    assert len(rows(folder / "ppo-guided-rnd/seed-0/evaluation.csv")) == 2


def test_every_clone_is_guided(study):
    assert CONFIG.starts == ("fresh",)
    assert replace(CONFIG, starts=("guided-ka",)).starts == ("ka",)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--episodes", "3"], "`episodes` has no effect"),
        (["--engine", "warp"], "clones do not learn in warp"),
        (["--cluster", "local:1"], "`cluster` trains by SAC only"),
        (["--starts", "along-rnd"], "Unknown starts 'along-rnd'"),
    ],
)
def test_what_clones_cannot_do_is_refused(study, capsys, options, sentence):
    said = refusal(capsys, "train", study, "--algorithm", "clone", *options)
    assert sentence in said


def test_demonstrations_are_arrays_of_one_length(clustered):
    shown = make_show(clustered)(0, None)
    assert isinstance(shown, Demonstrations)
    assert len(shown.obs) == len(shown.actions) == len(shown.values) == len(shown)
