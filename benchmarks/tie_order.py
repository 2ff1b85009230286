"""How much the rule for ties changes the result of Algorithm 1, on a study's matrix.

    python benchmarks/tie_order.py --study runs/bittle

Poses that several centroids reach equally well go to the first one in the list of
centroids, as in the authors' later code, or to the one with the lowest pose index.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro

from kaccess import Study
from kaccess.base.types import Array, IntArray
from kaccess.cluster import Quality, assess
from kaccess.cluster.alternate import alternate, assign, spread_seeds


@dataclass(frozen=True)
class Config:
    """Study, and numbers of clusters and runs."""

    study: Path
    """Study whose matrix is used."""
    max_clusters: int = 120
    """Largest number of clusters; the smallest is 2."""
    n_init: int = 30
    """Runs for each number of clusters, each from another first centroid."""
    seed: int = 0
    """Seed of the first centroids."""


def run(access: Array, seeds: IntArray, *, sort: bool) -> tuple[IntArray, Quality]:
    """Return the centroid of each pose after Algorithm 1, (n,), and the quality."""
    centroids = alternate(access, seeds, sort=sort).centroids
    labels, _ = assign(access, centroids)
    return centroids[labels], assess(access, centroids, labels)


def describe(name: str, runs: list[Quality], n_init: int) -> str:
    """Return a line on the best run, and on the mean of the first run of each k."""
    best = max(runs, key=lambda quality: quality.index)
    single = runs[::n_init]
    chosen = max(single, key=lambda quality: quality.index)
    return (
        f"{name}: best of {n_init} runs: k = {len(best.sizes)}, "
        f"index {best.index:.2f}, "
        f"coverage {best.coverage:.1%}, {len(best.uncovered)} poses not covered; one "
        f"run: k = {len(chosen.sizes)}, index {chosen.index:.2f}, "
        f"coverage {chosen.coverage:.1%}; mean index of all runs "
        f"{np.mean([quality.index for quality in runs]):.2f}"
    )


def main(config: Config) -> None:
    """Run Algorithm 1 with both rules for all numbers of clusters."""
    access = Study(config.study).access.astype(np.float64)
    rng = np.random.default_rng(config.seed)
    firsts = rng.permutation(len(access))[: config.n_init]
    most = min(config.max_clusters, len(access))
    seeds = [spread_seeds(access, first, most) for first in firsts]
    by_list, by_pose, n_same_centroids, n_same = [], [], 0, 0
    for k in range(2, most + 1):
        for each in seeds:
            homes, quality = run(access, each[:k], sort=False)
            others, other = run(access, each[:k], sort=True)
            n_same_centroids += set(homes) == set(others)
            n_same += np.array_equal(homes, others)
            by_list.append(quality)
            by_pose.append(other)
    n_runs = len(by_list)
    print(f"{len(access)} poses, k from 2 to {most}, {n_runs} runs")
    print(f"same centroids: {n_same_centroids / n_runs:.1%} of the runs")
    print(f"same clusters: {n_same / n_runs:.1%} of the runs")
    print(describe("first in the list", by_list, len(firsts)))
    print(describe("lowest pose index", by_pose, len(firsts)))


if __name__ == "__main__":
    main(tyro.cli(Config))
