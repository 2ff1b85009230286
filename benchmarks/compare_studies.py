"""Compare the transition times of two studies of the same poses, made by two engines.

kaccess sample bittle runs/one && kaccess access runs/one --engine mujoco
kaccess sample bittle runs/two && kaccess access runs/two --engine warp
python benchmarks/compare_studies.py runs/one runs/two
"""

import sys

import numpy as np
from kaccess.stored import load_poses

from kaccess import AccessConfig, InputError, Study, load_robot, make_engine
from kaccess.access import Transitions, estimate_pairs
from kaccess.access.agreement import agreement, nudged, transfers
from kaccess.base.types import BoolArray, IntArray

N_NUDGES = 16


def share_of_touchy(study: Study, source: IntArray, goal: IntArray) -> float:
    """Return the share of pairs that MuJoCo decides otherwise once nudged."""
    poses, rng = load_poses(study), np.random.default_rng(0)
    engine = make_engine("mujoco", poses.robot)
    reached = np.isfinite(study.times[source, goal])
    turned: BoolArray = np.zeros(len(source), bool)
    for _ in range(N_NUDGES):
        run = estimate_pairs(
            nudged(poses, rng), source, goal, AccessConfig(), engine=engine
        )
        turned |= np.isfinite(run.times) != reached
    return float(turned.mean())


def main(one: str, two: str) -> None:
    studies = [Study(one), Study(two)]
    first, second = (Transitions(study.times, study.outcomes) for study in studies)
    if (studies[0].pose_array("qpos") != studies[1].pose_array("qpos")).any():
        raise InputError(f"{one} and {two} are not studies of the same poses.")
    names = [study.settings["access"]["engine"] for study in studies]
    timestep = load_robot(studies[0].settings["robot"]).timestep
    nothing = np.zeros(first.times.shape, bool)
    found = agreement(first, second, timestep=timestep, touchy=nothing)
    print(f"{found.n_pairs:,} pairs, {names[0]} against {names[1]}")
    print(f"agree on reached or not: {found.same / found.n_pairs:.3%}")
    print(f"only {names[0]}: {found.only_first}, only {names[1]}: {found.only_second}")
    print(f"same time to the step: {found.same_time / found.both:.1%} of both reached")
    print("later by [s] (5, 25, 50, 75, 95 %):", np.round(found.later, 4).tolist())
    table = np.zeros((5, 5), int)
    np.add.at(table, (first.outcomes.ravel(), second.outcomes.ravel()), 1)
    print(f"outcomes, rows {names[0]}: pending, reached, elsewhere, restless, diverged")
    print(table)
    differing = np.nonzero(np.isfinite(first.times) != np.isfinite(second.times))
    others = np.random.default_rng(0).integers(
        len(first.times), size=(2, len(differing[0]))
    )
    print(
        f"turned by one of {N_NUDGES} nudges of 1e-6 rad: "
        f"{share_of_touchy(studies[0], *differing):.1%} of the pairs that differ, "
        f"{share_of_touchy(studies[0], *others):.1%} of as many others"
    )
    for who, moved in transfers({"1st": first, "2nd": second}).items():
        print(
            f"centroids of {who}: k {moved.k}, index {moved.index:.2f} -> "
            f"{moved.other_index:.2f}, coverage {moved.coverage:.1%} -> "
            f"{moved.other_coverage:.1%}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
