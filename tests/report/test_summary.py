"""Summaries of a study, as numbers and as text."""

import json

import numpy as np
import pytest

from kaccess import Study, pipeline
from kaccess.cli import main
from kaccess.report.pairs import count_pairs
from kaccess.report.summary import summarize
from kaccess.report.text.info import format_summary, format_summary_as_json
from kaccess.study.arrays import Arrays

X, N = np.inf, np.nan
CONTACTS = np.array([[1, 0], [1, 0], [1, 1]], bool)


def summarize_arrays(times, outcomes, to_standing=(X, X, 0.5), **moves):
    return summarize(
        {},
        contacts=CONTACTS,
        parts=("head", "tail"),
        pairs=count_pairs(3, [(np.array(times), np.array(outcomes))]),
        to_standing=np.array(to_standing),
        **moves,
    )


def test_numbers_counted_by_hand():
    summary = summarize_arrays(
        [[0, 1.0, 2.0], [1.0, 0, X], [X, X, 0]],
        [[1, 1, 1], [1, 1, 2], [3, 4, 1]],
    )
    times = summary.times
    assert (times.pairs, times.done, times.reached) == (6, 6, 3)
    assert (times.elsewhere, times.restless, times.diverged) == (1, 1, 1)
    assert times.one_way == pytest.approx(1 / 2)  # 0-1 both ways, 0-2 one way
    assert times.seconds == pytest.approx((1.0, 1.0, 1.9))
    assert times.stand_up == 1
    assert summary.contact_cases == (("head", 2), ("head + tail", 1))
    assert summary.graph.stuck.tolist() == []
    assert summary.verdict.startswith("This robot can get up: from all 3 poses")


def test_an_unfinished_matrix_has_no_verdict_yet():
    summary = summarize_arrays(
        [[0, 1.0, X], [N, N, N], [N, N, N]], [[1, 1, 2], [0] * 3, [0] * 3], (N, N, N)
    )
    assert (summary.times.done, summary.times.reached) == (2, 1)
    assert summary.times.stand_up is None
    assert summary.graph is None
    assert summary.verdict.startswith("4 pairs are still to be estimated")


def test_pairs_estimated_one_way_only_do_not_count_as_asymmetric():
    summary = summarize_arrays(
        [[0, 1.0, 1.0], [1.0, 0, 1.0], [N, N, N]], [[1] * 3, [1] * 3, [0] * 3]
    )
    assert summary.times.one_way == 0.0


def test_a_tile_counts_once_its_times_are_stored():
    summary = summarize_arrays(
        [[0, X, X], [N, N, N], [N, N, N]], [[1, 2, 2], [1, 1, 1], [0] * 3]
    )
    assert (summary.times.done, summary.times.reached) == (2, 0)
    assert summary.times.seconds is None


def test_stuck_poses_are_named():
    apart = [[0, X, X], [X, 0, X], [X, X, 0]]
    outcomes = [[1, 2, 2], [2, 1, 2], [2, 2, 1]]
    some = summarize_arrays(apart, outcomes).verdict
    assert "can get up from 1 of 3 poses" in some and some.endswith("(0, 1).")
    none = summarize_arrays(apart, outcomes, (X, X, X)).verdict
    assert none.startswith("This robot cannot get up")


def test_stuck_poses_are_counted_by_chains_of_landings():
    apart = [[0, X, X], [X, 0, X], [X, X, 0]]
    arrays = {"times": apart, "outcomes": [[1, 2, 2], [2, 1, 2], [2, 2, 1]]}
    chains = np.array([2, 0, 0])
    known = summarize_arrays(**arrays, chain_moves=chains)
    assert known.graph.stuck.tolist() == [1, 2]
    assert "can get up from 1 of 3 poses" in known.verdict
    replayed = summarize_arrays(
        **arrays, chain_moves=chains, n_moves=np.array([2, 3, 0])
    )
    assert replayed.graph.stuck.tolist() == [2]  # pose 1 has stood up
    assert "2 of 3 poses: in the simulator, 1 in two moves, 1 in" in replayed.verdict


def test_the_text_has_one_line_per_value(clustered):
    summary = pipeline.info(clustered)
    lines = format_summary(summary).splitlines()
    assert lines[-1] == summary.verdict
    values = {line[:22].strip(): line[22:].strip() for line in lines[:-2]}
    assert values["poses"] == "24, draw move, seed 0"
    assert values["pairs done"] == "100.0% of 552"
    assert values["times"].endswith(" s (5/50/95 %)")
    assert values["cannot reach standing"] == f"{len(summary.graph.stuck)} poses"


def test_the_json_has_the_same_values(clustered):
    content = json.loads(format_summary_as_json(pipeline.info(clustered)))
    assert content["times"]["done"] == content["times"]["pairs"] == 552
    assert content["settings"] == Study(clustered).settings
    assert content["verdict"].startswith("This robot")


def test_pairs_are_counted_in_parts_as_at_once():
    rng = np.random.default_rng(0)
    times = rng.choice([0.3, 0.7, 1.1, X, N], (30, 30)).astype(np.float32)
    outcomes = np.where(np.isnan(times), 0, np.where(np.isinf(times), 2, 1))
    whole = count_pairs(30, [(times, outcomes)])
    cuts = [slice(0, 7), slice(7, 8), slice(8, 30)]
    parts = count_pairs(30, [(times[rows], outcomes[rows]) for rows in cuts])
    for name, values in vars(whole).items():
        np.testing.assert_array_equal(getattr(parts, name), values)
    off = ~np.eye(30, dtype=bool)
    moves, done = np.isfinite(times) & off, ~np.isnan(times) & off
    linked = (moves | moves.T) & done & done.T
    assert parts.one_way == 1 - (moves & moves.T).sum() / linked.sum()
    assert parts.quantiles == tuple(np.quantile(times[moves], [0.05, 0.5, 0.95]))


def test_a_pair_without_outcome_is_not_estimated():
    summary = summarize_arrays(
        [[0, 1.0, 1.0], [1.0, 0, 1.0], [1.0, 1.0, 0]], [[1] * 3, [1] * 3, [0] * 3]
    )
    assert summary.times.done == 4 and summary.graph is None


def test_chains_counted_in_parts_are_those_of_the_plan(clustered, monkeypatch):
    study = Study(clustered)
    chains = study.plan.n_moves
    monkeypatch.setattr("kaccess.study.arrays._READ_SIZE", 24)  # two rows at a time
    np.testing.assert_array_equal(Study(clustered).chain_moves, chains)


@pytest.mark.parametrize("flags", [[], ["--check"]])
def test_large_arrays_are_read_a_few_rows_at_a_time(clustered, monkeypatch, flags):
    """Of 10,000 poses, one array of all pairs takes 400 MB."""
    monkeypatch.setattr("kaccess.study.arrays._READ_SIZE", 48)  # two rows at a time
    most = max(len(each.centroids) for each in Study(clustered).clusterings.values())
    read, found = Arrays.read, []

    def note(self, name, *rows):
        values = read(self, name, *rows)
        if name in ("times", "outcomes", "landings/node", "landings/states"):
            found.append(len(values))
        return values

    monkeypatch.setattr(Arrays, "read", note)
    main(["info", str(clustered), *flags])
    assert len(found) > 24
    assert max(found) <= max(most, 2) < 24
