"""The training loop: apart, interrupted, broken, in every kind of environment."""

import csv
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
from kaccess.train import Policy, load_checkpoint, load_policies, train

from .point_mass import PointMasses

CONFIG = SacConfig(
    hidden=(16, 16), batch_size=16, warmup_steps=12, learning_rate=1e-3, capacity=40
)
NAMES = ["ka/seed-0", "ka/seed-1", "rnd/seed-0"]


def run(out, *, env=None, config=CONFIG, names=NAMES, n_steps=60, **options):
    n = len(names) * config.envs_per_learner
    env = env or PointMasses(n)
    options = {"seeds": range(len(names)), "tensorboard": False, **options}
    return train(env, config, names=names, n_steps=n_steps, out=out, **options)


def rows(path):
    with path.open() as file:
        return list(csv.DictReader(file))


def arrays(out):
    return dict(load_checkpoint(out / "checkpoint.safetensors").arrays)


def of_learner(arrays, p):
    """All that belongs to one of the learners, one environment each."""
    single = {
        k: v for k, v in arrays.items() if not k.startswith(("replay/", "position"))
    }
    return {"replay": arrays[f"replay/{p}"], **{k: v[p] for k, v in single.items()}}


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)


def interrupt_at(step):
    def progress(done, total, figures):
        if done >= step:
            raise KeyboardInterrupt

    return progress


@pytest.fixture(autouse=True)
def _report_every_step(monkeypatch):
    monkeypatch.setattr("kaccess.train.loop._SECONDS_BETWEEN_REPORTS", -1.0)


def test_other_starts_of_one_learner_change_no_number_of_another(tmp_path):
    run(tmp_path / "a", env=PointMasses(3))
    run(tmp_path / "b", env=PointMasses(3, spread=[1.0, 0.3, 1.0]))
    first, second = arrays(tmp_path / "a"), arrays(tmp_path / "b")
    for p in (0, 2):
        assert_same(of_learner(first, p), of_learner(second, p))
        file = f"{NAMES[p]}/episodes.csv"
        assert (tmp_path / "a" / file).read_text() == (
            tmp_path / "b" / file
        ).read_text()
    assert not np.array_equal(first["learners/actor"][1], second["learners/actor"][1])


def test_learner_alone_is_the_one_in_company(tmp_path):
    run(tmp_path / "three")
    run(tmp_path / "one", names=[NAMES[1]], seeds=[1])
    three, one = arrays(tmp_path / "three"), arrays(tmp_path / "one")
    for name, values in of_learner(one, 0).items():
        together = of_learner(three, 1)[name]
        if name == "env/rng":
            np.testing.assert_array_equal(values, together)
        else:
            np.testing.assert_allclose(values, together, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("steps", [(5, 7), (12,), (13, 14, 33), (59,)])
def test_interrupted_run_is_the_run_never_interrupted(tmp_path, mode, steps):
    """Also in the warm-up, at its end, and after the replay went round (40 steps)."""
    run(tmp_path / "whole", env=PointMasses(3, mode=mode))
    for step in steps:
        with pytest.raises(KeyboardInterrupt):
            run(
                tmp_path / "parts",
                env=PointMasses(3, mode=mode),
                progress=interrupt_at(step),
            )
    run(tmp_path / "parts", env=PointMasses(3, mode=mode))
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))
    for name in NAMES:
        for file in ("episodes.csv", "policy.safetensors"):
            whole, parts = (tmp_path / out / name / file for out in ("whole", "parts"))
            assert whole.read_bytes() == parts.read_bytes()


def test_killed_run_goes_on_from_its_last_checkpoint(tmp_path, monkeypatch):
    """Nothing is stored when it dies; rows written since are not there twice."""
    run(tmp_path / "whole")

    class Killed(BaseException):
        pass

    def die(actions):
        raise Killed

    env, n_saved = PointMasses(3), 0
    step = env.step

    def dying_step(actions):
        return step(actions) if len(env.actions_seen) < 45 else die(actions)

    monkeypatch.setattr(env, "step", dying_step)
    from kaccess.train import loop

    save = loop.save_checkpoint

    def save_twice(*args):
        nonlocal n_saved
        n_saved += 1
        if n_saved <= 30:
            save(*args)

    monkeypatch.setattr(loop, "save_checkpoint", save_twice)
    with pytest.raises(Killed):
        run(tmp_path / "parts", env=env, checkpoint_every=-1.0)
    monkeypatch.setattr(loop, "save_checkpoint", save)
    stored = load_checkpoint(tmp_path / "parts" / "checkpoint.safetensors")
    assert stored.progress["step"] == 29
    assert len(rows(tmp_path / "parts" / NAMES[0] / "episodes.csv")) == 45 // 7
    path = tmp_path / "parts" / NAMES[0] / "episodes.csv"
    path.write_text(path.read_text() + "2")  # a row cut short

    run(tmp_path / "parts")
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))
    for name in NAMES:
        file = f"{name}/episodes.csv"
        whole, parts = tmp_path / "whole" / file, tmp_path / "parts" / file
        assert whole.read_text() == parts.read_text()


def test_more_steps_go_on_where_the_run_ended(tmp_path):
    run(tmp_path / "whole", n_steps=60)
    run(tmp_path / "parts", n_steps=25)
    assert len(arrays(tmp_path / "parts")["replay/0"]) == 25
    run(tmp_path / "parts", n_steps=60)
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))
    again = run(tmp_path / "parts", n_steps=30)  # nothing left to do
    assert again.step == 60


def test_ctrl_c_waits_for_the_end_of_the_step(tmp_path):
    import signal

    env = PointMasses(3)
    step = env.step

    def step_and_press(actions):
        if len(env.actions_seen) == 20:
            signal.raise_signal(signal.SIGINT)
        return step(actions)

    env.step = step_and_press
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", env=env)
    stored = load_checkpoint(tmp_path / "parts" / "checkpoint.safetensors")
    assert stored.progress["step"] == 21
    run(tmp_path / "parts")
    run(tmp_path / "whole")
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))


def spoil(env, *, at, what, slot=1):
    """Make an environment give what is not a number, once."""
    step = env.step

    def spoilt(actions):
        obs, reward, terminated, truncated, info = step(actions)
        if len(env.actions_seen) == at:
            {"observation": obs, "reward": reward}[what][slot] = np.nan
        return obs, reward, terminated, truncated, info

    env.step = spoilt
    return env


@pytest.mark.parametrize("at", [4, 30])
@pytest.mark.parametrize("what", ["observation", "reward"])
def test_nan_from_an_environment_stops_its_learner_only(tmp_path, caplog, what, at):
    run(tmp_path / "well")
    with caplog.at_level(logging.ERROR):
        env = spoil(PointMasses(3), at=at, what=what)
        trained = run(tmp_path / "ill", env=env)
    message = f"ka/seed-1 stopped at step {at}: NaN or infinity in its {what}."
    assert trained.stopped == {"ka/seed-1": message}
    assert message in caplog.text
    well, ill = arrays(tmp_path / "well"), arrays(tmp_path / "ill")
    for p in (0, 2):
        assert_same(of_learner(well, p), of_learner(ill, p))
    run(tmp_path / "until", n_steps=at)
    for name in ("actor", "critics", "targets", "actor_mean", "critics_square"):
        frozen = arrays(tmp_path / "until")[f"learners/{name}"][1]
        np.testing.assert_array_equal(ill[f"learners/{name}"][1], frozen)
    assert np.isfinite(ill["replay/1"]).all()
    assert len(ill["replay/1"]) == at - 1
    assert all(np.isfinite(actions).all() for actions in env.actions_seen)


@pytest.mark.parametrize(
    ("tensor", "what"),
    [("actor", "actor's parameters"), ("critics", "critics' parameters")],
)
def test_nan_in_a_learner_stops_that_learner_only(tmp_path, tensor, what):
    run(tmp_path / "well")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "ill", progress=interrupt_at(30))
    from kaccess.train.checkpoint import save_checkpoint

    path = tmp_path / "ill" / "checkpoint.safetensors"
    stored = load_checkpoint(path)
    stored.arrays[f"learners/{tensor}"][1, 3] = np.nan
    save_checkpoint(path, stored)
    trained = run(tmp_path / "ill")
    assert trained.stopped == {
        "ka/seed-1": f"ka/seed-1 stopped at step 31: NaN or infinity in its {what}."
    }
    well, ill = arrays(tmp_path / "well"), arrays(tmp_path / "ill")
    for p in (0, 2):
        assert_same(of_learner(well, p), of_learner(ill, p))


def test_stopped_learner_stays_stopped_when_the_run_goes_on(tmp_path):
    def env():
        return spoil(PointMasses(3), at=20, what="reward")

    run(tmp_path / "whole", env=env())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", env=env(), progress=interrupt_at(20))
    trained = run(tmp_path / "parts")
    assert list(trained.stopped) == ["ka/seed-1"]
    whole, parts = arrays(tmp_path / "whole"), arrays(tmp_path / "parts")
    assert_same(whole, parts)


def test_run_ends_when_nobody_is_left(tmp_path):
    env = spoil(PointMasses(3), at=20, what="reward", slot=slice(None))
    trained = run(tmp_path, env=env)
    assert trained.step == 20
    assert len(trained.stopped) == 3


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
    """The third number of a state is its time: s' is a step after s, always."""
    config = dataclasses.replace(CONFIG, envs_per_learner=2, capacity=500)
    env = PointMasses(6, mode=mode, edge=1.05)
    run(tmp_path, env=env, config=config)
    for p in range(3):
        replay = arrays(tmp_path)[f"replay/{p}"]
        time, next_time = replay[:, 2] * 7, replay[:, -1] * 7
        np.testing.assert_allclose(next_time - time, 1, atol=1e-5)
        assert (next_time > 6.5).sum() >= 2  # the last states of episodes are there
        terminated = replay[:, 6] > 0
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
        evaluate=evaluate,
        evaluate_every=25,
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
    done, total, figures = seen[-1]
    assert (done, total) == (60, 60)
    assert figures["return"] < 0
    assert figures["steps_per_s"] > 0


def test_return_is_the_sum_of_an_episodes_rewards(tmp_path):
    env = PointMasses(3, mode=AutoresetMode.NEXT_STEP)
    rewards, step = [], env.step

    def noted(actions):
        result = step(actions)
        rewards.append(result[1][0])
        return result

    env.step = noted
    run(tmp_path, env=env, n_steps=16)
    returns = [
        float(row["return"]) for row in rows(tmp_path / NAMES[0] / "episodes.csv")
    ]
    expected = [sum(rewards[:7]), sum(rewards[8:15])]  # the eighth step is a reset
    np.testing.assert_allclose(returns, expected, rtol=1e-6)


def test_interrupted_evaluation_is_made_when_the_run_goes_on(tmp_path):
    def interrupted(policies, step):
        raise KeyboardInterrupt

    def evaluate(policies, step):
        return {"score": np.full(3, float(step))}

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, evaluate=interrupted, evaluate_every=30)
    run(tmp_path, evaluate=evaluate, evaluate_every=30)
    evaluations = rows(tmp_path / NAMES[0] / "evaluation.csv")
    assert [row["step"] for row in evaluations] == ["30", "60"]


def test_environment_without_state_goes_on_with_new_episodes(tmp_path, caplog):
    def env():
        bare = PointMasses(3)
        bare.get_state = None
        return bare

    run(tmp_path, env=env(), n_steps=30)
    with caplog.at_level(logging.WARNING):
        run(tmp_path, env=env(), n_steps=40)
    assert "has no `get_state`" in caplog.text
    assert len(arrays(tmp_path)["replay/0"]) == 40


def test_checkpoint_gives_all_policies(tmp_path):
    trained = run(tmp_path, meta={"robot": "bittle"})
    obs = np.random.default_rng(0).normal(size=(3, 8, 3))
    policies = load_policies(tmp_path / "checkpoint.safetensors")
    np.testing.assert_array_equal(policies.act_all(obs), trained.policies.act_all(obs))
    assert policies.names == NAMES
    stored = Policy.load(tmp_path / NAMES[2] / "policy.safetensors")
    np.testing.assert_array_equal(policies[NAMES[2]].act(obs[2]), stored.act(obs[2]))
    assert stored.metadata == {"learner": "rnd/seed-0", "robot": "bittle"}


def test_missing_torch_is_explained():
    code = "import sys; sys.modules['torch'] = None; import kaccess.train"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'kaccess[train]'" in done.stderr


def test_tensorboard(tmp_path):
    pytest.importorskip("tensorboard")
    run(tmp_path, tensorboard=True, n_steps=20)
    assert list((tmp_path / NAMES[0]).glob("events.out.tfevents.*"))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"meta": {"robot": "other"}}, "meta.robot was 'bittle' and is now 'other'"),
        ({"seeds": [0, 1, 5]}, r"seeds was \[0, 1, 2\] and is now \[0, 1, 5\]"),
        (
            {"config": dataclasses.replace(CONFIG, gamma=0.9)},
            "gamma was 0.987 and is now 0.9",
        ),
        ({"names": ["a", "b", "c"]}, "names was .* and is now"),
    ],
)
def test_checkpoint_of_another_run_is_refused(tmp_path, change, text):
    run(tmp_path, n_steps=8, meta={"robot": "bittle"})
    with pytest.raises(InputError, match=rf"made differently: {text}.*new folder"):
        run(tmp_path, **{"meta": {"robot": "bittle"}, **change})


@pytest.mark.parametrize("content", [b"", b"no tensors here", b"\0" * 100])
def test_damaged_checkpoint_is_refused(tmp_path, content):
    path = tmp_path / "checkpoint.safetensors"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"checkpoint.safetensors cannot be read"):
        run(tmp_path)


def test_policy_in_the_place_of_a_checkpoint_is_refused(tmp_path):
    run(tmp_path, n_steps=8)
    policy = tmp_path / NAMES[0] / "policy.safetensors"
    policy.rename(tmp_path / "checkpoint.safetensors")
    with pytest.raises(InputError, match="not a kaccess checkpoint"):
        run(tmp_path)


def bad_env(**spaces):
    env = PointMasses(3)
    for name, space in spaces.items():
        setattr(env, name, space)
    return env


@pytest.mark.parametrize(
    ("env", "text"),
    [
        (PointMasses(4), "has 4 environments, but 3 are needed"),
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


def test_environment_that_hides_the_last_states_is_explained(tmp_path):
    env = PointMasses(3)
    step = env.step
    env.step = lambda actions: (*step(actions)[:4], {"other": 0})
    with pytest.raises(InputError, match=r"must hold `final_obs`.* \['other'\]"):
        run(tmp_path, env=env)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"seeds": [0, 1]}, "one number of 0 or more for each of the 3 learners"),
        ({"names": ["a", "a", "b"]}, "each once"),
        ({"n_steps": 0}, "`n_steps` must be at least 1, got 0"),
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
