"""Training on a study by PPO: the files of SAC, and all that reads them."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rsl_rl")

import torch

from kaccess import InputError, Study, pipeline
from kaccess.config import EvaluateConfig, PpoConfig, SacConfig, TrainConfig
from kaccess.envs.curriculum import RollIn
from kaccess.envs.episodes import Episodes
from kaccess.envs.tasks import make_task
from kaccess.evaluation.curves import load_curves
from kaccess.evaluation.policies import find_named_policy
from kaccess.guide import Guide, follow_guide
from kaccess.policies import Policy
from kaccess.report.page.contents import read_contents
from kaccess.starts import InitialStates
from kaccess.study.lock import hold_folders
from kaccess.study.starts import find_starts
from kaccess.training import make_learners
from kaccess.training.curricula import follow_routes
from tests.training.runs import refusal, rows

CONFIG = TrainConfig(algorithm="ppo", starts=("rnd",), seeds=1, test_poses=4)
PPO = PpoConfig(
    robots=8, rollout_steps=5, episode_steps=10, hidden=(8,), steps=80, test_every=40
)


def train(study, config=CONFIG, ppo=PPO, **options):
    return pipeline.train(study, config, ppo=ppo, device="cpu", **options)


@pytest.fixture(scope="module")
def learned(clustered, tmp_path_factory):
    """A study with learners from three kinds of starts."""
    path = tmp_path_factory.mktemp("ppo") / "study"
    shutil.copytree(clustered, path)
    train(path, replace(CONFIG, starts=("rnd", "along-rnd", "drop")))
    return path


def test_learners_leave_the_files_of_sac(learned):
    folder = learned / "train" / "fall-recovery"
    for kind in ("ppo-rnd", "ppo-along-rnd", "ppo-drop"):
        own = folder / kind / "seed-0"
        assert {"policy.safetensors", "best.safetensors"} <= {
            each.name for each in own.iterdir()
        }
        assert [row["step"] for row in rows(own / "evaluation.csv")] == ["40", "80"]
        assert {"step", "episode", "return", "length"} <= rows(own / "episodes.csv")[
            0
        ].keys()
    policy = Policy.load(own / "policy.safetensors")
    assert (policy.activation, policy.metadata["robot"]) == ("elu", "tiny")
    assert load_curves(folder, episode_steps=40)["ppo-rnd"].episodes.tolist() == [1, 2]


def test_policies_are_tested_and_shown_like_those_of_sac(learned, tmp_path):
    study = shutil.copytree(learned, tmp_path / "study")
    scores = pipeline.evaluate(study, EvaluateConfig(poses=4))
    names = ["ppo-along-rnd/seed-0", "ppo-drop/seed-0", "ppo-rnd/seed-0", "routes"]
    assert sorted(each.name for each in scores) == names
    policy = find_named_policy(Study(study), "ppo-rnd/seed-0", "fall-recovery", "")
    assert policy.output == "clip"
    (curves,) = read_contents(Study(study)).curves.values()
    assert sorted(curves) == ["ppo-along-rnd", "ppo-drop", "ppo-rnd"]


@pytest.mark.parametrize("engine", ["mujoco", "warp"])
@pytest.mark.parametrize("starts", ["rollin-rnd", "rnd"])
def test_an_interrupted_training_continues(study, starts, engine):
    """It equals a training without interruption, the curriculum included."""
    if engine == "warp":
        pytest.importorskip("mujoco_warp")

    def interrupt(done, total, metrics):
        if done >= 120:
            raise KeyboardInterrupt

    config = replace(CONFIG, starts=(starts,), engine=engine)
    ppo = replace(PPO, steps=240)
    whole = shutil.copytree(study, study.parent / "whole")
    train(whole, config, ppo)
    with pytest.raises(KeyboardInterrupt):
        train(study, config, ppo, progress=interrupt)
    train(study, config, ppo)
    own = f"train/fall-recovery/ppo-{starts}/seed-0"
    for name in ("policy.safetensors", "episodes.csv", "evaluation.csv"):
        assert (study / own / name).read_bytes() == (whole / own / name).read_bytes()


def test_learners_can_be_added_and_progress_covers_all(study):
    calls = []
    train(study)
    both = replace(CONFIG, seeds=2)
    train(study, both, progress=lambda done, total, _: calls.append((done, total)))
    assert calls[-1] == (160, 160)
    assert (study / "train/fall-recovery/ppo-rnd/seed-1/policy.safetensors").exists()


def test_a_second_process_is_refused(study):
    folder = study / "train/fall-recovery/ppo-rnd/seed-0"
    with (
        hold_folders([folder]),
        pytest.raises(InputError, match="Another process is at work"),
    ):
        train(study)


def test_settings_of_sac_have_no_effect_and_are_refused(study, capsys):
    options = ["--algorithm", "ppo", "--episodes", "3"]
    assert "`episodes` has no effect" in refusal(capsys, "train", study, *options)


def test_learners_of_ppo_are_guided_too(clustered):
    study, task = Study(clustered), make_task("fall-recovery", Study(clustered).robot)
    config = TrainConfig(starts=("guided-rnd", "rollin-ka"), seeds=2)
    by_sac = make_learners(study, config, task)
    assert [each.guided for each in by_sac] == [True, True, False, False]
    by_ppo = make_learners(study, replace(config, algorithm="ppo"), task)
    assert [each.name for each in by_ppo][::2] == [
        "ppo-guided-rnd/seed-0",
        "ppo-rollin-ka/seed-0",
    ]
    kinds = [InitialStates] * 2 + [RollIn] * 2
    assert [type(each.starts) for each in by_ppo] == kinds
    assert by_ppo[2].starts is not by_ppo[3].starts
    assert [each.guided for each in by_ppo] == [True, True, False, False]


def test_sac_can_start_along_routes(study):
    config = TrainConfig(starts=("along-rnd",), seeds=1, episodes=1, test_poses=4)
    sac = SacConfig(hidden=(8, 8), batch_size=8, warmup_steps=100)
    out = pipeline.train(study, config, sac, device="cpu")
    assert (out / "along-rnd" / "seed-0" / "policy.safetensors").exists()


def test_route_states_are_those_that_the_guide_passes_through(clustered):
    """A robot put into a state continues as the guide's robot did."""
    study = Study(clustered)
    task = make_task("fall-recovery", study.robot)
    qpos = find_starts(study, "rnd", task).qpos
    routes = follow_routes(study, qpos, task)
    episodes = Episodes(task, study.robot, len(qpos))
    episodes.begin(qpos)
    act = follow_guide(Guide.of(study, len(qpos), task=task))
    route = int(np.flatnonzero(routes.elapsed == 0)[0])
    robot = int(np.flatnonzero((qpos == routes.qpos[route]).all(axis=1))[0])
    for step in range(4):
        state = routes.get(route + step)
        assert routes.elapsed[route + step] == step
        np.testing.assert_array_equal(episodes.robots.qpos[robot], state.qpos[0])
        np.testing.assert_array_equal(episodes.robots.qvel[robot], state.qvel[0])
        actions = act(episodes.observe())
        episodes.step(actions)
        alone = Episodes(task, study.robot, 1)
        alone.begin(state.qpos, qvel=state.qvel, targets=state.targets)
        alone.step(actions[robot][None])
        np.testing.assert_allclose(
            alone.robots.qpos[0], episodes.robots.qpos[robot], atol=1e-4
        )
    assert (np.diff(routes.remaining[route : route + 4]) == -1).all()


def test_drops_are_in_the_air_and_the_rest_stands(clustered):
    study = Study(clustered)
    drops = find_starts(study, "drop", make_task("fall-recovery", study.robot))
    assert drops.weights[-1] == pytest.approx(0.4)
    np.testing.assert_array_equal(drops.qpos[-1], study.robot.standing)
    ground, itself = study.robot.find_contacts(drops.qpos[:-1])
    assert not ground.any() and not itself.any()
    assert len(np.unique(drops.qpos[:-1], axis=0)) == len(drops) - 1


def test_robots_on_the_device_are_tested_on_the_host():
    assert replace(CONFIG, engine="warp").tested_in == "mujoco"
    assert replace(CONFIG, engine="warp", test_engine="warp").tested_in == "warp"


@pytest.mark.parametrize("algorithm", ["sac", "ppo"])
def test_without_a_gpu_the_engine_warp_is_refused_at_once(study, capsys, algorithm):
    if torch.cuda.is_available():
        pytest.skip("there is one")
    options = ["--algorithm", algorithm, "--starts", "rnd", "--engine", "warp"]
    sentence = refusal(capsys, "train", study, *options)
    assert "The engine warp needs an NVIDIA GPU" in sentence
