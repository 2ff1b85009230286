"""Partial studies: only some pairs, the same bytes as with all, and what it assumes."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from kaccess import AccessConfig, ClusterConfig, Study, pipeline
from kaccess.access import estimate_rows, find_nodes
from kaccess.access.mirrored_pairs import estimate_single_pairs
from kaccess.base.errors import InputError
from kaccess.cli.watch import watch
from kaccess.config import EvaluateConfig, GrowConfig, PairsConfig, SampleConfig
from kaccess.engines.mujoco import MujocoEngine
from kaccess.envs.tasks import make_task
from kaccess.guide import Guide
from kaccess.poses import draw_poses
from kaccess.study import pair_store
from tests.conftest import TINY

SOME = PairsConfig(pairs="40%")


def read_files(path):
    """Return the content of each file that results depend on, by name."""
    files = [path / "study.json", *sorted((path / "study.zarr").rglob("*"))]
    return {
        str(file.relative_to(path)): file.read_bytes()
        for file in files
        if file.is_file()
    }


def run_some(path, pairs=SOME):
    return pipeline.access(path, AccessConfig(), pairs=pairs)


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A study of 24 poses with all pairs."""
    path = tmp_path_factory.mktemp("complete") / "study"
    pipeline.sample(str(TINY), path, SampleConfig(n=24))
    return pipeline.access(path, AccessConfig())


@pytest.fixture(scope="module")
def partial_path(tmp_path_factory):
    path = tmp_path_factory.mktemp("partial") / "study"
    pipeline.sample(str(TINY), path, SampleConfig(n=24))
    run_some(path)
    return path


@pytest.fixture
def partial(partial_path, tmp_path):
    """A copy, to be changed."""
    return Study(shutil.copytree(partial_path, tmp_path / "partial"))


def test_estimated_pairs_are_those_of_the_full_matrix(partial, complete):
    known = ~np.isnan(partial.times)
    share = (known.sum() - 24) / (24 * 23)
    assert 0.2 < share <= 0.401
    assert (partial.outcomes[~known] == 0).all()
    for name in partial.arrays.row_arrays:
        np.testing.assert_array_equal(
            partial.arrays.read(name)[known], complete.arrays.read(name)[known]
        )
    assert partial.partial["estimated"] == known.sum() - 24
    assert not (partial.path / "pairs").exists()


def test_all_pairs_afterwards_give_the_bytes_of_a_full_run(partial, complete):
    pipeline.access(partial.path, AccessConfig())
    assert read_files(partial.path) == read_files(complete.path)
    assert Study(partial.path).partial is None


def test_an_interrupted_run_ends_as_one_that_was_not(
    tiny_study, partial_path, monkeypatch
):
    monkeypatch.setattr(pair_store, "_ROUND", 20)
    monkeypatch.setattr(MujocoEngine, "batch_size", 20, raising=False)
    estimate, counts = pair_store.estimate_single_pairs, []

    def stop_sometimes(poses, source, goal, *args, **kwargs):
        if len(counts) % 3 == 2:
            counts.append(0)
            raise KeyboardInterrupt
        counts.append(int((source != goal).sum()))
        return estimate(poses, source, goal, *args, **kwargs)

    monkeypatch.setattr(pair_store, "estimate_single_pairs", stop_sometimes)
    for _ in range(50):
        try:
            study = run_some(tiny_study)
            break
        except KeyboardInterrupt:
            assert Study(tiny_study).partial is None
    assert counts.count(0) >= 2
    assert read_files(tiny_study) == read_files(partial_path)
    assert sum(counts) == study.partial["estimated"]  # nothing was simulated twice


def test_the_same_request_does_nothing_again(partial, monkeypatch):
    before = read_files(partial.path)
    monkeypatch.setattr(MujocoEngine, "settle", None)
    run_some(partial.path)
    assert read_files(partial.path) == before


def test_more_pairs_are_added_to_those_there_are(partial):
    before = ~np.isnan(partial.times)
    more = run_some(partial.path, PairsConfig(pairs="60%", seed=1))
    now = ~np.isnan(more.times)
    assert now[before].all() and now.sum() > before.sum()
    assert more.n_moves is not None


def test_mirrored_poses_have_the_pairs_of_whole_rows(bittle, engine):
    sampling = SampleConfig(n=6, mirror=True)
    poses, _ = draw_poses(bittle, sampling, engine=engine)
    nodes = find_nodes(poses, AccessConfig(), engine=engine)
    rows = estimate_rows(poses, range(6), AccessConfig(), engine=engine, nodes=nodes)
    source, goal = np.array([1, 0, 5, 3, 4]), np.array([2, 3, 5, 0, 1])
    some = estimate_single_pairs(
        poses, source, goal, AccessConfig(), engine=engine, nodes=nodes
    )
    np.testing.assert_array_equal(some.times, rows.times[source, goal])
    np.testing.assert_array_equal(some.outcomes, rows.outcomes[source, goal])
    for name, values in vars(some.landings).items():
        expected = getattr(rows.landings, name)[source, goal]
        np.testing.assert_array_equal(values, expected)


def test_routes_use_commands_that_were_tried_from_all_poses(partial, complete):
    tried = np.flatnonzero(~np.isnan(partial.times).any(axis=0))
    graph = partial.graph
    assert len(graph.commands) == len(tried) + 1
    landings = complete.arrays.read_landings()
    columns = np.append(tried, 24)
    np.testing.assert_array_equal(graph.landings.node, landings.node[:, columns])
    np.testing.assert_array_equal(graph.landings.states, landings.states[:, columns])
    assert Guide.of(partial, 2, task=make_task("fall-recovery")) is not None
    assert partial.n_moves is not None


def test_clusters_are_made_of_candidates(partial, complete):
    pipeline.cluster(partial, ClusterConfig(k_max=5))
    found = Study(partial.path).clusterings["kaccess"]
    assert set(found.centroids) <= set(partial.partial["candidates"])
    known = ~np.isnan(partial.times)
    np.testing.assert_array_equal(partial.access[known], complete.access[known])
    assert pipeline.compare(partial)[0].name == "kaccess"


@pytest.mark.parametrize("method", ["kmedoids", "spectral"])
def test_methods_that_need_all_pairs_say_so(partial, method):
    with pytest.raises(InputError, match=r"needs all pairs.*kaccess access"):
        pipeline.cluster(partial, ClusterConfig(method=method))


def test_clusters_need_pairs_chosen_for_them(tiny_study):
    study = run_some(tiny_study, PairsConfig(pairs="30%", goal="routes"))
    with pytest.raises(InputError, match=r"not chosen for clusters.*--goal clusters"):
        pipeline.cluster(study, ClusterConfig())


def test_coverage_of_a_clustering_lies_in_its_interval(partial, complete):
    pipeline.cluster(partial, ClusterConfig(k=3))
    starts = Study(partial.path).clusterings["kaccess"].centroids
    config = PairsConfig(pairs="100", goal="coverage")
    share = run_some(partial.path, config).partial["coverage"]
    hits = np.isfinite(complete.times[starts])
    hits[np.arange(len(starts)), starts] = False
    assert share["low"] <= hits.any(axis=0).mean() <= share["high"]
    with pytest.raises(InputError, match="must be a clustering of this study"):
        run_some(
            partial.path, PairsConfig(pairs="100", goal="coverage", starts="louvain")
        )


def test_info_says_what_is_assumed(partial, complete):
    assert "40.0% of the pairs are estimated" in pipeline.info(partial).assumptions
    assert pipeline.info(complete).assumptions == ""


def test_report_and_evaluate_say_what_is_assumed(
    partial, complete, capsys, monkeypatch
):
    table = "kaccess.report.text.policies.format_evaluations"
    monkeypatch.setattr(table, lambda *_, **__: "scores")
    for name, result in (("report", Path("report.html")), ("evaluate", [])):

        def stage(*_, _result=result, **__):
            return _result

        stage.__name__ = name
        for study, expected in ((partial, 1), (complete, 0)):
            watch(stage, study, EvaluateConfig())
            said = capsys.readouterr().out
            assert said.count("of the pairs are estimated") == expected
            assert said.count("it is assumed") == expected


@pytest.mark.slow
def test_a_partial_study_can_grow(partial):
    growth = pipeline.grow(partial, GrowConfig(most=28, tests=10, added=2))
    assert growth.rounds[0].n_poses == 24


def test_a_damaged_round_is_named(tiny_study):
    (tiny_study / "pairs").mkdir()
    (tiny_study / "pairs" / "000000.npz").write_bytes(b"damaged")
    with pytest.raises(InputError, match=r"000000\.npz.*Delete it"):
        run_some(tiny_study)


def test_two_processes_are_refused(tiny_study):
    from kaccess.study.lock import hold_folders

    with (
        hold_folders([tiny_study / "pairs"]),
        pytest.raises(InputError, match="Another process"),
    ):
        run_some(tiny_study)


@pytest.mark.parametrize("text", ["", "0", "5 %", "101%", "-3", "many", "1e3", "nan%"])
def test_bad_numbers_of_pairs_are_explained(text):
    with pytest.raises(InputError, match="`pairs` must be a share up to 100%"):
        PairsConfig(pairs=text)


@pytest.mark.parametrize(("text", "count"), [("5%", 28), ("100%", 552), ("7", 7)])
def test_numbers_of_pairs(text, count):
    assert PairsConfig(pairs=text).count(24) == count


def test_goals_have_no_effect_without_pairs(tiny_study):
    with pytest.raises(InputError, match="`goal` has no effect without `pairs`"):
        PairsConfig(goal="routes")
    with pytest.raises(InputError, match="`only_rows` has no effect with `pairs`"):
        pipeline.access(tiny_study, AccessConfig(), pairs=SOME, only_rows=range(2))


def test_settings_say_how_pairs_were_chosen(partial):
    stored = json.loads((partial.path / "study.json").read_text())["pairs"]
    assert stored["asked"] == {
        "pairs": "40%",
        "goal": "all",
        "confidence": None,
        "seed": 0,
    }
