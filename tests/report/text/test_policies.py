"""Scores of policies as text, from hand-made evaluations."""

from kaccess.base.stats import wilson
from kaccess.evaluation import Evaluation, Summary
from kaccess.report.text.policies import format_evaluations


def make_evaluation(name, hits, n=500):
    share = wilson(hits, n)
    summary = Summary(
        n=n,
        reward=80.0,
        reward_sd=1.5,
        success=share,
        success_loose=share,
        time=0.8,
        energy=2.0,
        roughness=0.1,
    )
    return Evaluation(name, summary, {})


def test_one_failed_seed_of_five_widens_the_interval():
    hits = [499, 0, 500, 498, 498]
    found = [make_evaluation(f"rnd/seed-{seed}", n) for seed, n in enumerate(hits)]
    text = format_evaluations([*found, make_evaluation("routes", 495)])
    head, rnd, routes = text.splitlines()[:3]
    assert "best seed  worst seed" in head
    assert rnd.split()[:2] == ["rnd", "5"]
    assert "79.8% (3" in rnd or "79.8% (4" in rnd  # about 40 %
    assert "100.0%        0.0%" in rnd
    assert wilson(495, 500).text(".1%") in routes
    assert "with few seeds they are too narrow" in text
