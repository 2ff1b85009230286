"""Compare the transition times of two studies of the same poses on two engines.

kaccess sample bittle runs/one && kaccess access runs/one --engine mujoco
kaccess sample bittle runs/two && kaccess access runs/two --engine warp
python benchmarks/compare_studies.py runs/one runs/two
"""

import sys

import numpy as np

from kaccess import InputError, Study, make_engine
from kaccess.access import Transitions, estimate_pairs
from kaccess.access.agreement import (
    Agreement,
    judge_transfers,
    measure_agreement,
    nudge_poses,
)
from kaccess.base.types import BoolArray, IntArray

N_NUDGES = 16


def measure_sensitive(study: Study, source: IntArray, goal: IntArray) -> float:
    """Return the share of pairs whose result on MuJoCo changes with nudged poses."""
    rng = np.random.default_rng(0)
    engine = make_engine("mujoco", study.robot, study.still)
    reached = np.isfinite(study.times[source, goal])
    changed: BoolArray = np.zeros(len(source), bool)
    for _ in range(N_NUDGES):
        poses = nudge_poses(study.poses, rng)
        run = estimate_pairs(poses, source, goal, study.access_config, engine=engine)
        changed |= np.isfinite(run.times) != reached
    return float(changed.mean())


def print_agreement(found: Agreement, names: list[str]) -> None:
    print(f"{found.n_pairs:,} pairs, {names[0]} and {names[1]}")
    print(f"agree on reached or not: {found.same / found.n_pairs:.3%}")
    print(f"only {names[0]}: {found.only_first}, only {names[1]}: {found.only_second}")
    print(f"same time to the step: {found.same_time / found.both:.1%} of both reached")
    print("later by [s] (5, 25, 50, 75, 95 %):", np.round(found.later, 4).tolist())


def print_outcomes(first: Transitions, second: Transitions, names: list[str]) -> None:
    table = np.zeros((5, 5), int)
    np.add.at(table, (first.outcomes.ravel(), second.outcomes.ravel()), 1)
    print(f"outcomes, rows {names[0]}: pending, reached, elsewhere, restless, diverged")
    print(table)


def print_sensitive(study: Study, first: Transitions, second: Transitions) -> None:
    differing = np.nonzero(np.isfinite(first.times) != np.isfinite(second.times))
    others = np.random.default_rng(0).integers(
        len(first.times), size=(2, len(differing[0]))
    )
    print(
        f"changed by one of {N_NUDGES} nudges of 1e-6 rad: "
        f"{measure_sensitive(study, *differing):.1%} of the pairs that differ, "
        f"{measure_sensitive(study, *others):.1%} of as many others"
    )


def main(one: str, two: str) -> None:
    studies = [Study(one), Study(two)]
    first, second = (
        Transitions(study.finished_times, study.outcomes) for study in studies
    )
    if not np.array_equal(studies[0].poses.qpos, studies[1].poses.qpos):
        raise InputError(f"{one} and {two} are not studies of the same poses.")
    names = [study.settings["access"]["engine"] for study in studies]
    nothing = np.zeros(first.times.shape, bool)
    timestep = studies[0].robot.timestep
    found = measure_agreement(first, second, timestep=timestep, sensitive=nothing)
    print_agreement(found, names)
    print_outcomes(first, second, names)
    print_sensitive(studies[0], first, second)
    for which, moved in judge_transfers({"1st": first, "2nd": second}).items():
        print(
            f"centroids of {which}: k {moved.k}, index {moved.index:.2f} -> "
            f"{moved.other_index:.2f}, coverage {moved.coverage:.1%} -> "
            f"{moved.other_coverage:.1%}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
