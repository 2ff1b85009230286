"""Independent learners, interrupted runs, learners that stop."""

import dataclasses
import logging
import signal

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from gymnasium.vector import AutoresetMode

from kaccess.policies import Policy
from kaccess.sac import interrupt, load_checkpoint, load_policies, store
from kaccess.sac.checkpoint import save_checkpoint
from kaccess.sac.interrupt import defer_interrupts
from tests.sac.point_mass import PointMasses
from tests.sac.runs import (
    CONFIG,
    NAMES,
    arrays,
    assert_same,
    interrupt_at,
    rows,
    run,
    select_learner,
)


def test_starts_of_one_learner_do_not_affect_another(tmp_path):
    run(tmp_path / "a", env=PointMasses(3))
    run(tmp_path / "b", env=PointMasses(3, spread=[1.0, 0.3, 1.0]))
    first, second = arrays(tmp_path / "a"), arrays(tmp_path / "b")
    for p in (0, 2):
        assert_same(select_learner(first, p), select_learner(second, p))
        file = f"{NAMES[p]}/episodes.csv"
        assert (tmp_path / "a" / file).read_text() == (
            tmp_path / "b" / file
        ).read_text()
    assert not np.array_equal(first["learners/actor"][1], second["learners/actor"][1])


def test_learner_alone_matches_the_one_in_a_population(tmp_path):
    run(tmp_path / "three")
    run(tmp_path / "one", plan={"names": [NAMES[1]], "seeds": [1]})
    three, one = arrays(tmp_path / "three"), arrays(tmp_path / "one")
    for name, values in select_learner(one, 0).items():
        together = select_learner(three, 1)[name]
        if name == "env/rng":
            np.testing.assert_array_equal(values, together)
        else:
            np.testing.assert_allclose(values, together, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("steps", [(5, 7), (12,), (13, 14, 33), (59,)])
def test_interrupted_run_matches_the_uninterrupted_one(tmp_path, mode, steps):
    """Also in the warm-up, at its end, and after the replay was full (40 steps)."""
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
            whole, parts = (tmp_path / run / name / file for run in ("whole", "parts"))
            assert whole.read_bytes() == parts.read_bytes()


AVERAGED = dataclasses.replace(CONFIG, policy_tau=0.1)


def test_interruption_keeps_the_averaged_policy(tmp_path):
    run(tmp_path / "whole", config=AVERAGED)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", config=AVERAGED, progress=interrupt_at(33))
    run(tmp_path / "parts", config=AVERAGED)
    whole = arrays(tmp_path / "whole")
    assert_same(whole, arrays(tmp_path / "parts"))
    assert not np.array_equal(whole["learners/policy"], whole["learners/actor"])
    stored = load_policies(tmp_path / "whole" / "checkpoint.safetensors")
    obs = np.ones((3, 1, stored[0].obs_dim), dtype=np.float32)
    last = Policy.load(tmp_path / "whole" / NAMES[0] / "policy.safetensors")
    np.testing.assert_allclose(last.act(obs[0]), stored.act_all(obs)[0], atol=1e-6)


def test_checkpoint_from_before_policies_were_averaged_resumes(tmp_path):
    run(tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "old", progress=interrupt_at(33))
    path = tmp_path / "old" / "checkpoint.safetensors"
    old = load_checkpoint(path)
    assert "policy_tau" not in old.settings  # the default is not named
    kept = {k: each for k, each in old.arrays.items() if k != "learners/policy"}
    save_checkpoint(path, dataclasses.replace(old, arrays=kept))
    run(tmp_path / "old")
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "old"))


class Sweep:
    """A warm-up with a state: each environment counts since its episode began."""

    def __init__(self, n):
        self.count = np.zeros(n)

    def act(self, obs, random, began):
        self.count = np.where(began, 0, self.count + 1)
        return np.repeat(np.sin(self.count)[:, None], random.shape[1], axis=1)

    def get_state(self):
        return {"count": self.count.copy()}

    def set_state(self, state):
        self.count = state["count"].copy()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_custom_warm_up(tmp_path, mode):
    """It acts until the first update; an interruption changes nothing."""
    env = PointMasses(3, mode=mode)
    run(tmp_path / "whole", env=env, plan={"warm_up": Sweep(3)})
    whole = arrays(tmp_path / "whole")
    actions = (np.array(env.actions_seen)[:14, 0] + 1) / 2  # of [-3, 1]
    ignored = [0] if mode == AutoresetMode.NEXT_STEP else []
    count = np.array([*range(7), *ignored, *range(5)])[:12]  # episodes have 7 steps
    np.testing.assert_allclose(actions[:12, 0], np.sin(count), atol=1e-6)
    assert not np.isclose(actions[12:, 0], actions[12:, 1]).any()
    for step in (5, 9):
        with pytest.raises(KeyboardInterrupt):
            run(
                tmp_path / "parts",
                env=PointMasses(3, mode=mode),
                plan={"warm_up": Sweep(3)},
                progress=interrupt_at(step),
            )
    env = PointMasses(3, mode=mode)
    run(tmp_path / "parts", env=env, plan={"warm_up": Sweep(3)})
    assert_same(whole, arrays(tmp_path / "parts"))


def test_killed_run_resumes_from_its_last_checkpoint(tmp_path, monkeypatch):
    """Nothing is stored when it is killed; no row is written twice."""
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
    save = store.save_checkpoint

    def save_at_first(*args):
        nonlocal n_saved
        n_saved += 1
        if n_saved <= 30:
            save(*args)

    monkeypatch.setattr(store, "save_checkpoint", save_at_first)
    with pytest.raises(Killed):
        run(tmp_path / "parts", env=env, folder={"checkpoint_every": -1.0})
    monkeypatch.setattr(store, "save_checkpoint", save)
    stored = load_checkpoint(tmp_path / "parts" / "checkpoint.safetensors")
    assert stored.progress["step"] == 29
    assert len(rows(tmp_path / "parts" / NAMES[0] / "episodes.csv")) == 45 // 7
    path = tmp_path / "parts" / NAMES[0] / "episodes.csv"
    path.write_text(path.read_text() + "2")  # a half-written row

    run(tmp_path / "parts")
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))
    for name in NAMES:
        file = f"{name}/episodes.csv"
        whole, parts = tmp_path / "whole" / file, tmp_path / "parts" / file
        assert whole.read_text() == parts.read_text()


def test_more_steps_resume_where_the_run_ended(tmp_path):
    run(tmp_path / "whole", n_steps=60)
    run(tmp_path / "parts", n_steps=25)
    n_incomplete = CONFIG.return_steps - 1
    assert len(arrays(tmp_path / "parts")["replay/0"]) == 25 - n_incomplete
    run(tmp_path / "parts", n_steps=60)
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))
    again = run(tmp_path / "parts", n_steps=30)  # nothing left to do
    assert again.step == 60


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("times", [1, 2])  # `timeout` sends two at once
def test_interruption_waits_for_the_end_of_the_step(tmp_path, number, times):
    env = PointMasses(3)
    step = env.step

    def step_and_press(actions):
        if len(env.actions_seen) == 20:
            for _ in range(times):
                signal.raise_signal(number)
        return step(actions)

    env.step = step_and_press
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", env=env)
    stored = load_checkpoint(tmp_path / "parts" / "checkpoint.safetensors")
    assert stored.progress["step"] == 21
    run(tmp_path / "parts")
    run(tmp_path / "whole")
    assert_same(arrays(tmp_path / "whole"), arrays(tmp_path / "parts"))


def test_interruption_waits_for_the_run_to_be_stored(tmp_path, monkeypatch):
    save = store.save_checkpoint

    def press_and_save(*args):
        signal.raise_signal(signal.SIGINT)
        save(*args)

    monkeypatch.setattr(store, "save_checkpoint", press_and_save)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, n_steps=25)
    stored = load_checkpoint(tmp_path / "checkpoint.safetensors")
    assert stored.progress["step"] == 25


def test_second_signal_stops_immediately(monkeypatch):
    monkeypatch.setattr(interrupt, "_SAME_REQUEST", 0.0)
    with pytest.raises(KeyboardInterrupt), defer_interrupts() as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert interrupted()
        signal.raise_signal(signal.SIGINT)
        pytest.fail("should have been interrupted")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def spoil(env, *, at, what, slot=1):
    """Make an environment return NaN once."""
    step = env.step

    def step_with_nan(actions):
        obs, reward, terminated, truncated, info = step(actions)
        if len(env.actions_seen) == at:
            {"observation": obs, "reward": reward}[what][slot] = np.nan
        return obs, reward, terminated, truncated, info

    env.step = step_with_nan
    return env


@pytest.mark.parametrize("at", [4, 30])
@pytest.mark.parametrize("what", ["observation", "reward"])
def test_nan_from_an_environment_stops_its_learner_only(tmp_path, caplog, what, at):
    run(tmp_path / "healthy")
    with caplog.at_level(logging.ERROR):
        env = spoil(PointMasses(3), at=at, what=what)
        trained = run(tmp_path / "broken", env=env)
    message = f"ka/seed-1 stopped at step {at}: NaN or infinity in its {what}."
    assert trained.stopped == {"ka/seed-1": message}
    assert message in caplog.text
    healthy, broken = arrays(tmp_path / "healthy"), arrays(tmp_path / "broken")
    for p in (0, 2):
        assert_same(select_learner(healthy, p), select_learner(broken, p))
    run(tmp_path / "until", n_steps=at)
    for name in ("actor", "critics", "targets", "actor_mean", "critics_square"):
        frozen = arrays(tmp_path / "until")[f"learners/{name}"][1]
        np.testing.assert_array_equal(broken[f"learners/{name}"][1], frozen)
    assert np.isfinite(broken["replay/1"]).all()
    assert len(broken["replay/1"]) == at - CONFIG.return_steps
    assert all(np.isfinite(actions).all() for actions in env.actions_seen)


@pytest.mark.parametrize(
    ("tensor", "what"),
    [("actor", "actor's parameters"), ("critics", "critics' parameters")],
)
def test_nan_in_a_learner_stops_that_learner_only(tmp_path, tensor, what):
    run(tmp_path / "healthy")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "broken", progress=interrupt_at(30))
    path = tmp_path / "broken" / "checkpoint.safetensors"
    stored = load_checkpoint(path)
    stored.arrays[f"learners/{tensor}"][1, 3] = np.nan
    save_checkpoint(path, stored)
    trained = run(tmp_path / "broken")
    assert trained.stopped == {
        "ka/seed-1": f"ka/seed-1 stopped at step 31: NaN or infinity in its {what}."
    }
    healthy, broken = arrays(tmp_path / "healthy"), arrays(tmp_path / "broken")
    for p in (0, 2):
        assert_same(select_learner(healthy, p), select_learner(broken, p))


def test_stopped_learner_stays_stopped_when_the_run_resumes(tmp_path):
    def env():
        return spoil(PointMasses(3), at=20, what="reward")

    run(tmp_path / "whole", env=env())
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts", env=env(), progress=interrupt_at(20))
    trained = run(tmp_path / "parts")
    assert list(trained.stopped) == ["ka/seed-1"]
    whole, parts = arrays(tmp_path / "whole"), arrays(tmp_path / "parts")
    assert_same(whole, parts)


def test_run_ends_when_all_learners_have_stopped(tmp_path):
    env = spoil(PointMasses(3), at=20, what="reward", slot=slice(None))
    trained = run(tmp_path, env=env)
    assert trained.step == 20
    assert len(trained.stopped) == 3
