"""Time K-Access and FasterPAM, and compare the clusters of several methods.

    pip install kmedoids 'kaccess[graph]'
    python benchmarks/bench_cluster.py --parts speed large select quality rivals

Without `--study` the matrix is synthetic: poses in groups, some of them hard to reach,
with 26 % of the pairs reached. kmedoids (GPL) is used for comparison only, not by the
parts `select`, `growth` and `direction`. FasterPAM gets the distances D = 1 - A.T, so
that its medoids reach their members.
"""

import json
import resource
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import tyro
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from kaccess import Study, accessibility
from kaccess.base.machine import describe_machine
from kaccess.base.types import Array, IntArray
from kaccess.cluster import (
    FLOOR,
    Clustering,
    DirectedSpectral,
    Infomap,
    KAccess,
    Labelling,
    Louvain,
    accessibility_index,
    compare,
    format_comparison,
    select_k,
)
from kaccess.cluster.prepared import Prepared

Part = Literal["speed", "large", "select", "growth", "quality", "rivals", "direction"]


@dataclass(frozen=True)
class Config:
    """Parts of the benchmark, and the matrix they use."""

    parts: tuple[Part, ...] = ("speed", "select")
    """Parts to run."""
    study: Path | None = None
    """Study whose matrix is used."""
    n: int = 1000
    """Number of poses of a synthetic matrix."""
    max_clusters: int = 120
    """Largest number of clusters; the smallest is 2."""
    step: int = 1
    """Step between the numbers of clusters in `quality`."""
    repeats: int = 5
    """Number of runs; the fastest is reported."""
    seed: int = 0
    """Seed of the matrix and of the fits."""
    out: Path | None = None
    """JSON file to write the result of `growth` to."""


def make_access(n: int, seed: int, *, n_groups: int = 40) -> Array:
    """Return a directed matrix, (n, n) float32, computed row by row.

    Its constants make swaps take about as long as on matrices of a quadruped: 26 % of
    the pairs are reached, in 0.6 to 1.9 s.
    """
    rng = np.random.default_rng([seed, n])
    group = rng.choice(n_groups, n, p=rng.dirichlet(np.full(n_groups, 0.7)))
    place = rng.normal(size=(n_groups, 3))[group] + 0.45 * rng.normal(size=(n, 3))
    climb = 0.8 * (rng.normal(size=n_groups)[group] + 0.4 * rng.normal(size=n))
    access = np.empty((n, n), dtype=np.float32)
    sample = place[rng.integers(n, size=100), None]
    limit = np.quantile(np.linalg.norm(sample - place, axis=2) + climb, 0.26)
    for i in range(n):
        distance = np.linalg.norm(place - place[i], axis=1)
        effort = distance + climb + 0.5 * rng.normal(size=n)
        access[i] = np.exp(-0.3 - 0.35 * distance - 0.3 * rng.exponential(size=n))
        access[i, effort > limit] = FLOOR
        access[i, i] = 1.0
    return access


def load_access(config: Config) -> Array:
    """Return the matrix of the study, or a synthetic one."""
    if config.study is None:
        return make_access(config.n, config.seed)
    return accessibility(Study(config.study).times)


def time_fastest(function: Callable[[], object], repeats: int) -> float:
    """Return the shortest time of several calls [s], after one call to warm up."""
    function()
    spans = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        spans.append(time.perf_counter() - start)
    return min(spans)


def run_fasterpam(distances: Array, k: int, seed: int) -> IntArray:
    """Return the medoids that FasterPAM finds, (k,)."""
    import kmedoids

    return np.asarray(kmedoids.fasterpam(distances, k, random_state=seed).medoids, int)


def convert_to_distances(access: Array) -> Array:
    """Return distances for FasterPAM, (n, n)."""
    return np.ascontiguousarray(1.0 - access.T)


def report_speed(access: Array, k: int, config: Config) -> None:
    """Time Algorithm 1 and FasterPAM."""
    distances = convert_to_distances(access)
    model = KAccess(k, solver="alternate", n_init=1, first=0)
    ours = time_fastest(lambda: model.fit(access), config.repeats)
    pam = time_fastest(lambda: run_fasterpam(distances, k, 0), config.repeats)
    print(
        f"n = {len(access)}, k = {k}: alternate {ours * 1e3:.2f} ms, FasterPAM "
        f"{pam * 1e3:.1f} ms, {pam / ours:.1f} times faster"
    )


def report_large(config: Config) -> None:
    """Report peak memory and speed for 10,000 poses."""
    access = make_access(10_000, config.seed)
    KAccess(100, solver="alternate", n_init=1, first=0).fit(access)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"n = 10000: peak memory {peak / access.nbytes:.2f} copies of the matrix")
    report_speed(access, 100, config)


def report_select(access: Array, config: Config) -> None:
    """Time the choice of k with both solvers."""
    ks = range(2, config.max_clusters + 1)
    for name, model in (
        ("alternate, 10 starts", KAccess(solver="alternate", n_init=10)),
        ("swap, the default", KAccess()),
    ):
        select_k(access, [2], estimator=model, random_state=0)  # compile
        start = time.perf_counter()
        best = select_k(access, ks, estimator=model, random_state=config.seed)
        print(
            f"select_k, {name}: {time.perf_counter() - start:.1f} s, k = {best.k}, "
            f"index {best.model.index_:.3f}, coverage {best.model.coverage_:.1%}"
        )


def report_growth(config: Config) -> None:
    """Report how the CPU time of the choice of k grows with the number of poses."""
    KAccess(3, n_init=2).fit(make_access(60, config.seed))  # compile
    sizes, ks, totals = (500, 1000, 2000, 4000), [5, *range(15, 121, 15)], []
    for n in sizes:
        access = make_access(n, config.seed)
        shared, spans = time_fits(access, ks, config.seed)
        totals.append(shared + float(np.trapezoid([spans[0], *spans], [2, *ks])))
        print(f"n = {n}: {totals[-1]:.1f} s of CPU time for k = 2 to {ks[-1]}")
    slopes = np.diff(np.log(totals)) / np.diff(np.log(sizes))
    whole = float(np.polyfit(np.log(sizes), np.log(totals), 1)[0])
    print(f"n^{whole:.2f} in all; step by step n^{np.round(slopes, 2).tolist()}")
    if config.out:
        record = {
            "machine": describe_machine(),
            "n": sizes,
            "cpu_s": totals,
            "exponents": slopes.tolist(),
            "exponent": whole,
        }
        config.out.write_text(json.dumps(record, indent=2) + "\n")


def time_fits(access: Array, ks: list[int], seed: int) -> tuple[float, list[float]]:
    """Return the CPU time of what all fits share, and of each fit [s]."""
    began = time.process_time()
    prepared = Prepared(access, ks[-1])
    assert len(prepared.ranked.order) == len(access)  # it is made on first use
    shared, spans = time.process_time() - began, []
    for k in ks:
        began = time.process_time()
        KAccess(k, random_state=seed).fit_prepared(prepared)
        spans.append(time.process_time() - began)
    return shared, spans


def report_quality(access: Array, config: Config) -> None:
    """Compare swaps with Algorithm 1 (30 restarts) and FasterPAM (5), for each k."""
    distances = convert_to_distances(access)
    print("  k  index: swap  alternate  FasterPAM   access: swap  FasterPAM")
    rows = []
    for k in range(2, config.max_clusters + 1, config.step):
        medoids = [run_fasterpam(distances, k, seed) for seed in range(5)]
        plain = KAccess(k, solver="alternate", n_init=30, random_state=config.seed)
        by_index = KAccess(k, random_state=config.seed)
        by_access = KAccess(k, objective="access", random_state=config.seed)
        row = (
            by_index.fit(access).index_,
            plain.fit(access).index_,
            max(accessibility_index(access, found) for found in medoids),
            compute_mean_access(access, by_access.fit(access).centroid_indices_),
            max(compute_mean_access(access, found) for found in medoids),
        )
        rows.append(row)
        print("{:3d}  {:11.3f}  {:9.3f}  {:9.3f}  {:13.5f}  {:9.5f}".format(k, *row))
    swap, plains, pam, ours, theirs = np.array(rows).T
    print(
        f"best index: swap {swap.max():.3f}, Algorithm 1 {plains.max():.3f}, "
        f"FasterPAM {pam.max():.3f}; swap is lower at "
        f"{(swap < np.maximum(plains, pam)).sum()} "
        f"of {len(rows)} k. Mean access is lower than FasterPAM's at "
        f"{(ours < theirs - 1e-9).sum()} k, by at most {(theirs - ours).max():.5f}."
    )


def compute_mean_access(access: Array, centroids: IntArray) -> float:
    """Return the mean access from the best centroid."""
    return float(access[centroids].max(axis=0).mean(dtype=np.float64))


def report_direction(access: Array) -> None:
    """Report how similar the clusters are when every move is reversed."""
    reverse = np.ascontiguousarray(access.T)
    for method in (
        KAccess(43, solver="alternate", random_state=0),
        Louvain(),
        Infomap(),
        DirectedSpectral(random_state=0),
    ):
        forward = clone(method).fit(access).labels_
        backward = clone(method).fit(reverse).labels_
        agreement = adjusted_rand_score(forward, backward)
        print(f"{type(method).__name__}: agreement with the transpose {agreement:.3f}")


def report_rivals(access: Array, config: Config) -> None:
    """Compare K-Access with other clustering methods."""
    ks = range(2, config.max_clusters + 1)
    plain = KAccess(solver="alternate", n_init=30)
    by_index = select_k(access, ks, random_state=config.seed).model
    k = by_index.n_clusters
    medoids = np.sort(run_fasterpam(convert_to_distances(access), k, config.seed))
    labels = access[medoids].argmax(axis=0)
    labels[medoids] = np.arange(k)
    by_access = KAccess(k, objective="access", random_state=0)
    same_k = KAccess(k, solver="alternate", random_state=0)
    own_k = select_k(access, ks, estimator=plain, random_state=config.seed).model
    clusterings: dict[str, Clustering] = {
        "K-Access, swap on the index": by_index,
        "K-Access, swap on access": by_access.fit(access),
        "K-Access, Algorithm 1, same k": same_k.fit(access),
        "K-Access, Algorithm 1, own k": own_k,
        "FasterPAM, same k": Labelling(labels, medoids),
        "Louvain": Louvain().fit(access),
        "Infomap": Infomap().fit(access),
        "directed spectral": DirectedSpectral(random_state=0).fit(access),
        "directed spectral, same k": DirectedSpectral(k, random_state=0).fit(access),
    }
    print(format_comparison(compare(access, clusterings)))


def main(config: Config) -> None:
    """Run the parts that were asked for."""
    if "large" in config.parts:  # first: peak memory counts everything run before
        report_large(config)
    access = load_access(config)
    print(f"{len(access)} poses, {(access > FLOOR).mean():.1%} of the pairs reached")
    if "speed" in config.parts:
        report_speed(access, min(43, len(access)), config)
    if "select" in config.parts:
        report_select(access, config)
    if "growth" in config.parts:
        report_growth(config)
    if "quality" in config.parts:
        report_quality(access, config)
    if "rivals" in config.parts:
        report_rivals(access, config)
    if "direction" in config.parts:
        report_direction(access)


if __name__ == "__main__":
    main(tyro.cli(Config))
