"""Scores by kind of starts, from hand-made results of policies."""

from dataclasses import asdict

import numpy as np
import pytest

from kaccess.base.stats import Interval
from kaccess.evaluation import Evaluation, Summary
from kaccess.evaluation.pose_test import Group
from kaccess.report.page.scores import find_best_run, score_starts


def make_scores(name, hits, *, n=10, reward=None):
    """Return stored scores of a policy; all its failures are in cluster 1."""
    summary = Summary(
        n=n,
        reward=float(hits) if reward is None else reward,
        reward_sd=1.5,
        success=make_share(hits, n),
        success_loose=make_share(hits, n),
        time=0.8 if hits else None,
        energy=2.0,
        roughness=0.1,
    )
    groups = [
        Group("0", hits, make_share(hits, hits)),
        Group("1", n - hits, make_share(0, n - hits)),
    ]
    return asdict(Evaluation(name, summary, {"cluster": groups}))


def make_share(hits, n):
    return Interval(hits / n if n else 0.0, 0.0, 1.0)


POLICIES = [
    make_scores("ka/seed-0", 4),
    make_scores("ka/seed-1", 8),
    make_scores("rnd/seed-0", 0),
]


def test_scores_by_kind_of_starts():
    ka, rnd = score_starts(POLICIES)
    assert (ka.starts, ka.n_seeds, ka.n_poses) == ("ka", 2, 10)
    assert ka.success.value == pytest.approx(12 / 20)
    assert ka.best == pytest.approx(0.8)
    assert ka.worst == pytest.approx(0.4)
    # Both resampled seeds are the worse one, or the better one, in 1 of 4 resamples.
    assert ka.success.low < 0.4 and ka.success.high > 0.8
    assert (ka.reward, ka.reward_sd, ka.seconds) == (8.0, 1.5, 0.8)
    assert ka.clusters == {"0": (12, 12), "1": (0, 8)}
    assert np.isnan(rnd.seconds) and rnd.success.value == 0.0


def test_the_best_run_has_the_most_success_then_the_most_reward():
    assert find_best_run(POLICIES) == "ka/seed-1"
    more_reward = make_scores("rnd/seed-1", 8, reward=9.0)
    assert find_best_run([*POLICIES, more_reward]) == "rnd/seed-1"


def test_routes_have_a_row_of_their_own():
    routes = make_scores("routes", 10)
    assert "routes" in [score.starts for score in score_starts([*POLICIES, routes])]
