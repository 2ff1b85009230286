"""Learned accessibility: symmetry, oracles, what it learns from, and its file."""

import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kaccess import InputError, Study, pipeline, predict_clusters, predict_times
from kaccess.base.rotations import gravity_in_body, turn_quat
from kaccess.cli import main
from kaccess.config import AccessConfig, LearnConfig
from kaccess.learned import Moves, fit_model, moves, read_moves
from kaccess.learned.features import Features
from kaccess.learned.figures import bin_chances, measure_figures
from kaccess.learned.fit import _fit_temperature, _list_lessons, _split_poses
from kaccess.learned.model import AccessModel
from kaccess.learned.network import combine, describe_shapes, draw_parameters, enter
from kaccess.learned.predict import LearnedAccess, _write_model, read_model
from tests.conftest import TINY

SMALL = LearnConfig(members=2, width=32, layers=2, least_steps=150, batch=256, passes=1)


def draw_states(robot, n, seed=0):
    """Draw states of a robot that need not rest."""
    rng = np.random.default_rng(seed)
    qpos = np.repeat(robot.standing[None], n, axis=0)
    quat = rng.normal(size=(n, 4))
    qpos[:, 3:7] = quat / np.linalg.norm(quat, axis=1, keepdims=True)
    qpos[:, 2] *= rng.uniform(0.5, 1.5, n)
    low, high = robot.joint_range.T
    qpos[:, robot.joint_adr] = rng.uniform(low, high, (n, robot.model.nu))
    return qpos


def make_moves(qpos):
    """Return moves between states: upright ones reach upright ones, soon."""
    source, goal = np.nonzero(~np.eye(len(qpos), dtype=bool))
    gravity = gravity_in_body(qpos[:, 3:7])
    upright = -(gravity[source, 2] + gravity[goal, 2])
    reached = upright > 0.2
    ends = np.where(reached[:, None], qpos[goal], qpos[source])
    return Moves(source, goal, np.where(reached, 2.5 - upright, np.inf), ends)


def make_model(robot, seed=0):
    """Return a model with random weights."""
    features = Features(robot, AccessConfig())
    shapes = describe_shapes(3, features.n_inputs, 16, 2, 2 + features.n_places)
    return AccessModel(
        features,
        draw_parameters(shapes, torch.Generator().manual_seed(seed)),
        mean=np.zeros(features.n_inputs, np.float32),
        spread=np.ones(features.n_inputs, np.float32),
        temperature=1.3,
    )


@pytest.fixture(scope="module")
def fitted(bittle):
    qpos = draw_states(bittle, 60)
    return qpos, *fit_model(bittle, qpos, make_moves(qpos), AccessConfig(), SMALL)


# What the networks see


def test_heading_and_place_do_not_matter(bittle):
    qpos = draw_states(bittle, 5)
    turned = qpos.copy()
    turned[:, :2] += [3.0, -2.0]
    turned[:, 3:7] = turn_quat(qpos[:, 3:7], np.full(5, 1.2), np.array([0, 0, 1]))
    features = Features(bittle, AccessConfig())
    np.testing.assert_allclose(
        features.describe(turned), features.describe(qpos), atol=1e-6
    )


def test_mirror_image_swaps_the_images(bittle):
    features, qpos = Features(bittle, AccessConfig()), draw_states(bittle, 5)
    reflected = features.describe(features.mirror.reflect_qpos(qpos))
    np.testing.assert_allclose(reflected, features.describe(qpos)[::-1], atol=1e-6)


def test_landing_is_restored_from_its_place(bittle):
    features, qpos = Features(bittle, AccessConfig()), draw_states(bittle, 12)
    ends, goals = qpos[:6], qpos[6:]
    places = features.locate(ends, goals)
    restored = features.restore(places[0].astype(float), goals)
    np.testing.assert_allclose(features.locate(restored, ends)[0], 0, atol=1e-4)
    np.testing.assert_allclose(features.reflect_places(places[1]), places[0], atol=1e-4)


def test_unknown_landing_stays_unknown(bittle):
    features, qpos = Features(bittle, AccessConfig()), draw_states(bittle, 4)
    ends = qpos.copy()
    ends[1] = np.nan
    known = np.isfinite(features.locate(ends, qpos)).all(axis=(0, 2))
    np.testing.assert_array_equal(known, [True, False, True, True])


# The networks


def test_networks_equal_plain_products():
    shapes = describe_shapes(3, 4, 8, 3, 5)
    drawn = draw_parameters(shapes, torch.Generator().manual_seed(1))
    source, goal = torch.randn(2, 1, 7, 4)
    begin, end = enter(drawn, source[None][0], goal[None][0])
    found = combine(drawn, begin + end).numpy()
    weights = {name: each.numpy().astype(float) for name, each in drawn.items()}
    for member in range(3):
        w = {name: each[member] for name, each in weights.items()}
        hidden = source[0].numpy() @ w["source"] + goal[0].numpy() @ w["goal"]
        hidden = silu(hidden + w["enter"])
        for layer in (1, 2):
            hidden = silu(hidden @ w[f"weight_{layer}"] + w[f"bias_{layer}"])
        expected = hidden @ w["weight_out"] + w["bias_out"]
        np.testing.assert_allclose(found[member], expected, atol=1e-5)


def silu(x):
    return x / (1 + np.exp(-x))


def test_all_pairs_equal_one_pair_at_a_time(bittle):
    model, qpos = make_model(bittle), draw_states(bittle, 7)
    whole = model.predict(qpos[:3], qpos[3:], landings=True)
    for i in range(3):
        for j in range(4):
            one = model.predict(qpos[i][None], qpos[3 + j][None], landings=True)
            for name in ("chance", "times", "doubt", "landings"):
                np.testing.assert_allclose(
                    getattr(whole, name)[i, j], getattr(one, name)[0, 0], atol=1e-5
                )


def test_summary_is_that_of_the_members(bittle):
    model, qpos = make_model(bittle), draw_states(bittle, 5)
    source, goal = np.array([0, 1, 2]), np.array([3, 4, 0])
    raw = model.predict_raw(qpos, source, goal)
    found = model.predict_pairs(qpos, qpos, source, goal)
    chances = 1 / (1 + np.exp(-raw.logits / 1.3))
    mean = 1 / (1 + np.exp(-raw.logits.mean(axis=0) / 1.3))
    np.testing.assert_allclose(found.chance, mean, atol=1e-6)
    np.testing.assert_allclose(found.doubt, chances.std(axis=0), atol=1e-6)
    second = model.predict_raw(qpos, source, goal, member=1)
    np.testing.assert_allclose(second.logits[0], raw.logits[1], atol=1e-5)


def test_mirrored_moves_are_mirror_images(bittle):
    model, qpos = make_model(bittle), draw_states(bittle, 6)
    mirror = model.features.mirror
    here = model.predict(qpos[:3], qpos[3:], landings=True)
    there = model.predict(
        mirror.reflect_qpos(qpos[:3]), mirror.reflect_qpos(qpos[3:]), landings=True
    )
    np.testing.assert_allclose(there.chance, here.chance, atol=1e-5)
    np.testing.assert_allclose(there.times, here.times, rtol=1e-4)
    flat = here.landings.reshape(9, -1).astype(float)
    np.testing.assert_allclose(
        there.landings.reshape(9, -1)[:, bittle.joint_adr],
        mirror.reflect_qpos(flat)[:, bittle.joint_adr],
        atol=1e-4,
    )


def test_no_states_give_no_predictions(bittle):
    model = make_model(bittle)
    found = model.predict(draw_states(bittle, 0), draw_states(bittle, 2))
    assert found.chance.shape == (0, 2)


def test_states_of_another_robot_are_refused(bittle):
    with pytest.raises(InputError, match=r"shape \(n, 15\) .* got shape \(2, 9\)"):
        make_model(bittle).predict(np.zeros((2, 9)), np.zeros((2, 9)))


# Learning


def test_learns_a_rule_that_holds_for_unseen_states(bittle, fitted):
    _, model, figures = fitted
    fresh = draw_states(bittle, 40, seed=7)
    test = make_moves(fresh)
    found = model.predict_pairs(fresh, fresh, test.source, test.goal)
    assert measure_figures(test.times, found.chance, found.times).auc > 0.85
    assert figures.auc > 0.75
    assert figures.n_pairs == 2 * 15 * 14  # both poses left out


def test_same_seed_gives_the_same_model(bittle, fitted):
    qpos, model, figures = fitted
    again, same = fit_model(bittle, qpos, make_moves(qpos), AccessConfig(), SMALL)
    assert same == figures
    for name, each in model.parameters.items():
        torch.testing.assert_close(again.parameters[name], each, rtol=0, atol=0)


def test_members_do_not_learn_from_what_they_leave_out():
    qpos = np.arange(30)
    source, goal = np.nonzero(~np.eye(30, dtype=bool))
    every = Moves(source, goal, np.ones(len(source)), np.zeros((len(source), 1)))
    config = LearnConfig(members=3)
    folds = _split_poses(len(qpos), config, mirrored=True)
    np.testing.assert_array_equal(folds[::2], folds[1::2])  # partners stay together
    for member, lesson in enumerate(_list_lessons(every, folds, config)):
        assert member not in folds[source[lesson]]
        assert member not in folds[goal[lesson]]
        left = (folds != member).sum()
        assert len(lesson) == left * (left - 1)


def test_temperature_undoes_overconfidence():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=20_000) * 2
    reached = rng.random(20_000) < 1 / (1 + np.exp(-logits))
    assert _fit_temperature(reached, 3 * logits) == pytest.approx(3, rel=0.1)


def test_figures_of_a_case_solved_by_hand():
    times = np.array([1.0, 2.0, np.inf, np.inf])
    found = measure_figures(
        times, np.array([0.9, 0.4, 0.6, 0.1]), np.array([1.1, 1, 1, 1])
    )
    assert found.auc == 0.75  # three of four pairs in the right order
    assert found.reached == 0.5
    assert found.time_error == pytest.approx(0.3)
    assert found.brier == pytest.approx((0.01 + 0.36 + 0.36 + 0.01) / 4)
    assert found.calibration_error == pytest.approx((0.1 + 0.6 + 0.6 + 0.1) / 4)


def test_bins_hold_all_moves():
    chance = np.random.default_rng(0).random(100)
    mean, share, weight = bin_chances(chance > 0.5, chance)
    assert weight.sum() == pytest.approx(1)
    assert (np.diff(mean) > 0).all()
    assert share @ weight == pytest.approx((chance > 0.5).mean())


# Studies


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A study of 24 poses of the tiny robot, some of whose pairs are not known."""
    path = tmp_path_factory.mktemp("learned") / "study"
    pipeline.sample(str(TINY), path, pipeline.SampleConfig(n=24))
    pipeline.access(path, AccessConfig())
    study = Study(path)
    times = study.times
    times[3, 5:9] = np.nan
    study.arrays.array("times")[:] = times
    return path


def test_only_known_pairs_are_read(measured):
    study = Study(measured)
    found = read_moves(study, most=10**6)
    assert len(found) == 24 * 23 - 4
    known = study.times[found.source, found.goal]
    np.testing.assert_array_equal(found.times, known)
    states = study.arrays.read("landings/states")
    np.testing.assert_array_equal(found.ends, states[found.source, found.goal])
    assert not ((found.source == 3) & (found.goal == 6)).any()
    assert (found.source != found.goal).all()


def test_some_of_many_pairs_are_drawn(measured):
    found = read_moves(Study(measured), most=100, seed=1)
    assert len(found) == 100
    again = read_moves(Study(measured), most=100, seed=1)
    np.testing.assert_array_equal(found.goal, again.goal)


def test_too_few_pairs_are_refused(measured, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["learn-access", str(measured)])
    assert stopped.value.code == 2
    assert "at least 1000 known pairs" in capsys.readouterr().err


def test_command_learns_and_prints_its_figures(measured, monkeypatch, capsys):
    monkeypatch.setattr(moves, "_FEWEST", 100)
    words = "--members 2 --width 16 --least-steps 40 --batch 64 --passes 1"
    main(["learn-access", str(measured), "--device", "cpu", *words.split()])
    shown = capsys.readouterr().out
    assert "learned from       548 pairs" in shown
    assert "AUC of arrival" in shown
    study = Study(measured)
    found = predict_times(study, study.poses.qpos[:2], study.poses.qpos[:3])
    assert found.chance.shape == found.times.shape == found.doubt.shape == (2, 3)
    assert ((found.chance > 0) & (found.chance < 1)).all()


# The file


@pytest.fixture
def stored(clustered, tmp_path):
    """A copy of a clustered study, with a model of random weights."""
    path = tmp_path / "study"
    shutil.copytree(clustered, path)
    study = Study(path)
    model = make_model(study.robot)
    config = LearnConfig(members=3, width=16, layers=2)
    figures = measure_figures(np.array([1, np.inf]), np.array([1.0, 0]), np.ones(2))
    file = path / "learned" / "access.safetensors"
    _write_model(LearnedAccess(file, 2, figures), model, config)
    return study, model, file


def test_stored_model_predicts_the_same(stored):
    study, model, _ = stored
    qpos = study.poses.qpos
    here, there = model.predict(qpos, qpos), read_model(study).predict(qpos, qpos)
    np.testing.assert_array_equal(there.chance, here.chance)
    np.testing.assert_array_equal(there.times, here.times)


def test_new_poses_belong_to_the_centroid_that_reaches_them_soonest(stored):
    study, model, _ = stored
    centroids = study.clusterings["kaccess"].centroids
    fresh = draw_states(study.robot, 9)
    moves = model.predict(study.poses.qpos[centroids], fresh)
    expected = (moves.chance * np.exp(-moves.times)).argmax(axis=0)
    np.testing.assert_array_equal(predict_clusters(study, fresh), expected)


def test_unknown_clustering_is_explained(stored):
    with pytest.raises(InputError, match=r"\(kaccess\), got 'kmeans'"):
        predict_clusters(stored[0], stored[0].poses.qpos, "kmeans")


def test_study_without_a_model_is_explained(clustered):
    with pytest.raises(InputError, match="kaccess learn-access"):
        predict_times(clustered, np.zeros((1, 9)), np.zeros((1, 9)))


def test_damaged_model_is_explained(stored):
    study, _, file = stored
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(InputError, match=r"access\.safetensors"):
        read_model(study)


def test_model_of_another_robot_is_refused(stored, bittle):
    study, _, file = stored
    figures = measure_figures(np.array([1, np.inf]), np.array([1.0, 0]), np.ones(2))
    config = LearnConfig(members=3, width=16, layers=2)
    _write_model(LearnedAccess(file, 2, figures), make_model(bittle), config)
    with pytest.raises(InputError, match="another model of the robot"):
        read_model(study)
