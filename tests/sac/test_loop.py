"""The training loop: curves, policies, autoreset modes, bad input."""

import dataclasses
import logging
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gymnasium.vector import AutoresetMode

from kaccess import InputError
from kaccess.config import SacConfig
from kaccess.policies import Policy
from kaccess.sac import CurveTests, load_policies
from tests.sac.point_mass import PointMasses
from tests.sac.runs import CONFIG, NAMES, arrays, rows, run


def test_warm_up_is_random_and_without_updates(tmp_path):
    env = PointMasses(3)
    run(tmp_path, env=env, n_steps=12)
    fresh = arrays(tmp_path)
    assert not fresh["learners/n_updates"].any()
    run(tmp_path, n_steps=13)
    assert (arrays(tmp_path)["learners/n_updates"] == 1).all()
    actions = np.array(env.actions_seen)
    assert actions.min() >= -3
    assert actions.max() <= 1
    assert np.abs(actions.mean() + 1) < 0.25  # the middle of the bounds


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_replay_joins_states_of_one_episode_only(tmp_path, mode):
    """The third number of a state is its time: s' is always one step after s."""
    config = dataclasses.replace(
        CONFIG, envs_per_learner=2, capacity=500, return_steps=1
    )
    env = PointMasses(6, mode=mode, edge=1.05)
    run(tmp_path, env=env, config=config)
    for p in range(3):
        replay = arrays(tmp_path)[f"replay/{p}"]
        time, next_time = replay[:, 2] * 7, replay[:, -1] * 7
        np.testing.assert_allclose(next_time - time, 1, atol=1e-5)
        assert (next_time > 6.5).sum() >= 2  # last states of episodes are included
        terminated = replay[:, 6] == 0
        assert set(replay[:, 6]) == {0.0, np.float32(CONFIG.gamma)}
        np.testing.assert_array_equal(terminated, np.abs(replay[:, -3]) > 1.05)
        assert terminated.any()


def test_curves_of_episodes_and_evaluations(tmp_path):
    def evaluate(policies, step):
        actions = policies.act_all(np.zeros((3, 5, 3)))
        assert actions.shape == (3, 5, 2)
        return {"score": np.array([step, 2.5, np.nan]), "best": np.arange(3)}

    seen = []
    run(
        tmp_path,
        tests=CurveTests(evaluate, every=25),
        progress=lambda *report: seen.append(report),
    )
    episodes = rows(tmp_path / NAMES[2] / "episodes.csv")
    assert [int(row["step"]) for row in episodes] == list(range(7, 60, 7))
    assert [int(row["episode"]) for row in episodes] == list(range(8))
    assert {row["length"] for row in episodes} == {"7"}
    assert episodes[0]["critic_loss"] == "nan"
    assert float(episodes[-1]["critic_loss"]) > 0
    evaluations = rows(tmp_path / NAMES[0] / "evaluation.csv")
    assert evaluations == [
        {"step": "25", "score": "25", "best": "0"},
        {"step": "50", "score": "50", "best": "0"},
    ]
    done, total, metrics = seen[-1]
    assert (done, total) == (60, 60)
    assert metrics["return"] < 0
    assert metrics["steps_per_s"] > 0


def test_keeps_the_best_policy_of_each_learner(tmp_path):
    """The second score decides between equals; NaN is never best."""
    score = {  # at the tests after 15, 30, 45 and 60 steps
        "share": np.array([[0.2, 0.5, np.nan], [0.9, 0.5, 0.1], [0.3, 0.5, 0.1]]),
        "reward": np.array([[1.0, 1.0, 9.0], [1.0, 3.0, 2.0], [9.0, 2.0, 1.0]]),
    }
    score = {name: np.vstack([each, each[:1]]) for name, each in score.items()}
    seen = []

    def evaluate(policies, step):
        seen.append([policies[p].weights[0].copy() for p in range(3)])
        return {name: each[step // 15 - 1] for name, each in score.items()}

    tests = CurveTests(evaluate, every=15, best_by=("share", "reward"))
    for n_steps in (20, 35, 60):  # in three parts
        run(tmp_path, n_steps=n_steps, tests=tests)
    for p, name in enumerate(NAMES):  # the second test was the best of each
        best = Policy.load(tmp_path / name / "best.safetensors")
        np.testing.assert_array_equal(best.weights[0], seen[1][p])
        last = Policy.load(tmp_path / name / "policy.safetensors")
        assert not np.array_equal(best.weights[0], last.weights[0])


def test_without_best_by_there_is_no_best_policy(tmp_path):
    tests = CurveTests(lambda *_: {"score": np.arange(3)}, every=25)
    run(tmp_path, tests=tests)
    assert not list(tmp_path.rglob("best.safetensors"))


def test_return_is_the_sum_of_an_episodes_rewards(tmp_path):
    env = PointMasses(3, mode=AutoresetMode.NEXT_STEP)
    rewards, step = [], env.step

    def record(actions):
        result = step(actions)
        rewards.append(result[1][0])
        return result

    env.step = record
    run(tmp_path, env=env, n_steps=16)
    returns = [
        float(row["return"]) for row in rows(tmp_path / NAMES[0] / "episodes.csv")
    ]
    expected = [sum(rewards[:7]), sum(rewards[8:15])]  # the eighth step is a reset
    np.testing.assert_allclose(returns, expected, rtol=1e-6)


def test_interrupted_test_is_repeated_when_the_run_resumes(tmp_path):
    def interrupt(policies, step):
        raise KeyboardInterrupt

    def evaluate(policies, step):
        return {"score": np.full(3, float(step))}

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, tests=CurveTests(interrupt, every=30))
    run(tmp_path, tests=CurveTests(evaluate, every=30))
    evaluations = rows(tmp_path / NAMES[0] / "evaluation.csv")
    assert [row["step"] for row in evaluations] == ["30", "60"]


def test_environment_without_state_resumes_with_new_episodes(tmp_path, caplog):
    def env():
        bare = PointMasses(3)
        bare.get_state = None
        return bare

    run(tmp_path, env=env(), n_steps=25)
    with caplog.at_level(logging.WARNING):
        run(tmp_path, env=env(), n_steps=40)
    assert "has no `get_state`" in caplog.text
    n_incomplete = CONFIG.return_steps - 1  # at the interruption, and at the end
    assert len(arrays(tmp_path)["replay/0"]) == 40 - 2 * n_incomplete


def test_policies_load_from_a_checkpoint(tmp_path):
    trained = run(tmp_path, plan={"metadata": {"robot": "bittle"}})
    obs = np.random.default_rng(0).normal(size=(3, 8, 3))
    policies = load_policies(tmp_path / "checkpoint.safetensors")
    np.testing.assert_array_equal(policies.act_all(obs), trained.policies.act_all(obs))
    assert policies.names == NAMES
    stored = Policy.load(tmp_path / NAMES[2] / "policy.safetensors")
    np.testing.assert_array_equal(policies[NAMES[2]].act(obs[2]), stored.act(obs[2]))
    assert stored.metadata == {"learner": "rnd/seed-0", "robot": "bittle"}


def test_missing_torch_is_explained():
    code = "import sys; sys.modules['torch'] = None; import kaccess.sac"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'kaccess[train]'" in done.stderr


def test_tensorboard(tmp_path):
    pytest.importorskip("tensorboard")
    run(tmp_path, folder={"tensorboard": True}, n_steps=20)
    assert list((tmp_path / NAMES[0]).glob("events.out.tfevents.*"))


BITTLE = {"metadata": {"robot": "bittle"}}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"plan": {"metadata": {"robot": "other"}}},
            "meta.robot was 'bittle' and is now 'other'",
        ),
        ({"plan": {"metadata": {}}}, "meta.robot was 'bittle' and is now None"),
        (
            {"plan": {**BITTLE, "seeds": [0, 1, 5]}},
            r"seeds was \[0, 1, 2\] and is now \[0, 1, 5\]",
        ),
        (
            {"plan": BITTLE, "config": dataclasses.replace(CONFIG, gamma=0.9)},
            "gamma was 0.987 and is now 0.9",
        ),
        (
            {"plan": {**BITTLE, "names": ["a", "b", "c"]}},
            r"names was \['ka/seed-0', .*\] and is now \['a', 'b', 'c'\]",
        ),
    ],
)
def test_checkpoint_of_another_run_is_refused(tmp_path, change, text):
    run(tmp_path, n_steps=8, plan=BITTLE)
    with pytest.raises(InputError, match=rf"made differently: {text}.*new folder"):
        run(tmp_path, **change)


@pytest.mark.parametrize("content", [b"", b"no tensors here", b"\0" * 100])
def test_damaged_checkpoint_is_refused(tmp_path, content):
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"checkpoint.safetensors is damaged"):
        run(tmp_path)


def test_policy_instead_of_a_checkpoint_is_refused(tmp_path):
    run(tmp_path, n_steps=8)
    policy = tmp_path / NAMES[0] / "policy.safetensors"
    policy.rename(tmp_path / "checkpoint.safetensors")
    expected = r"must be a kaccess checkpoint \(2\), but it is a kaccess policy \(1\)"
    with pytest.raises(InputError, match=expected):
        run(tmp_path)


def bad_env(**spaces):
    env = PointMasses(3)
    for name, space in spaces.items():
        setattr(env, name, space)
    return env


@pytest.mark.parametrize(
    ("env", "text"),
    [
        (PointMasses(4), "must have 3 environments, .* got 4"),
        (PointMasses(3, mode=None), r"metadata\['autoreset_mode'\], .* got None"),
        (
            bad_env(single_action_space=gymnasium.spaces.Discrete(3)),
            r"actions in a Box of one dimension, got Discrete\(3\)",
        ),
        (
            bad_env(single_action_space=gymnasium.spaces.Box(-np.inf, 1, (2,))),
            "bounded actions",
        ),
        (
            bad_env(single_observation_space=gymnasium.spaces.Box(0, 1, (2, 2))),
            "observations in a Box of one dimension",
        ),
    ],
)
def test_environment_that_cannot_be_used_is_explained(tmp_path, env, text):
    with pytest.raises(InputError, match=text):
        run(tmp_path, env=env)


def test_environment_without_final_obs_is_explained(tmp_path):
    env = PointMasses(3)
    step = env.step
    env.step = lambda actions: (*step(actions)[:4], {"other": 0})
    with pytest.raises(InputError, match=r"must hold `final_obs`.* \['other'\]"):
        run(tmp_path, env=env)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (
            {"plan": {"seeds": [0, 1]}},
            "one number of 0 or more for each of the 3 learners",
        ),
        ({"plan": {"names": ["a", "a", "b"]}}, "one or more different learner names"),
        ({"plan": {"n_steps": 0}}, "`n_steps` must be at least 1, got 0"),
        ({"device": "tpu"}, "`cpu` or `cuda`, got 'tpu'"),
    ],
)
def test_bad_arguments_are_explained(tmp_path, change, text):
    with pytest.raises(InputError, match=text):
        run(tmp_path, **change)


@pytest.mark.parametrize("setting", ["batch_size", "warmup_steps", "capacity"])
def test_bad_settings_are_explained(setting):
    with pytest.raises(InputError, match=f"`{setting}` must be at least 1, got 0"):
        SacConfig(**{setting: 0})
