import numpy as np
import pytest

from kaccess.report.page.scores import best_run, score_starts
from tests.report.conftest import policy

POLICIES = [policy("ka/seed-0", 4), policy("ka/seed-1", 8), policy("rnd/seed-0", 0)]


def test_hand_counted_scores():
    ka, rnd = score_starts(POLICIES)
    assert (ka.starts, ka.n_seeds, ka.n_poses) == ("ka", 2, 10)
    assert ka.success.value == pytest.approx(12 / 20)
    assert ka.best.value == pytest.approx(0.8)
    assert (ka.reward, ka.reward_sd, ka.seconds) == (8.0, 1.5, 0.8)
    assert ka.clusters == {"0": (12, 12), "1": (0, 8)}
    assert np.isnan(rnd.seconds) and rnd.success.value == 0.0


def test_the_best_run_succeeds_most_and_then_earns_most():
    assert best_run(POLICIES) == "ka/seed-1"
    richer = policy("rnd/seed-1", 8)
    richer["summary"]["reward"] = 9.0
    assert best_run([*POLICIES, richer]) == "rnd/seed-1"


def test_routes_are_a_kind_of_their_own():
    routes = policy("routes", 10)
    assert "routes" in [score.starts for score in score_starts([*POLICIES, routes])]
